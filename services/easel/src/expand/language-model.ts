/** What the rules of expansion know of a language model, wherever it runs. */
import type { Manner } from "./templates.js";

export interface Question {
  /** what to do, for models that follow instructions */
  readonly instruction: string;
  /** the user's prompt */
  readonly prompt: string;
  /** for our own model, which was trained on manners instead of instructions */
  readonly manner: Manner;
  /** the answer has to begin with these words, if the model can be made to */
  readonly begin?: string;
  /** equal seeds give equal answers, as far as the backend allows */
  readonly seed: number;
  readonly temperature: number;
  readonly maxTokens: number;
}

export interface LanguageModel {
  /** shown to the user, e.g. in error messages */
  readonly name: string;
  /** The raw answer. Rejects with an ExpandError only; stops when the signal is aborted. */
  ask(question: Question, signal: AbortSignal): Promise<string>;
  /** Frees what it holds; asking again starts it anew. */
  close(): Promise<void>;
}
