#!/usr/bin/env python3
"""usage: make_golden.py MODEL_FOLDER: writes golden.safetensors there, the numbers another implementation must reproduce:
tokens, text states, UNet outputs, ten guided DDIM steps and the picture, in float32 arithmetic on the float16 weights."""
import json
import os
import sys

import torch

import captions
import nets
from schedule import Schedule, trailing
from tensor_file import load_tensors, save_tensors, to_float

PROMPT, GUIDANCE, STEPS, SIDE = "a red apple on a blue background, 3d render", 4.0, 10, 16


def load(folder, part, kind, file):
    model = kind(json.load(open(os.path.join(folder, part, "config.json"))))
    model.load_state_dict(to_float(load_tensors(os.path.join(folder, part, file))))
    return model.eval()


@torch.no_grad()
def main(folder):
    text = load(folder, "text_encoder", nets.CLIPTextModel, "model.safetensors")
    unet = load(folder, "unet", nets.UNet2DConditionModel, "diffusion_pytorch_model.safetensors")
    vae = load(folder, "vae", nets.AutoencoderKL, "diffusion_pytorch_model.safetensors")
    tokenize, schedule = captions.Tokenizer(os.path.join(folder, "tokenizer")), Schedule("cpu")
    ids = torch.tensor([tokenize(PROMPT), tokenize("")])
    context = text(ids)
    x = torch.randn(1, 8, SIDE, SIDE, generator=torch.Generator().manual_seed(7))
    out = dict(input_ids=ids, text_embeds=context, latents=x.clone(), timestep=torch.tensor([999]),
               unet_out_cond=unet(x, torch.tensor([999]), context[:1]), unet_out_501=unet(x, torch.tensor([501]), context[:1]))
    times = trailing(STEPS)
    for t, to in zip(times, times[1:]):
        now, then = torch.tensor([t]), torch.tensor([to])
        with_words, without = unet(x, now, context[:1]), unet(x, now, context[1:])
        x = schedule.step(x, without + GUIDANCE * (with_words - without), now, then)
    picture = vae.decode(x)
    out.update(ddim10_latents=x, ddim10_image=picture, vae_mean=vae.moments(picture.clamp(-1, 1))[0])
    about = {"prompt": PROMPT, "guidance": str(GUIDANCE), "steps": str(STEPS), "scheduler": "DDIM trailing"}
    save_tensors(os.path.join(folder, "golden.safetensors"), {name: value.contiguous() for name, value in out.items()}, about)


if __name__ == "__main__":
    main(sys.argv[1])
