import { createContext, useContext, useEffect, useLayoutEffect, useRef, useState } from "react";
import { actionFor, type InkKey, keyName, type ViewName } from "./key-map.js";
import { editText, type FieldText } from "./text-field.js";

interface Options {
  readonly scope: ViewName;
  readonly actions: Readonly<Record<string, () => void>>;
  /** the text while it is typed */
  readonly onEdit?: (text: string) => void;
  readonly onSubmit?: (text: string) => void;
  /** begin with a field open, holding this text */
  readonly startInEditing?: string | undefined;
  readonly active?: boolean;
}

export type KeyListener = (input: string, key: InkKey) => void;

interface Keyboard {
  /** whoever is on the screen; the app, which alone reads the terminal, passes each key on to them first */
  readonly listeners: Set<KeyListener>;
  /** whether somebody is typing, known at once for the very next key: the keys of the whole UI (q, 1, ?) are letters then */
  readonly typingNow: { current: boolean };
  /** shows it */
  readonly setTyping: (typing: boolean) => void;
}

export const KeyboardContext = createContext<Keyboard>({
  listeners: new Set(),
  typingNow: { current: false },
  setTyping: () => {},
});

/**
 * Listens from the moment the screen shows it. (Ink's own hook begins a moment later: a key pressed in between would
 * be lost.)
 */
export function useKeyListener(listener: KeyListener, active = true): void {
  const { listeners } = useContext(KeyboardContext);
  const latest = useRef(listener);
  latest.current = listener;
  useLayoutEffect(() => {
    if (!active) return;
    const own: KeyListener = (input, key) => latest.current(input, key);
    listeners.add(own);
    return () => {
      listeners.delete(own);
    };
  }, [listeners, active]);
}

const fieldOf = (text: string): FieldText => ({ text, cursor: [...text].length });

/** A view's keys by the key map, and one line of text that may be under edit. */
export function useKeys(options: Options): {
  readonly editing: FieldText | undefined;
  readonly startEditing: (text: string) => void;
} {
  // A reference beside the state: several keys may come at once, each must see what the one before it did.
  const field = useRef<FieldText | undefined>(
    options.startInEditing === undefined ? undefined : fieldOf(options.startInEditing),
  );
  const [editing, showEditing] = useState(field.current);
  const { typingNow, setTyping } = useContext(KeyboardContext);
  const setField = (after: FieldText | undefined): void => {
    field.current = after;
    typingNow.current = after !== undefined;
    showEditing(after);
  };
  useLayoutEffect(() => {
    typingNow.current = field.current !== undefined;
    return () => {
      typingNow.current = false;
    };
  }, [typingNow]);
  const isEditing = editing !== undefined;
  useEffect(() => {
    setTyping(isEditing);
    return () => setTyping(false);
  }, [setTyping, isEditing]);

  const edit = (name: string, input: string, current: FieldText): void => {
    const action = actionFor(name, "editing");
    if (action) {
      setField(undefined);
      if (action === "submit") options.onSubmit?.(current.text);
      return;
    }
    const after = editText(current, name, input);
    if (!after) return;
    setField(after);
    options.onEdit?.(after.text);
  };
  useKeyListener((input, key) => {
    const name = keyName(input, key);
    if (field.current) return edit(name, input, field.current);
    const action = actionFor(name, options.scope);
    if (action) options.actions[action]?.();
  }, options.active);
  return { editing, startEditing: (text) => setField(fieldOf(text)) };
}
