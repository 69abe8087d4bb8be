/** The rules of expansion, the same for every language model: ask, clean, check, ask again with another seed. */
import { cleanAnswer, countWords, limitWords } from "./clean-answer.js";
import { stayInWorld } from "./doodle-world.js";
import { ExpandError } from "./expand-error.js";
import type { LanguageModel } from "./language-model.js";
import { mixSeed } from "./mix-seed.js";
import { addedWords, missingWords, restoreCase, withoutAsking, wordsOf } from "./subject-words.js";
import type { Template } from "./templates.js";

/** Tries per variation: the first ones are free, the last two are made to begin with the user's own words. */
const FREE_TRIES = 4;
const TRIES = 6;
/** A token is about three quarters of an English word; room is left for a preface that is cut away. */
const TOKENS_PER_WORD = 1.8;
const SPARE_TOKENS = 40;

export interface Wanted {
  readonly prompt: string;
  readonly template: Template;
  readonly variations: number;
  readonly seed: number;
}

export async function expandPrompt(model: LanguageModel, wanted: Wanted, signal: AbortSignal): Promise<string[]> {
  const prompt = withoutAsking(tidyPrompt(wanted.prompt));
  refuseUnfit(prompt, wanted.template);
  const found: string[] = [];
  for (let variation = 0; variation < wanted.variations; variation++) {
    found.push(await findVariation(model, { ...wanted, prompt }, variation, found, signal));
  }
  return found;
}

/** Control characters and anything a model might take for one of its own marks become spaces. */
const tidyPrompt = (prompt: string): string =>
  prompt
    .replace(/\p{Cc}+|<\|[^|>]{0,40}\|>/gu, " ")
    .replace(/\s+/g, " ")
    .trim();

function refuseUnfit(prompt: string, { maxWords, minAddedWords }: Template): void {
  if (wordsOf(prompt).length === 0)
    throw new ExpandError("VALIDATION_ERROR", `prompt ${JSON.stringify(prompt)} has no word in it to expand`);
  const words = countWords(prompt);
  if (words + minAddedWords > maxWords) {
    throw new ExpandError(
      "VALIDATION_ERROR",
      `prompt has ${words} words, and an expansion for this model may have ${maxWords}: there is no room for more. Shorten it or generate without expand`,
    );
  }
}

async function findVariation(
  model: LanguageModel,
  wanted: Wanted,
  variation: number,
  taken: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { prompt, template } = wanted;
  const faults: string[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const begin = attempt >= FREE_TRIES ? prompt : undefined;
    const raw = await model.ask(
      {
        instruction: template.instruction.replaceAll("{max_words}", String(template.maxWords)),
        prompt,
        manner: template.manner,
        seed: mixSeed(wanted.seed, variation, attempt),
        temperature: template.temperature,
        maxTokens: Math.ceil(template.maxWords * TOKENS_PER_WORD) + SPARE_TOKENS,
        ...(begin !== undefined && { begin }),
      },
      signal,
    );
    const checked = checkAnswer(raw, prompt, template, begin !== undefined);
    if ("fault" in checked) faults.push(checked.fault);
    else if (taken.some((other) => sameWords(other, checked.text))) faults.push("the same words as another variation");
    else return checked.text;
  }
  throw new ExpandError(
    "EXPANSION_FAILED",
    `The language model '${model.name}' gave no usable expansion in ${TRIES} tries (${[...new Set(faults)].join("; ")}). Try another seed, or send the prompt without expand.`,
  );
}

type Checked = { readonly text: string } | { readonly fault: string };

/** `lead`: words the model lost are put in front instead of being a fault. */
function checkAnswer(raw: string, prompt: string, template: Template, lead: boolean): Checked {
  let text = cleanAnswer(raw);
  if (text === "") return { fault: "an empty answer" };
  if (lead && missingWords(prompt, text).length > 0) text = `${prompt}, ${text}`;
  if (template.world === "doodle") {
    const inside = stayInWorld(prompt, text);
    if (inside === undefined) return { fault: "words that doodle cannot draw" };
    text = inside;
  }
  text = restoreCase(prompt, limitWords(text, template.maxWords));
  if (template.manner === "prose") text = capitaliseSentences(text);
  const missing = missingWords(prompt, text);
  if (missing.length > 0) return { fault: `'${missing.slice(0, 3).join("', '")}' was lost` };
  if (addedWords(prompt, text).length < template.minAddedWords) return { fault: "nothing was added" };
  return { text };
}

/** Our own model writes lower case only. */
const capitaliseSentences = (text: string): string =>
  text.replace(/(^|[.!?]\s+)(\p{Ll})/gu, (_, before: string, letter: string) => before + letter.toUpperCase());

const sameWords = (a: string, b: string): boolean => wordsOf(a).join(" ") === wordsOf(b).join(" ");
