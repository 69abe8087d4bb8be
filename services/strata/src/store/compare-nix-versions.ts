/**
 * The order of `builtins.compareVersions`, as a key that sorts by plain comparison: the dictionary of an index is sorted
 * once by this key and compared by rank ever after.
 *
 * A version is cut into runs of digits and runs of other characters; `.` and `-` separate and vanish. Ranks of a
 * component: `pre`, then the end of the version, then other text, then a number. A digit run above 2^31-1 is text, as in Nix.
 */

const LARGEST_NUMBER = 2_147_483_647;
/** First character of each component's key; the order of these four is the order of the ranks. */
const PRE = "\u0001";
const END = "\u0002";
const TEXT = "\u0003";
const NUMBER = "\u0004";
/** Closes a text component: below every character of text, so that `a` is before `aa` whatever follows. */
const TEXT_END = "\u0000";
const COMPONENT = /[0-9]+|[^0-9.-]+/g;

/** A string whose code point order is the version order: equal keys are versions that Nix holds to be equal. */
export function nixVersionKey(version: string): string {
  let key = "";
  for (const [component] of version.matchAll(COMPONENT)) {
    const first = component.charCodeAt(0);
    if (first >= 48 && first <= 57 && Number(component) <= LARGEST_NUMBER) {
      key += NUMBER + String(Number(component)).padStart(10, "0");
    } else if (component === "pre") {
      key += PRE;
    } else {
      key += TEXT + component + TEXT_END;
    }
  }
  return key + END;
}
