/** Every key of the terminal UI, once: the footer, the help view, the docs and the handlers read this table. */
export const viewNames = ["generate", "queue", "gallery", "models", "settings", "help"] as const;
export type ViewName = (typeof viewNames)[number];
export type Scope = "everywhere" | "editing" | ViewName;

export interface KeyBinding {
  readonly action: string;
  /** as `keyName` spells them */
  readonly keys: readonly string[];
  readonly scope: Scope;
  readonly doc: string;
  /** short word for the footer; without one the key is only in the help */
  readonly footer?: string;
}

export const keyMap = [
  { action: "next-view", keys: ["tab"], scope: "everywhere", doc: "next view", footer: "view" },
  { action: "previous-view", keys: ["shift+tab"], scope: "everywhere", doc: "previous view" },
  {
    action: "go-to-view",
    keys: ["1", "2", "3", "4", "5", "6"],
    scope: "everywhere",
    doc: "go to a view by its number",
  },
  { action: "help", keys: ["?"], scope: "everywhere", doc: "this help", footer: "help" },
  { action: "quit", keys: ["q", "ctrl+c"], scope: "everywhere", doc: "leave", footer: "quit" },

  { action: "stop-editing", keys: ["escape"], scope: "editing", doc: "stop typing", footer: "stop typing" },
  {
    action: "submit",
    keys: ["return"],
    scope: "editing",
    doc: "take what was typed; in the prompt: draw",
    footer: "take",
  },

  { action: "up", keys: ["up", "k"], scope: "generate", doc: "field above" },
  { action: "down", keys: ["down", "j"], scope: "generate", doc: "field below", footer: "field" },
  { action: "less", keys: ["left", "h"], scope: "generate", doc: "smaller value, previous choice" },
  { action: "more", keys: ["right", "l"], scope: "generate", doc: "larger value, next choice", footer: "change" },
  { action: "edit", keys: ["return", "i"], scope: "generate", doc: "type into the field", footer: "type" },
  { action: "draw", keys: ["d"], scope: "generate", doc: "draw", footer: "draw" },
  {
    action: "expand",
    keys: ["e"],
    scope: "generate",
    doc: "let a language model add detail to the prompt",
    footer: "expand",
  },
  { action: "cancel", keys: ["c", "escape"], scope: "generate", doc: "cancel the drawing", footer: "cancel" },
  { action: "reset", keys: ["r"], scope: "generate", doc: "back to the model's defaults" },

  { action: "up", keys: ["up", "k"], scope: "queue", doc: "job above" },
  { action: "down", keys: ["down", "j"], scope: "queue", doc: "job below", footer: "job" },
  { action: "cancel", keys: ["c", "x"], scope: "queue", doc: "cancel the job", footer: "cancel" },

  { action: "left", keys: ["left", "h"], scope: "gallery", doc: "newer picture" },
  { action: "right", keys: ["right", "l"], scope: "gallery", doc: "older picture", footer: "picture" },
  { action: "up", keys: ["up", "k"], scope: "gallery", doc: "row above" },
  { action: "down", keys: ["down", "j"], scope: "gallery", doc: "row below" },
  { action: "open", keys: ["return"], scope: "gallery", doc: "large picture and how it was made", footer: "open" },
  { action: "close", keys: ["escape"], scope: "gallery", doc: "back to the thumbnails, or clear the filter" },
  { action: "use", keys: ["u"], scope: "gallery", doc: "use these settings", footer: "use" },
  {
    action: "delete",
    keys: ["x", "delete"],
    scope: "gallery",
    doc: "delete the picture (asks first)",
    footer: "delete",
  },
  { action: "filter", keys: ["/"], scope: "gallery", doc: "only pictures whose prompt contains ...", footer: "filter" },

  { action: "up", keys: ["up", "k"], scope: "models", doc: "model above" },
  { action: "down", keys: ["down", "j"], scope: "models", doc: "model below", footer: "model" },
  { action: "use", keys: ["return", "u"], scope: "models", doc: "use it for the next picture", footer: "use" },
  { action: "pull", keys: ["p"], scope: "models", doc: "download it", footer: "pull" },
  { action: "stop-pull", keys: ["s"], scope: "models", doc: "stop the download (it goes on where it stopped)" },
  { action: "load", keys: ["o"], scope: "models", doc: "load it into memory", footer: "load" },
  { action: "unload", keys: ["n"], scope: "models", doc: "free the memory of what is loaded", footer: "unload" },
  { action: "remove", keys: ["x", "delete"], scope: "models", doc: "delete its files (asks first)", footer: "remove" },
  { action: "filter", keys: ["/"], scope: "models", doc: "only models whose name contains ...", footer: "filter" },
  { action: "close", keys: ["escape"], scope: "models", doc: "clear the filter" },
] as const satisfies readonly KeyBinding[];

export interface InkKey {
  readonly upArrow: boolean;
  readonly downArrow: boolean;
  readonly leftArrow: boolean;
  readonly rightArrow: boolean;
  readonly return: boolean;
  readonly escape: boolean;
  readonly tab: boolean;
  readonly backspace: boolean;
  readonly delete: boolean;
  readonly ctrl: boolean;
  readonly shift: boolean;
}

/** One spelling for what the terminal sent. */
export function keyName(input: string, key: InkKey): string {
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return "left";
  if (key.rightArrow) return "right";
  if (key.return) return "return";
  if (key.escape) return "escape";
  if (key.tab) return key.shift ? "shift+tab" : "tab";
  if (key.backspace) return "backspace";
  if (key.delete) return "delete";
  return key.ctrl ? `ctrl+${input}` : input;
}

const NO_KEY: InkKey = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  return: false,
  escape: false,
  tab: false,
  backspace: false,
  delete: false,
  ctrl: false,
  shift: false,
};

/** One character out of several that came at once, as a key. */
export function plainKey(character: string): [input: string, key: InkKey] {
  if (character === "\r" || character === "\n") return ["", { ...NO_KEY, return: true }];
  if (character === "\t") return ["", { ...NO_KEY, tab: true }];
  return [character, NO_KEY];
}

/** What a key means in a scope; undefined when nothing. */
export function actionFor(name: string, scope: Scope): string | undefined {
  return keyMap.find((binding: KeyBinding) => binding.scope === scope && binding.keys.includes(name))?.action;
}

const SHOWN: Readonly<Record<string, string>> = {
  up: "↑",
  down: "↓",
  left: "←",
  right: "→",
  return: "Enter",
  escape: "Esc",
  tab: "Tab",
  "shift+tab": "Shift-Tab",
  delete: "Del",
};

export const shownKeys = (binding: KeyBinding): string => binding.keys.map((key) => SHOWN[key] ?? key).join(" ");
