#!/usr/bin/env python3
"""usage: score.py RECOGNISER.pt FOLDER_OF_THINGS FOLDER_OF_COLOURS: how often drawn things are recognised, how often the
dominant colour is the one asked for. The folders are draw-pictures.mjs's (--kind things, --kind colours)."""
import glob
import os
import sys

import numpy as np
import torch
from PIL import Image

from recogniser import SIZE, THINGS, Recogniser

# upper ends of the hues that people call so, in degrees; dark orange counts as brown
HUES = ((14, "red"), (41, "orange"), (66, "yellow"), (165, "green"), (196, "teal"), (255, "blue"), (300, "purple"), (344, "pink"), (361, "red"))
LEAST_SATURATION, LEAST_VALUE = 0.25, 0.2
NEAR = 12  # degrees by which a hue may miss its name: purple and blue, pink and red have no sharp border


def pictures(folder):
    return sorted(glob.glob(os.path.join(folder, "*.png")))


def asked(path):
    return os.path.basename(path)[:-len(".png")].split("-", 2)[2].replace("-", " ")


def recognise(recogniser, folder):
    saved = torch.load(recogniser, weights_only=True)
    net = Recogniser(len(THINGS))
    net.load_state_dict(saved["weights"])
    first = third = 0
    files = pictures(folder)
    for path in files:
        picture = Image.open(path).convert("RGB").resize((SIZE, SIZE), Image.LANCZOS)
        x = torch.from_numpy(np.asarray(picture).copy()).permute(2, 0, 1)[None].float() / 127.5 - 1
        with torch.no_grad():
            best = net(x)[0].topk(3).indices.tolist()
        first += THINGS[best[0]] == asked(path)
        third += asked(path) in [THINGS[i] for i in best]
    return first, third, len(files), saved["held_out"]


def main_hue(path):
    """The hue of the coloured pixels, weighted by how coloured they are; the white ground has none."""
    hsv = np.asarray(Image.open(path).convert("RGB").convert("HSV"), np.float32)
    hue, saturation, value = hsv[..., 0] / 255 * 360, hsv[..., 1] / 255, hsv[..., 2] / 255
    weight = np.where((saturation > LEAST_SATURATION) & (value > LEAST_VALUE), saturation * value, 0)
    histogram, _ = np.histogram(hue, bins=36, range=(0, 360), weights=weight)
    wide = sum(np.roll(histogram, shift) for shift in (-2, -1, 0, 1, 2))
    return float(np.argmax(wide) * 10 + 5)


def names_of(hue):
    return {next(name for end, name in HUES if (hue + miss) % 360 < end) for miss in (-NEAR, 0, NEAR)}


def right_colours(folder):
    files = pictures(folder)
    wrong = [f"{asked(path)} ({'/'.join(sorted(names_of(main_hue(path))))})" for path in files if asked(path).split(" ")[0] not in names_of(main_hue(path))]
    return len(files) - len(wrong), len(files), wrong


def main(recogniser, things, colours):
    first, third, count, trust = recognise(recogniser, things)
    right, all_colours, wrong = right_colours(colours)
    print(f"recognised: {first} of {count}; among the judge's three best guesses: {third} of {count} (the judge itself knows {trust:.0%} of held-out pictures)")
    print(f"colour right: {right} of {all_colours}" + (f"; wrong: {', '.join(wrong)}" if wrong else ""))


if __name__ == "__main__":
    main(*sys.argv[1:4])
