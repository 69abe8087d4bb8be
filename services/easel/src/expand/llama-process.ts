/**
 * The process in which a GGUF language model runs, one question at a time. Its own process, because a native crash or an
 * out-of-memory kill must not take the server along, and because ending it is the one sure way to get the memory back.
 * Started by local-model.ts with a LlamaStart as its argument; ends when the channel to the server closes.
 */
import {
  getLlama,
  InsufficientMemoryError,
  LlamaChatSession,
  LlamaCompletion,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  resolveChatWrapper,
  type Token,
} from "node-llama-cpp";
import type { Question } from "./language-model.js";
import type { FromLlama, LlamaStart, ToLlama } from "./llama-messages.js";

/** An instruction, a prompt and an answer; more would only cost memory. */
const CHAT_CONTEXT_TOKENS = 2048;
/** Unlikely words are where small models go astray. */
const SAMPLING = { topP: 0.95, minP: 0.02, topK: 60 } as const;

class BadRequest extends Error {}

interface Loaded {
  readonly model: LlamaModel;
  readonly sequence: LlamaContextSequence;
  readonly contextTokens: number;
  /** the file is our own expander and says so in its metadata */
  readonly own: boolean;
}

const start = JSON.parse(process.argv[2] ?? "{}") as LlamaStart;
let loading: Promise<Loaded> | undefined;

async function load(): Promise<Loaded> {
  const llama = await getLlama({
    gpu: start.gpu === "off" ? false : start.gpu,
    build: "never",
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
    maxThreads: start.threads,
  });
  const model = await llama.loadModel({ modelPath: start.modelPath });
  const { easel } = model.fileInfo.metadata as { readonly easel?: { readonly expander?: unknown } };
  const contextTokens = Math.min(CHAT_CONTEXT_TOKENS, model.trainContextSize);
  const context = await model.createContext({ contextSize: contextTokens, sequences: 1, threads: start.threads });
  const own = easel?.expander !== undefined && start.format === "model";
  return { model, sequence: context.getSequence(), contextTokens, own };
}

/** `<|prompt|> words <|manner|> words`: how our own model was trained; everything in lower case with a space in front. */
async function complete(
  { model, sequence, contextTokens }: Loaded,
  question: Question,
  signal: AbortSignal,
): Promise<string> {
  const special = (name: string): Token => model.tokenize(`<|${name}|>`, true)[0]!;
  const plain = (text: string): Token[] => model.tokenize(` ${text.toLowerCase()}`, false);
  const begin = question.begin ?? "";
  const tokens = [
    special("prompt"),
    ...plain(question.prompt),
    special(question.manner),
    ...(begin === "" ? [] : plain(begin)),
  ];
  const room = contextTokens - tokens.length - 1;
  // At least half as much again must fit, or the answer would break off.
  if (room < Math.max(24, tokens.length / 2))
    throw new BadRequest(
      `prompt takes ${tokens.length} tokens, which leaves the built-in model no room; shorten it or set SERVICE_EXPAND_MODEL`,
    );
  const completion = new LlamaCompletion({ contextSequence: sequence });
  try {
    const text = await completion.generateCompletion(tokens, {
      ...sampling(question),
      maxTokens: Math.min(question.maxTokens, room),
      signal,
    });
    return `${begin}${text}`;
  } finally {
    completion.dispose({ disposeSequence: false });
  }
}

async function chat({ model, sequence }: Loaded, question: Question, signal: AbortSignal): Promise<string> {
  const session = new LlamaChatSession({
    contextSequence: sequence,
    systemPrompt: question.instruction,
    chatWrapper: resolveChatWrapper(model, {
      customWrapperSettings: { qwen: { thoughts: "discourage" } },
      warningLogs: false,
    }),
  });
  try {
    return await session.prompt(question.prompt, {
      ...sampling(question),
      maxTokens: question.maxTokens,
      signal,
      ...(question.begin !== undefined && { responsePrefix: question.begin }),
    });
  } finally {
    session.dispose({ disposeSequence: false });
  }
}

const sampling = ({ temperature, seed }: Question) => ({ ...SAMPLING, temperature, seed });

async function answer(question: Question, signal: AbortSignal): Promise<string> {
  loading ??= load();
  const loaded = await loading;
  signal.throwIfAborted();
  // Nothing of an earlier question may colour this one: equal seeds, equal words.
  await loaded.sequence.clearHistory();
  return loaded.own ? complete(loaded, question, signal) : chat(loaded, question, signal);
}

const running = new Map<number, AbortController>();
let line: Promise<void> = Promise.resolve();
const send = (message: FromLlama): void => {
  if (process.connected) process.send?.(message);
};

async function handle(id: number, question: Question, stop: AbortController): Promise<void> {
  try {
    send({ type: "answer", id, text: await answer(question, stop.signal) });
  } catch (error) {
    const fault =
      error instanceof BadRequest ? "request" : error instanceof InsufficientMemoryError ? "memory" : "model";
    send({ type: "failed", id, message: error instanceof Error ? error.message : String(error), fault });
  } finally {
    running.delete(id);
  }
}

process.on("message", (message: ToLlama) => {
  if (message.type === "cancel") {
    running.get(message.id)?.abort();
    return;
  }
  const stop = new AbortController();
  running.set(message.id, stop);
  line = line.then(() => handle(message.id, message.question, stop));
});
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole process group; the server decides when this process ends.
process.on("SIGINT", () => {});
