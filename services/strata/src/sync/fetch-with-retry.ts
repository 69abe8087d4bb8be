import { setTimeout as sleep } from "node:timers/promises";

/** Requests that fail for a reason that may pass are tried again, each time after a longer wait. */

/** Tries in all, and the wait before the second: 0.5 s, 1 s, 2 s, 4 s. */
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
/** A server that does not answer at all is mostly one that is not there: the person should hear of it soon. */
const UNREACHABLE_ATTEMPTS = 3;
/** A server that asks for more patience than this is asked again at the next run. */
const LONGEST_WAIT_MS = 30_000;
/** From the request to the response's headers. Bodies may take as long as they keep coming. */
const ANSWER_TIMEOUT_MS = 30_000;

/** The server answered, but not with what was asked for. */
export class HttpStatusError extends Error {
  override name = "HttpStatusError";
  constructor(
    readonly url: string,
    readonly status: number,
  ) {
    super(`${url} answered with status ${status}.`);
  }
}

/** The server could not be reached. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

export interface FetchOptions {
  headers?: Record<string, string>;
  method?: "GET" | "HEAD";
  signal?: AbortSignal | undefined;
  /** Statuses that are an answer, beside 2xx. */
  accept?: readonly number[];
  fetch?: typeof fetch;
  wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
  attempts?: number;
}

export async function fetchWithRetry(url: string, options: FetchOptions = {}): Promise<Response> {
  const wait = options.wait ?? waitFor;
  const attempts = options.attempts ?? ATTEMPTS;
  for (let attempt = 1; ; attempt++) {
    let pause = FIRST_WAIT_MS * 2 ** (attempt - 1);
    try {
      const response = await fetchOnce(url, options);
      if (response.ok || options.accept?.includes(response.status)) {
        return response;
      }
      await response.body?.cancel();
      const error = new HttpStatusError(url, response.status);
      if (!mayPass(response.status) || attempt >= attempts) {
        throw error;
      }
      pause = Math.max(pause, retryAfter(response));
      if (pause > LONGEST_WAIT_MS) {
        throw error;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof HttpStatusError || attempt >= Math.min(attempts, UNREACHABLE_ATTEMPTS)) {
        throw error;
      }
    }
    await wait(pause, options.signal);
  }
}

async function fetchOnce(url: string, options: FetchOptions): Promise<Response> {
  const deadline = new AbortController();
  const timer = globalThis.setTimeout(
    () => deadline.abort(new Error(`no answer within ${ANSWER_TIMEOUT_MS / 1000} s`)),
    ANSWER_TIMEOUT_MS,
  );
  const signal = options.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, options.signal]);
  try {
    return await (options.fetch ?? fetch)(url, {
      method: options.method ?? "GET",
      headers: options.headers ?? {},
      signal,
    });
  } catch (cause) {
    const inner = (cause as { cause?: { message?: string; code?: string } }).cause;
    const reason = inner?.message || inner?.code || (cause as Error).message;
    throw new UnreachableError(`${url} cannot be reached: ${reason}.`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function mayPass(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** Milliseconds that a Retry-After header asks for; 0 without one. */
function retryAfter(response: Response): number {
  const value = response.headers.get("retry-after");
  if (value === null) {
    return 0;
  }
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : 0;
}

async function waitFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
}
