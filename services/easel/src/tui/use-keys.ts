import { useInput } from "ink";
import { createContext, useContext, useEffect, useState } from "react";
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
  readonly typing: boolean;
  readonly setTyping: (typing: boolean) => void;
}

/** Whether somebody is typing: the keys of the whole UI (q, 1, ?) are letters then. Views tell, the app listens. */
export const TypingContext = createContext<Typing>({ typing: false, setTyping: () => {} });

/** A view's keys by the key map, and one line of text that may be under edit. */
export function useKeys(options: Options): {
  readonly editing: FieldText | undefined;
  readonly startEditing: (text: string) => void;
} {
  const [editing, setEditing] = useState<FieldText | undefined>(() =>
    options.startInEditing === undefined
      ? undefined
      : { text: options.startInEditing, cursor: options.startInEditing.length },
  );
  const { setTyping } = useContext(TypingContext);
  const isEditing = editing !== undefined;
  useEffect(() => {
    setTyping(isEditing);
    return () => setTyping(false);
  }, [setTyping, isEditing]);
  useInput(
    (input, key) => {
      const name = keyName(input, key);
      if (editing) return edit(name, input, editing);
      const action = actionFor(name, options.scope);
      if (action) options.actions[action]?.();
    },
    { isActive: options.active ?? true },
  );
  const edit = (name: string, input: string, field: FieldText): void => {
    const action = actionFor(name, "editing");
    if (action) {
      setEditing(undefined);
      if (action === "submit") options.onSubmit?.(field.text);
      return;
    }
    const after = editText(field, name, input);
    if (!after) return;
    setEditing(after);
    options.onEdit?.(after.text);
  };
  return { editing, startEditing: (text) => setEditing({ text, cursor: [...text].length }) };
}
