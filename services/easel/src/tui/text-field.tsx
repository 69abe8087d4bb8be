import { Text } from "ink";

export interface FieldText {
  readonly text: string;
  /** position of the cursor in characters */
  readonly cursor: number;
}

/** One key's effect on a line of text; undefined when the key does not edit. */
export function editText(field: FieldText, name: string, input: string): FieldText | undefined {
  const characters = [...field.text];
  const { cursor } = field;
  switch (name) {
    case "left":
      return { ...field, cursor: Math.max(0, cursor - 1) };
    case "right":
      return { ...field, cursor: Math.min(characters.length, cursor + 1) };
    case "ctrl+a":
    case "up":
      return { ...field, cursor: 0 };
    case "ctrl+e":
    case "down":
      return { ...field, cursor: characters.length };
    case "ctrl+u":
      return { text: characters.slice(cursor).join(""), cursor: 0 };
    case "ctrl+k":
      return { text: characters.slice(0, cursor).join(""), cursor };
    case "ctrl+w": {
      const kept = characters
        .slice(0, cursor)
        .join("")
        .replace(/\S+\s*$/, "");
      return { text: kept + characters.slice(cursor).join(""), cursor: [...kept].length };
    }
    // Terminals send either for the key above Enter; neither deletes forwards here.
    case "backspace":
    case "delete":
      if (cursor === 0) return field;
      return { text: [...characters.slice(0, cursor - 1), ...characters.slice(cursor)].join(""), cursor: cursor - 1 };
    default: {
      if (name.startsWith("ctrl+") || name === "tab" || name === "shift+tab" || input === "") return undefined;
      // A paste comes as one input; line ends in it become spaces.
      const typed = [...input.replace(/[\u0000-\u001f\u007f]+/g, " ")];
      return {
        text: [...characters.slice(0, cursor), ...typed, ...characters.slice(cursor)].join(""),
        cursor: cursor + typed.length,
      };
    }
  }
}

interface Props {
  readonly field: FieldText;
  readonly editing: boolean;
  readonly placeholder: string;
}

export function TextField({ field, editing, placeholder }: Props) {
  if (!editing) return field.text === "" ? <Text dimColor>{placeholder}</Text> : <Text>{field.text}</Text>;
  const characters = [...field.text];
  return (
    <Text>
      {characters.slice(0, field.cursor).join("")}
      <Text inverse>{characters[field.cursor] ?? " "}</Text>
      {characters.slice(field.cursor + 1).join("")}
    </Text>
  );
}
