/** Light or dark: what the system says, unless the visitor chose. The choice is kept in this browser. */
export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "strata-theme";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function storedTheme(): Theme {
  const stored = readStorage();
  return ORDER.find((theme) => theme === stored) ?? "system";
}

export function applyStoredTheme(): void {
  apply(storedTheme());
}

/** Goes on to the next choice and gives it. */
export function switchTheme(current: Theme): Theme {
  const next = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length]!;
  try {
    localStorage.setItem(STORAGE_KEY, next);
  } catch {
    // A browser that keeps nothing still shows the choice for this visit.
  }
  apply(next);
  return next;
}

function apply(theme: Theme): void {
  if (theme === "system") {
    delete document.documentElement.dataset["theme"];
  } else {
    document.documentElement.dataset["theme"] = theme;
  }
}

function readStorage(): string | null {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}
