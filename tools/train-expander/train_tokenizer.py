"""Makes tokenizer.json: byte-level byte-pair encoding (GPT-2's splitting rule) of 4,096 tokens over the grammar's pairs. Committed; runs again only when the grammar's words change.

    python3 train_tokenizer.py
"""
import os

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from grammar import MODES, Grammar

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = ["<|end|>", "<|prompt|>", *(f"<|{m}|>" for m in MODES)]
PAIRS = 200_000
VOCABULARY = 4096


def texts():
    g = Grammar(os.path.join(HERE, "lexicon.json"), 7)
    for _ in range(PAIRS):
        p, _, e = g.pair()
        yield " " + p
        yield " " + e


t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
t.decoder = decoders.ByteLevel()
t.train_from_iterator(texts(), trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
t.save(os.path.join(HERE, "tokenizer.json"), pretty=False)
n = [len(t.encode(x).ids) for _, x in zip(range(4000), texts())]
print(t.get_vocab_size(), "tokens; prompts", sum(n[::2]) / len(n[::2]), "expansions", sum(n[1::2]) / len(n[1::2]), "longest", max(n))
