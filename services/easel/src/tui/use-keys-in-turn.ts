import { useLayoutEffect, useRef, useState } from "react";
import { type InkKey, keyName, plainKey } from "./key-map.js";
import type { KeyListener } from "./use-keys.js";

/**
 * Keys typed faster than they are read come as one text. Outside of a field each of them is a key of its own, and the next one is read when the screen
 * has followed the one before: it may be meant for the view that it opened. Within a field they are text, perhaps a paste.
 */
export function useKeysInTurn(press: KeyListener, typingNow: { readonly current: boolean }): KeyListener {
  const waiting = useRef<{ readonly input: string; readonly key: InkKey }[]>([]);
  const [turn, setTurn] = useState(0);
  const readNext = (): void => {
    const [next] = waiting.current;
    if (!next) return;
    const { input, key } = next;
    const [first = "", ...rest] = input;
    if (rest.length > 0 && keyName(input, key) === input && !typingNow.current) {
      waiting.current[0] = { input: rest.join(""), key };
      press(...plainKey(first));
    } else {
      waiting.current.shift();
      press(input, key);
    }
    // drawn together with whatever the key has changed
    if (waiting.current.length > 0) setTurn((now) => now + 1);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a turn has been drawn, nothing else counts
  useLayoutEffect(readNext, [turn]);
  return (input, key) => {
    waiting.current.push({ input, key });
    if (waiting.current.length === 1) readNext();
  };
}
