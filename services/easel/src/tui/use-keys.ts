import { useInput } from "ink";
import { createContext, useContext, useEffect, useRef, useState } from "react";
import { actionFor, keyName, type ViewName } from "./key-map.js";
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

interface Typing {
  /** known at once, for the very next key */
  readonly now: { current: boolean };
  /** shows it */
  readonly setTyping: (typing: boolean) => void;
}

/** Whether somebody is typing: the keys of the whole UI (q, 1, ?) are letters then. Views tell, the app listens. */
export const TypingContext = createContext<Typing>({ now: { current: false }, setTyping: () => {} });

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
  // Keys are read by the newest render's functions, also before ink has exchanged its listener.
  const latest = useRef(options);
  latest.current = options;
  const { now, setTyping } = useContext(TypingContext);
  const setField = (after: FieldText | undefined): void => {
    field.current = after;
    now.current = after !== undefined;
    showEditing(after);
  };
  const isEditing = editing !== undefined;
  useEffect(() => {
    now.current = isEditing;
    setTyping(isEditing);
    return () => {
      now.current = false;
      setTyping(false);
    };
  }, [now, setTyping, isEditing]);

  const edit = (name: string, input: string, current: FieldText): void => {
    const action = actionFor(name, "editing");
    if (action) {
      setField(undefined);
      if (action === "submit") latest.current.onSubmit?.(current.text);
      return;
    }
    const after = editText(current, name, input);
    if (!after) return;
    setField(after);
    latest.current.onEdit?.(after.text);
  };
  const press = (name: string): void => {
    const { scope, actions } = latest.current;
    const action = actionFor(name, scope);
    if (action) actions[action]?.();
  };
  useInput(
    (input, key) => {
      const name = keyName(input, key);
      if (field.current) return edit(name, input, field.current);
      if (name !== input) return press(name);
      // Keys typed faster than they are read come as one text; once one of them opens a field, the rest belongs into it.
      const keys = [...input];
      while (keys.length > 0 && !field.current) press(keys.shift()!);
      if (keys.length > 0 && field.current) edit(keys.join(""), keys.join(""), field.current);
    },
    { isActive: options.active ?? true },
  );
  return { editing, startEditing: (text) => setField(fieldOf(text)) };
}
