import { useEffect, useState } from "preact/hooks";
import { ApiFailure } from "./api.js";

/** An answer that is on its way, there, or refused. The one before stays visible until the next has come. */
export interface Answer<Value> {
  value: Value | null;
  failure: ApiFailure | null;
  isLoading: boolean;
}

/** Asks whenever the key changes; what is not wanted any more is not waited for. A null key asks nothing. */
export function useAnswer<Value>(
  key: string | null,
  ask: (signal: AbortSignal) => Promise<Value>,
  delayMs = 0,
): Answer<Value> {
  const [answer, setAnswer] = useState<Answer<Value>>({ value: null, failure: null, isLoading: key !== null });
  // The key stands for all that `ask` depends on.
  useEffect(() => {
    if (key === null) {
      setAnswer({ value: null, failure: null, isLoading: false });
      return;
    }
    const stopping = new AbortController();
    setAnswer((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(() => {
      ask(stopping.signal).then(
        (value) => !stopping.signal.aborted && setAnswer({ value, failure: null, isLoading: false }),
        (error) => {
          if (!stopping.signal.aborted) {
            const failure = error instanceof ApiFailure ? error : new ApiFailure(0, String(error));
            setAnswer({ value: null, failure, isLoading: false });
          }
        },
      );
    }, delayMs);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [key]);
  return answer;
}
