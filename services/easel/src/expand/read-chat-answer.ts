/** Reads a chat completion, streamed or whole, without ever holding more than the limit. */
/** A prompt has a few hundred words; thinking models write more before they answer. */
export const MAX_ANSWER_BYTES = 256 * 1024;

export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
}

/** The text of the first choice; what a model thinks aloud in a field of its own is left out. */
export async function readChatAnswer(response: Response): Promise<string> {
  const streamed = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  const text = streamed ? await readEvents(response) : readWhole(await readLimited(response));
  if (typeof text !== "string") throw new Error("it has no choices[0].message.content");
  return text;
}

async function* limitedText(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  if (!response.body) return;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body, so the connection is closed and nothing more is sent.
    if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge();
    yield decoder.decode(chunk, { stream: true });
  }
}

async function readLimited(response: Response): Promise<string> {
  let all = "";
  for await (const part of limitedText(response)) all += part;
  return all;
}

interface Choice {
  readonly message?: { readonly content?: unknown };
  readonly delta?: { readonly content?: unknown };
}
interface Answer {
  readonly choices?: readonly Choice[];
  readonly error?: { readonly message?: unknown } | string;
}

function readWhole(body: string): unknown {
  const answer = parseAnswer(body);
  return answer.choices?.[0]?.message?.content;
}

/** Server-sent events: `data: {json}` lines until `data: [DONE]`. A stream that ends before is a broken one. */
async function readEvents(response: Response): Promise<string> {
  let pending = "";
  let text = "";
  for await (const part of limitedText(response)) {
    pending += part;
    const lines = pending.split(/\r?\n/);
    pending = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data:")) continue;
      const data = line.slice(5).trim();
      if (data === "[DONE]") return text;
      const choice = parseAnswer(data).choices?.[0];
      const piece = choice?.delta?.content ?? choice?.message?.content;
      if (typeof piece === "string") text += piece;
    }
  }
  throw new Error("the stream ended before [DONE]");
}

function parseAnswer(json: string): Answer {
  let answer: unknown;
  try {
    answer = JSON.parse(json);
  } catch {
    throw new Error(`it is no JSON (${JSON.stringify(json.slice(0, 80))})`);
  }
  if (typeof answer !== "object" || answer === null) throw new Error("it is no object");
  const { error } = answer as Answer;
  if (error) throw new Error(typeof error === "string" ? error : String(error.message));
  return answer as Answer;
}
