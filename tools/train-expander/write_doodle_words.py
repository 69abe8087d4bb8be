"""Writes services/easel/src/expand/doodle-words.ts: every word an expansion for doodle may add, from its captions' grammar and its things' names.

    python3 write_doodle_words.py
"""
import json, os, re

from kinds import COMPOUND, DOODLE, SCENE_PROMPTS

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "..", "services", "easel", "src", "expand", "doodle-words.ts")
# the small words of the caption grammar
GRAMMAR = ("a an the and of in on at to from with under over above below behind beside next front left right top bottom side by row pair two three four upside down tilted small tiny little large big huge "
           "close up closeup view background gradient isolated colorful black white monochrome grayscale silhouette glyph golden silver")
data = json.load(open(os.path.join(HERE, "lexicon.json"), encoding="utf-8"))
world = data["world"]
texts = [GRAMMAR, *world["colors"], *world["hues"], *world["prefixes"], *(p for v in world["scenes"].values() for ps in v for p in ps), *(p for v in world["styles"].values() for ps in v for p in ps),
         *(p for ps in COMPOUND.values() for p in ps), *(p for ps in SCENE_PROMPTS.values() for p in ps), *(c for v in DOODLE.values() for c in (v[1], v[2])),
         *(names[0] for kind in data["doodle"].values() for names in kind)]
words = sorted({w for t in texts for w in re.findall(r"[^\W_]+", t.lower())})
lines, line = [], ""
for w in words:
    if len(line) + len(w) > 112:
        lines.append(line)
        line = ""
    line += (" " if line else "") + w
lines.append(line)
with open(OUT, "w", encoding="utf-8") as f:
    f.write("/** Written by tools/train-expander/write_doodle_words.py: the words of doodle's captions and the names of its things. */\n")
    f.write("const WORDS = `\n" + "\n".join(lines) + "\n`;\n\n")
    f.write("export const DOODLE_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\\s+/));\n")
print(len(words), "words")
