"""Builds the text encoder and the UNet, from nothing or from earlier weights, each with its running average."""
import copy
import json
import os

import torch

import captions
import nets
from schedule import Schedule
from tensor_file import load_tensors, to_float, wait_for


class Models:
    def __init__(self, ctx):
        args = ctx.args
        self.ctx = ctx
        self.vocabulary = len(json.load(open(os.path.join(args.data, "tokenizer", "vocab.json"), encoding="utf-8")))
        self.tokenize = captions.Tokenizer(os.path.join(args.data, "tokenizer"))
        self.empty = torch.tensor(self.tokenize(""), device=ctx.device)
        self.text_config, self.unet_config, self.vae_config = nets.configs(args.size, self.vocabulary)
        self.schedule = Schedule(ctx.device)
        torch.manual_seed(args.seed)
        self.text, self.unet = nets.CLIPTextModel(self.text_config), nets.UNet2DConditionModel(self.unet_config)
        nets.init_text(self.text)
        nets.init_unet(self.unet)
        self._load(self.text, args.init_text)
        self._load(self.unet, args.init_unet)
        self.text, self.unet = self.text.to(ctx.device), self.unet.to(ctx.device).to(memory_format=torch.channels_last)
        self.mean_text, self.mean_unet = frozen_copy(self.text), frozen_copy(self.unet)
        ctx.log(f"parameters: text {nets.count(self.text) / 1e6:.2f} M, unet {nets.count(self.unet) / 1e6:.2f} M")

    def _load(self, model, path):
        if not path:
            return
        wait_for(path)
        missing = model.load_state_dict(to_float(load_tensors(path)), strict=False).missing_keys
        self.ctx.log("weights from", os.path.basename(path), f"({len(missing)} tensors missing: left as initialised)" if missing else "")

    @torch.no_grad()
    def encode(self, prompts, text=None):
        ids = torch.tensor([self.tokenize(p) for p in prompts], device=self.ctx.device)
        with self.ctx.autocast():
            return (text or self.mean_text)(ids).float()


def frozen_copy(model):
    return copy.deepcopy(model).eval().requires_grad_(False)


@torch.no_grad()
def average(means, values, step, most):
    """Exponential average whose window grows with the run until `most`."""
    torch._foreach_lerp_(means, [v.detach() for v in values], 1 - min(most, (1 + step) / (10 + step)))
