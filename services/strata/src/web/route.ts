import { useEffect, useState } from "preact/hooks";
import type { Search } from "./api.js";

/** Every state of the page has an address: `/`, `/search?q=…`, `/package/ATTR?version=…`. */
export type Route =
  | { view: "home" }
  | { view: "search"; search: Search }
  | { view: "package"; attributePath: string; version: string | null };

export const NO_SEARCH: Search = {
  q: "",
  inDescriptions: false,
  version: "",
  license: "",
  exact: false,
  sort: "relevance",
  reverse: false,
};

const SORTS = ["relevance", "date", "version", "name"] as const;

export function parseRoute(url: URL): Route {
  const query = url.searchParams;
  if (url.pathname.startsWith("/package/")) {
    const attributePath = decode(url.pathname.slice("/package/".length));
    return { view: "package", attributePath, version: query.get("version") };
  }
  const q = query.get("q") ?? "";
  if (q === "") {
    return { view: "home" };
  }
  const search: Search = {
    q,
    inDescriptions: query.get("in") === "descriptions",
    version: query.get("version") ?? "",
    license: query.get("license") ?? "",
    exact: query.get("exact") === "true",
    sort: SORTS.find((sort) => sort === query.get("sort")) ?? "relevance",
    reverse: query.get("reverse") === "true",
  };
  return { view: "search", search };
}

export function searchAddress(search: Search): string {
  if (search.q === "") {
    return "/";
  }
  const query = new URLSearchParams({ q: search.q });
  if (search.inDescriptions) {
    query.set("in", "descriptions");
  }
  for (const key of ["version", "license"] as const) {
    if (search[key] !== "") {
      query.set(key, search[key]);
    }
  }
  for (const key of ["exact", "reverse"] as const) {
    if (search[key]) {
      query.set(key, "true");
    }
  }
  if (search.sort !== "relevance") {
    query.set("sort", search.sort);
  }
  return `/search?${query}`;
}

export function packageAddress(attributePath: string, version: string | null = null): string {
  const query = version === null ? "" : `?${new URLSearchParams({ version })}`;
  return `/package/${encodeURIComponent(attributePath)}${query}`;
}

const CHANGED = "strata-route";

/** Goes to an address without loading the page again. */
export function goTo(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") {
    history.pushState(null, "", address);
  } else {
    history.replaceState(null, "", address);
  }
  window.dispatchEvent(new Event(CHANGED));
}

/** Follows a link inside the page; leaves new tabs, other buttons and other sites to the browser. */
export function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest?.("a");
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.origin !== location.origin || link.target !== "" || !isOurs(link.pathname)) {
    return;
  }
  event.preventDefault();
  goTo(link.pathname + link.search);
  window.scrollTo(0, 0);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(new URL(location.href)));
  useEffect(() => {
    const update = () => setRoute(parseRoute(new URL(location.href)));
    window.addEventListener(CHANGED, update);
    window.addEventListener("popstate", update);
    return () => {
      window.removeEventListener(CHANGED, update);
      window.removeEventListener("popstate", update);
    };
  }, []);
  return route;
}

function isOurs(path: string): boolean {
  return path === "/" || path === "/search" || path.startsWith("/package/");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
