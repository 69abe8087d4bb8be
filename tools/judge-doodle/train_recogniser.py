#!/usr/bin/env python3
"""usage: train_recogniser.py DATA_FOLDER OUT.pt [SECONDS]: trains the judge's classifier; a few minutes on one processor core.
One picture in eight is held out, whole, and says how far the judge itself can be trusted."""
import sys
import time

import torch
import torch.nn.functional as F

from recogniser import THINGS, Recogniser, load_pictures, vary

BATCH = 64


def main(folder, out, seconds):
    torch.manual_seed(0)
    pictures, things = load_pictures(folder)
    held = torch.arange(len(things)) % 8 == 0
    train = (~held).nonzero()[:, 0]
    weight = 1 / torch.bincount(things[train], minlength=len(THINGS)).clamp(min=1).float()
    net = Recogniser(len(THINGS))
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.02)
    began = said = time.time()
    step = 0
    while (done := (time.time() - began) / seconds) < 1:
        pick = train[torch.multinomial(weight[things[train]], BATCH, replacement=True)]
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 50) * (1 - done)
        loss = F.cross_entropy(net(vary(pictures[pick])), things[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if time.time() - said > 20:
            said = time.time()
            print(f"{said - began:.0f} s, step {step}, loss {loss.item():.3f}, held out {accuracy(net, pictures[held], things[held]):.3f}", flush=True)
    right = accuracy(net, pictures[held], things[held])
    torch.save({"weights": net.state_dict(), "held_out": right, "pictures": len(things)}, out)
    print(f"{len(things)} pictures of {len(THINGS)} things, {step} steps; held-out pictures recognised: {right:.3f}")


@torch.no_grad()
def accuracy(net, pictures, things):
    torch.manual_seed(1)
    rounds = [(net(vary(pictures)).argmax(1) == things).float().mean().item() for _ in range(4)]
    torch.seed()
    return sum(rounds) / len(rounds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 300)
