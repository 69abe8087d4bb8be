#!/usr/bin/env python3
"""usage: pack.py BUILD OUT: joins pictures, names and colour statistics -> OUT/data.bin, OUT/meta.json"""
import glob
import json
import os
import re
import sys

DULL_KEYWORD = re.compile(r"^(face|emoji|symbol|sign|adorbs|object|tools?|information|.*emoji.*)$")
SKIPPED_LABELS = ("white flower", "japanese symbol for beginner", "part alternation mark")
MOST_KEYWORDS = 9


def plain_name(label):
    """Unicode's labels as people say them: 'flag: france' is 'flag of france'."""
    label = label.replace("’", "'").replace("“", "").replace("”", "")
    kind, _, rest = label.partition(": ")
    if not rest:
        return label
    if kind == "flag":
        return "flag of " + rest.replace("&", "and").replace("(", "").replace(")", "")
    if kind in ("person", "man", "woman", "people", "men", "women"):
        return f"{kind} with {rest}".replace("with beard", "with a beard").replace("with bald", "who is bald")
    if kind in ("family", "couple with heart", "kiss"):
        return f"{kind} of {rest}".replace("couple with heart of", "couple in love,")
    return label


def describe(picture, names):
    """A label as the captions need it: its names, the name without a colour, other names with weights, keywords."""
    own = [plain_name(name) for name in names["names"]]
    if own[0].endswith("o'clock"):
        own = ["clock", "wall clock"]
    keywords = [word for word in picture["kws"] if not DULL_KEYWORD.match(word) and word not in own]
    return dict(names=own, nocol=names["nocol"], alts=names["alts"], kws=keywords[:MOST_KEYWORDS])


def place_of(values, value):
    if value not in values:
        values.append(value)
    return values.index(value)


def read_parts(build):
    for index in glob.glob(os.path.join(build, "pictures-*.jsonl")):
        data = open(index.replace(".jsonl", ".bin"), "rb").read()
        for one in map(json.loads, open(index)):
            yield dict(one, bytes=data[one["off"]:one["off"] + one["len"]])


def main(build, out):
    pictures = json.load(open(os.path.join(build, "list.json")))
    names = json.load(open(os.path.join(build, "names.json")))
    drawn = sorted(read_parts(build), key=lambda one: one["n"])
    styles, groups, labels, images, label_at, offset = [], [], [], [], {}, 0
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "data.bin"), "wb") as packed:
        for one in drawn:
            picture = pictures[one["n"]]
            if picture["label"] in SKIPPED_LABELS or (picture["set"] == "openclipart" and one["sat"] < 0.1):
                continue
            key = (picture["label"], picture["group"] == "icons")
            description = describe(picture, names[picture["label"]])
            if key not in label_at:
                label_at[key] = len(labels)
                labels.append(description)
            elif not labels[label_at[key]]["kws"]:
                labels[label_at[key]]["kws"] = description["kws"]
            packed.write(one["bytes"])
            colours = {name: one[name] for name in ("cov", "hue", "hfrac", "sat", "blk", "wht", "gry", "brn", "val")}
            images.append(dict(o=offset, n=one["len"], s=place_of(styles, picture["style"]), g=place_of(groups, picture["group"]), l=label_at[key], **colours))
            offset += one["len"]
    with open(os.path.join(out, "meta.json"), "w") as meta:
        json.dump(dict(styles=styles, groups=groups, labels=labels, images=images), meta, separators=(",", ":"))
    print(f"{len(images)} pictures, {len(labels)} labels, {offset / 2**20:.1f} MiB")


if __name__ == "__main__":
    main(*sys.argv[1:3])
