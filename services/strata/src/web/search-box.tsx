import { useEffect, useRef } from "preact/hooks";
import type { Search } from "./api.js";
import { goTo, searchAddress } from "./route.js";

/** The search field in the head of every view: each keystroke is a search, and the address says which. */
export function SearchBox({ search }: { search: Search }) {
  const input = useRef<HTMLInputElement>(null);
  useFocusKey(input);
  // The address is the truth, except while the visitor types.
  useEffect(() => {
    if (input.current !== null && document.activeElement !== input.current) {
      input.current.value = search.q;
    }
  }, [search.q]);
  const type = (q: string) => {
    const isFirst = location.pathname !== "/search";
    // One entry in the history for a search, not one for each letter.
    goTo(searchAddress({ ...search, q }), isFirst && q !== "" ? "push" : "replace");
  };
  return (
    <search>
      <form
        class="search"
        action="/search"
        onSubmit={(event) => {
          event.preventDefault();
          type(input.current!.value.trim());
          firstResult()?.focus();
        }}
      >
        <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
          <circle cx="10.500" cy="10.500" r="6.500" fill="none" stroke="currentColor" stroke-width="2" />
          <path d="m15.500 15.500 5 5" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
        </svg>
        <input
          ref={input}
          type="search"
          name="q"
          value={search.q}
          maxLength={256}
          placeholder="Search packages"
          aria-label="Search packages"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          onInput={(event) => type(event.currentTarget.value.trim())}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") {
              event.preventDefault();
              firstResult()?.focus();
            }
          }}
        />
        <kbd title="Press / to search">/</kbd>
      </form>
    </search>
  );
}

function firstResult(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-step]");
}

/** `/` goes to the field from anywhere; Escape leaves it. */
function useFocusKey(input: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as Element).tagName);
      if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.current?.focus();
        input.current?.select();
      } else if (event.key === "Escape" && event.target === input.current) {
        input.current?.blur();
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [input]);
}
