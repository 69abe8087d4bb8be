import { useCallback, useEffect, useRef, useState } from "react";

export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly refresh: () => void;
}

/** Asks now and then; keeps the last answer while the server is away, and goes on by itself when it is back. */
export function usePolled<T>(ask: () => Promise<T>, everyMs: number, active = true): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<string>();
  const latest = useRef(ask);
  latest.current = ask;
  const waiting = useRef(false);
  const refresh = useCallback(() => {
    if (waiting.current) return;
    waiting.current = true;
    latest
      .current()
      .then(
        (answer) => {
          setValue(answer);
          setError(undefined);
        },
        (problem: Error) => setError(problem.message),
      )
      .finally(() => {
        waiting.current = false;
      });
  }, []);
  useEffect(() => {
    if (!active) return;
    refresh();
    const timer = setInterval(refresh, everyMs);
    return () => clearInterval(timer);
  }, [active, everyMs, refresh]);
  return { value, error, refresh };
}
