"""Cuts a CLIP tokenizer folder down to a tiny one and records transformers' ids for odd texts with it.

    python tools/golden-tokenizers/record.py <folder with vocab.json and merges.txt> packages/diffusion/fixtures/tokenizers

Needs transformers. MERGES merges are kept, so common words still become single tokens.
"""
import json
import os
import sys

from transformers import CLIPTokenizer

MERGES = 1200
TEXTS = [
    "",
    " ",
    "a photo of a cat",
    "A  Photo\tOF\n\na CAT",
    "don't we'll they've I'm it's he'd you're",
    "1234567 3.14 50% $100 #1",
    "hello, world!!! (really?) [yes] {no} <tag>",
    "naïve café Ünïcödé straße ﬁ ﬀ İstanbul ΑΣ",
    "cafe\u0301 nai\u0308ve",
    "日本語の猫 東京タワー",
    "Привет мир Ёлка",
    "مرحبا بالعالم שלום",
    "हिन्दी देवनागरी ไทย 한국어",
    "🎨🐈‍⬛👩🏽‍🚀 emoji 🇯🇵",
    "zero\u200bwidth\u200djoin\ufeffmark",
    "nbsp\u00a0space\u2003em\u3000ideographic",
    "tabs\tand\r\nlines\u2028separator",
    "<|startoftext|> inside <|endoftext|> text",
    "<|STARTOFTEXT|>upper<|EndOfText|>",
    "underscore_name snake_case kebab-case a/b\\c",
    "½ ² Ⅷ ① ٣ ४ 𝟘 𝔘𝔫𝔦",
    "a\u0000b\u0007c\u001bd",
    "’s ’t curly ‘quotes’ “double” – — …",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "\U0001d11e music \U0010ffff end",
    "!!!???...,,,---===+++***",
    "ﬃ ligature ß ẞ Ǆ ǅ",
    "e\u0301\u0301\u0301 zalgo h\u0335e\u0336l\u0337p\u0338",
]


def main(source, target):
    with open(os.path.join(source, "merges.txt"), encoding="utf8") as file:
        lines = file.read().split("\n")
    merges = lines[1 : 1 + MERGES]
    with open(os.path.join(source, "vocab.json"), encoding="utf8") as file:
        symbols = list(json.load(file))[:512]
    tokens = symbols + ["".join(merge.split()) for merge in merges] + ["<|startoftext|>", "<|endoftext|>"]
    folder = os.path.join(target, "tiny-clip")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vocab.json"), "w", encoding="utf8") as file:
        json.dump({token: i for i, token in enumerate(tokens)}, file, ensure_ascii=False)
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf8") as file:
        file.write("\n".join([lines[0], *merges]) + "\n")
    config = {"model_max_length": 77, "bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>",
              "unk_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "tokenizer_class": "CLIPTokenizer"}
    with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf8") as file:
        json.dump(config, file, indent=2)
        file.write("\n")
    tokenizer = CLIPTokenizer.from_pretrained(folder)
    recorded = [{"text": text, "ids": tokenizer(text).input_ids} for text in TEXTS]
    with open(os.path.join(target, "tiny-clip-ids.json"), "w", encoding="utf8") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in recorded) + "\n]\n")


main(sys.argv[1], sys.argv[2])
