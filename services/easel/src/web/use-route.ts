import { useEffect, useState } from "preact/hooks";

export const views = ["create", "queue", "gallery", "models"] as const;
export type View = (typeof views)[number];

export interface Route {
  readonly view: View;
  /** what follows the view: the picture's name in `#gallery/NAME` */
  readonly detail: string | undefined;
}

function currentRoute(): Route {
  const [view, detail] = location.hash.slice(1).split("/", 2);
  return {
    view: views.find((name) => name === view) ?? "create",
    detail: detail ? decodeURIComponent(detail) : undefined,
  };
}

export function go(view: View, detail?: string): void {
  location.hash = detail === undefined ? view : `${view}/${encodeURIComponent(detail)}`;
}

/** The address is the state: every view, and every opened picture, has a link and works with the back button. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = (): void => setRoute(currentRoute());
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
}
