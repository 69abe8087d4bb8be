import { useEffect, useRef } from "preact/hooks";

/** Shown in the help dialog; the keys themselves are bound where their actions live. */
export const shortcutRows: readonly (readonly [string, string])[] = [
  ["Ctrl Enter", "draw"],
  ["Esc", "cancel the drawing, close a dialog or picture"],
  ["/", "to the prompt"],
  ["e", "expand the prompt"],
  ["1 2 3 4", "create, queue, gallery, models"],
  ["← →", "previous and next picture in the gallery"],
  ["t", "light, dark, as the system"],
  ["?", "this list"],
];

/** Keys by name; letters only count while nothing is being typed. */
export function useShortcuts(actions: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const name = event.ctrlKey || event.metaKey ? `Ctrl ${event.key}` : event.key;
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select") !== null;
      if (typing && name !== "Escape" && name !== "Ctrl Enter") return;
      const action = latest.current[name];
      if (!action || event.altKey) return;
      action(event);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
