export type Theme = "auto" | "light" | "dark";
const KEY = "easel.theme";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "auto";
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export const nextTheme = (theme: Theme): Theme => (theme === "auto" ? "light" : theme === "light" ? "dark" : "auto");
