/** A language model behind an OpenAI-compatible endpoint: Ollama, llama.cpp's server, vLLM, LM Studio, OpenAI. Plain fetch: the protocol is one request. */
import { setTimeout as sleep } from "node:timers/promises";
import { ExpandError } from "./expand-error.js";
import type { LanguageModel, Question } from "./language-model.js";
import { AnswerTooLarge, MAX_ANSWER_BYTES, readChatAnswer } from "./read-chat-answer.js";

export interface OpenAiModelOptions {
  /** up to and including `/v1` */
  readonly url: string;
  readonly model: string;
  readonly key?: string;
  /** further tries after 429, 5xx or a broken connection */
  readonly retries: number;
  readonly fetch?: typeof globalThis.fetch;
  /** first wait; doubles with every try */
  readonly backoffMs?: number;
}

const FIRST_BACKOFF_MS = 500;
/** A server that asks for a longer wait is not waited for: the whole expansion is limited in time anyway. */
const LONGEST_BACKOFF_MS = 20_000;
const SHOWN_OF_AN_ERROR = 300;

export function createOpenAiModel(options: OpenAiModelOptions): LanguageModel {
  const name = `${options.model} at ${new URL(options.url).host}`;
  return {
    name,
    async ask(question, signal) {
      for (let attempt = 0; ; attempt++) {
        const outcome = await askOnce(options, question, signal);
        if ("text" in outcome) return outcome.text;
        if (!outcome.retry || attempt >= options.retries) throw outcome.error;
        const wait = outcome.waitMs ?? (options.backoffMs ?? FIRST_BACKOFF_MS) * 2 ** attempt;
        if (wait > LONGEST_BACKOFF_MS) throw outcome.error;
        await sleep(wait, undefined, { signal });
      }
    },
    async close() {},
  };
}

type Outcome =
  | { readonly text: string }
  | { readonly error: ExpandError; readonly retry: boolean; readonly waitMs?: number };

async function askOnce(options: OpenAiModelOptions, question: Question, signal: AbortSignal): Promise<Outcome> {
  const place = completionsUrl(options.url);
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(place, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
      },
      body: JSON.stringify(requestBody(options.model, question)),
      // A redirect would carry the key to another host.
      redirect: "error",
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    return failed(`${place} cannot be reached: ${reason(error)}. Check SERVICE_EXPAND_URL`, true, undefined, error);
  }
  if (!response.ok) return refusal(place, options, response);
  try {
    return { text: await readChatAnswer(response) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof AnswerTooLarge)
      return failed(
        `${place} sent more than ${MAX_ANSWER_BYTES} bytes for one prompt; the answer was cut off and refused`,
        false,
        undefined,
        error,
      );
    return failed(`${place} sent a broken answer: ${reason(error)}`, true, undefined, error);
  }
}

const completionsUrl = (url: string): string => {
  const base = url.replace(/\/+$/, "");
  return base.endsWith("/chat/completions") ? base : `${base}/chat/completions`;
};

const requestBody = (model: string, question: Question) => ({
  model,
  messages: [
    { role: "system", content: question.instruction },
    { role: "user", content: question.prompt },
  ],
  seed: question.seed,
  temperature: question.temperature,
  max_tokens: question.maxTokens,
  stream: true,
});

async function refusal(place: string, options: OpenAiModelOptions, response: Response): Promise<Outcome> {
  const { status } = response;
  const said = (await response.text().catch(() => "")).slice(0, SHOWN_OF_AN_ERROR).replace(/\s+/g, " ").trim();
  const shown = said === "" ? "" : `: ${said}`;
  if (status === 401 || status === 403)
    return failed(`${place} refused the key (${status}${shown}). Check SERVICE_EXPAND_KEY`, false);
  if (status === 404)
    return failed(
      `${place} knows no such path or model '${options.model}' (404${shown}). Check SERVICE_EXPAND_URL and SERVICE_EXPAND_MODEL`,
      false,
    );
  return failed(`${place} answered ${status}${shown}`, status === 429 || status >= 500, retryAfter(response));
}

function retryAfter(response: Response): number | undefined {
  const given = response.headers.get("retry-after");
  if (given === null) return undefined;
  const ms = /^\d+$/.test(given) ? Number(given) * 1000 : Date.parse(given) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function failed(message: string, retry: boolean, waitMs?: number, cause?: unknown): Outcome {
  return {
    error: new ExpandError("EXPANSION_FAILED", `Prompt expansion failed: ${message}.`, { cause }),
    retry,
    ...(waitMs !== undefined && { waitMs }),
  };
}

/** fetch hides the reason ("ECONNREFUSED") in `cause`. */
function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== ""
    ? cause.message
    : error instanceof Error
      ? error.message
      : String(error);
}
