"""A small classifier of the things in things.txt, trained on the data set's own pictures of them. For judging only: it never ships."""
import json
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 64
HERE = os.path.dirname(os.path.abspath(__file__))
THINGS = open(os.path.join(HERE, "things.txt"), encoding="utf-8").read().split("\n")[:-1]


class Recogniser(nn.Module):
    def __init__(self, classes):
        super().__init__()
        layers, before = [], 3
        for width, stride in ((24, 2), (48, 2), (48, 1), (96, 2), (96, 1), (128, 2)):
            layers += [nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.GroupNorm(8, width), nn.ReLU()]
            before = width
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def load_pictures(folder):
    """-> pictures (n, 4, SIZE, SIZE) in 0..1 and the thing each shows; a label counts if its first or a sure other name is the thing"""
    import io

    import numpy as np
    from PIL import Image
    meta = json.load(open(os.path.join(folder, "meta.json"), encoding="utf-8"))
    class_of = {}
    for i, label in enumerate(meta["labels"]):
        names = {label["names"][0]} | {name for name, sure in label["alts"] if sure >= 1}
        known = [THINGS.index(name) for name in names if name in THINGS]
        if known:
            class_of[i] = known[0]
    chosen = [p for p in meta["images"] if p["l"] in class_of and meta["styles"][p["s"]] not in ("silhouette", "badge")]
    data = open(os.path.join(folder, "data.bin"), "rb")
    pictures = []
    for p in chosen:
        data.seek(p["o"])
        picture = Image.open(io.BytesIO(data.read(p["n"]))).convert("RGBA").resize((SIZE, SIZE), Image.LANCZOS)
        pictures.append(torch.from_numpy(np.asarray(picture).copy()).permute(2, 0, 1))
    return torch.stack(pictures).float() / 255, torch.tensor([class_of[p["l"]] for p in chosen])


def vary(pictures):
    """Moved, turned, flipped, tinted, softened, on white or one colour: so that place, background and texture do not decide."""
    n = len(pictures)
    turn, size = (torch.rand(n) - .5) * .5, 1 / (.6 + .4 * torch.rand(n))
    flip = torch.where(torch.rand(n) < .5, -1.0, 1.0)
    place = (torch.rand(n, 2) - .5) * .3
    rows = torch.stack([torch.stack([flip * size * turn.cos(), -size * turn.sin(), place[:, 0]], 1),
                        torch.stack([flip * size * turn.sin(), size * turn.cos(), place[:, 1]], 1)], 1)
    colour, alpha = pictures[:, :3] * pictures[:, 3:], pictures[:, 3:]
    moved = F.grid_sample(torch.cat([colour, alpha], 1), F.affine_grid(rows, pictures.shape, align_corners=False), align_corners=False)
    ground = torch.where(torch.rand(n, 1, 1, 1) < .6, torch.ones(n, 3, 1, 1), torch.rand(n, 3, 1, 1))
    x = moved[:, :3] + ground * (1 - moved[:, 3:])
    x = (x * (1 + .15 * torch.randn(n, 3, 1, 1))).clamp(0, 1)
    soft = F.interpolate(F.avg_pool2d(x, 2), scale_factor=2.0, mode="bilinear", align_corners=False)
    x = torch.where(torch.rand(n, 1, 1, 1) < .5, soft, x)
    return (x + .03 * torch.randn_like(x)).clamp(0, 1) * 2 - 1
