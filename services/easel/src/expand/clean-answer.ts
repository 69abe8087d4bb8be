/** Language models wrap the one line that was asked for in politeness, lists, quotes and thoughts; this takes it out again. */
const THOUGHTS = /<(think|thinking|thought|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi;
const LEFTOVER_TAGS = /<\/?(?:think|thinking|thought|reasoning|answer|output|prompt)>|<\|[^|>]{1,40}\|>/gi;
const FENCE = /^\s*```[^\n]*$/gm;
/** "Sure! Here is the expanded prompt:" and its relatives, at the start of the answer, up to the colon or line end */
const PREFACE =
  /^\s*(?:(?:sure|certainly|of course|okay|ok|absolutely|alright)[^\n:]{0,60}?[!.,]\s*)?(?:(?:here(?:'s| is| are)|this is|below is)[^\n:]{0,120}:\s*|(?:the )?(?:new |expanded |enhanced |improved |rewritten |final |detailed )*(?:prompt|caption|version|description|answer|output)s?\s*(?:is)?\s*:\s*)/i;
const SMALL_TALK = /^\s*(?:sure|certainly|of course|okay|absolutely)[!.,]\s*(?=\S)/i;
const LIST_MARK = /^\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+|(?:option|variation|version)\s+\d+\s*:\s*)/i;
const HEADING = /^\s*#{1,6}\s+.*$/;
const QUOTES = /^["'“”‘’«»„`*_]+|["'“”‘’«»„`*_]+$/g;

/** The one line that was meant, or an empty text when there is none. */
export function cleanAnswer(raw: string): string {
  const text = raw
    .replace(THOUGHTS, " ")
    .replace(LEFTOVER_TAGS, " ")
    .replace(FENCE, "")
    .replace(/\*\*|__/g, "")
    .replace(PREFACE, "");
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !HEADING.test(line))
    .map((line) => line.replace(LIST_MARK, "").replace(PREFACE, "").replace(SMALL_TALK, "").trim());
  const meant = lines.find((line) => /[\p{L}\p{N}]/u.test(line)) ?? "";
  return tidy(unquote(meant));
}

/** Also what stands in quotes alone: `"a cat on a mat" - I added a mat.` */
function unquote(line: string): string {
  const quoted = /^["“](.+?)["”](?=\s|$)/.exec(line);
  return quoted && quoted[1]!.length > line.length / 2 ? quoted[1]! : line.replace(QUOTES, "");
}

function tidy(line: string): string {
  return line
    .replace(/\p{Cc}+/gu, " ")
    .replace(/\s+/g, " ")
    .replace(/\s+([,.;:!?])/g, "$1")
    .replace(/(?:,\s*){2,}/g, ", ")
    .replace(/[\s,;:]+$/, "")
    .trim();
}

export const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** At most `max` words, cut at the last comma or full stop before the limit where one is in the second half. */
export function limitWords(text: string, max: number): string {
  const words = text.split(/\s+/);
  if (words.length <= max) return text;
  const cut = words.slice(0, max).join(" ");
  const stop = Math.max(cut.lastIndexOf(","), cut.lastIndexOf(". "), cut.endsWith(".") ? cut.length - 1 : -1);
  return stop > cut.length / 2 ? cut.slice(0, stop).trimEnd() : cut.replace(/[\s,;:]+$/, "");
}
