import { useCallback, useEffect, useRef, useState } from "preact/hooks";

export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly refresh: () => void;
}

/** Asks again and again while the page is visible; keeps the last answer while the server is away and goes on by itself when it is back. */
export function usePolling<T>(ask: () => Promise<T>, everyMs: number): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<Error>();
  const latest = useRef(ask);
  latest.current = ask;
  const refresh = useCallback(() => {
    latest.current().then(
      (answer) => {
        setValue(answer);
        setError(undefined);
      },
      (problem: Error) => setError(problem),
    );
  }, []);
  useEffect(() => {
    refresh();
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, refresh]);
  return { value, error, refresh };
}
