/** What the rest of easel knows of prompt expansion. */
export interface ExpandOrder {
  readonly prompt: string;
  /** family of the image model the words are meant for */
  readonly family: string;
  /** how many different expansions, 1 to 8 */
  readonly variations: number;
  /** equal orders with equal seeds give equal words; without one a seed is drawn */
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

export interface Expander {
  /** the language model in use, for people */
  readonly name: string;
  /** As many expansions as asked, all different, none equal to the prompt. Rejects with an ExpandError. */
  expand(order: ExpandOrder): Promise<string[]>;
  /** Gives back the memory of a local model; the next order loads it again. */
  release(): Promise<void>;
  close(): Promise<void>;
}
