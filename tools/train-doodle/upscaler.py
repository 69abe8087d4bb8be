"""A small network that doubles a picture's size, trained on the same scenes in a process of its own: input is a picture of
half the size as the model would draw it (through the VAE, or plainly shrunk), target the picture itself."""
import traceback

import torch
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

import captions
import paint
from context import Context, channels_last, cosine
from export import write_json
from feed import load_vae
from models import average, frozen_copy
from sampling import write_sheet
from tensor_file import save_tensors, to_half

CHANNELS, LAYERS = 32, 8
WORKERS = 4
CONFIG = {"_class_name": "DoodleUpscaler", "scale": 2, "in_channels": 3, "channels": CHANNELS, "layers": LAYERS, "activation": "relu"}
VAE_SHARE = 0.6


class Upscaler(nn.Module):
    """conv_in, `layers` 3x3 convolutions with ReLU in residual pairs, conv_out to 12 channels, pixel shuffle; added to the
    picture enlarged by nearest neighbour. Pictures are -1..1."""

    def __init__(self, channels=CHANNELS, layers=LAYERS):
        super().__init__()
        self.conv_in = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.ModuleList([nn.Conv2d(channels, channels, 3, padding=1) for _ in range(layers)])
        self.conv_out = nn.Conv2d(channels, 12, 3, padding=1)
        nn.init.zeros_(self.conv_out.weight)
        nn.init.zeros_(self.conv_out.bias)

    def forward(self, x):
        h = F.relu(self.conv_in(x))
        for first, second in zip(self.body[0::2], self.body[1::2]):
            h = h + second(F.relu(first(h)))
        return F.interpolate(x, scale_factor=2.0, mode="nearest") + F.pixel_shuffle(self.conv_out(h), 2)


def edges(x):
    return x[..., :, 1:] - x[..., :, :-1], x[..., 1:, :] - x[..., :-1, :]


@torch.no_grad()
def make_pairs(ctx, vae, painter, spec, count):
    cut = {name: value[:count] for name, value in spec.items()}
    big = painter(cut, 256)
    small = F.interpolate(big, scale_factor=.5, mode="bilinear", antialias=True, align_corners=False)
    through = int(VAE_SHARE * count)
    with ctx.autocast():
        small[:through] = vae.decode(vae.moments(channels_last(small[:through]))[0]).float()
    return small.clamp(-1, 1), big


def train_upscaler(ctx, vae, painter, specs, seconds):
    net = Upscaler().to(ctx.device)
    mean = frozen_copy(net)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0, fused=ctx.cuda)
    start, step, count = ctx.now(), 0, ctx.args.upscaler_batch
    last_log = ctx.now()
    while ctx.now() - start < seconds and not (ctx.args.max_steps and step >= ctx.args.max_steps):
        small, big = make_pairs(ctx, vae, painter, specs.get(timeout=120), count)
        for part in torch.randperm(count, device=ctx.device).chunk(max(1, count // 32)):
            done = (ctx.now() - start) / seconds
            for group in optimizer.param_groups:
                group["lr"] = 1.5e-3 * min(1, (step + 1) / 50) * cosine(done)
            with ctx.autocast():
                out = net(channels_last(small[part])).float()
            loss = (out - big[part]).abs().mean() + .5 * sum((a - b).abs().mean() for a, b in zip(edges(out), edges(big[part])))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            step += 1
            average(list(mean.parameters()), list(net.parameters()), step, .998)
        if ctx.now() - last_log > 10 or step < 10:
            ctx.log(f"upscaler {step} loss {loss.item():.4f}")
            last_log = ctx.now()
    report(ctx, mean, *make_pairs(ctx, vae, painter, specs.get(timeout=120), min(count, 64)), step)
    folder = ctx.path("export", "upscaler")
    save_tensors(f"{folder}/model.safetensors", to_half(mean.state_dict()))
    write_json(f"{folder}/config.json", CONFIG)


@torch.no_grad()
def report(ctx, net, small, big, step):
    def decibels(x):
        return -10 * torch.log10((((x.clamp(-1, 1) - big) / 2) ** 2).mean()).item()
    cubic = F.interpolate(small, scale_factor=2.0, mode="bicubic", align_corners=False)
    sharp = net(small)
    ctx.log(f"upscaler after {step} steps: {decibels(sharp):.2f} dB, bicubic {decibels(cubic):.2f} dB")
    sheet = torch.stack([big, cubic, sharp], 1).flatten(0, 1)[:24]
    write_sheet(ctx.path("export", "upscaler.png"), sheet, ["original", "bicubic", "upscaler"] * 8, columns=6)


def run_upscaler(args):
    """The whole of it: scenes from workers of its own, its own painter and VAE, so that nothing here can hurt the trainer."""
    ctx = Context(args, "upscaler")
    spawn = mp.get_context("spawn")
    stop, specs = spawn.Event(), spawn.Queue(maxsize=16)
    folder = captions.cut_data(args.data, ctx.path("cut-upscaler"), args.limit) if args.limit else args.data
    workers = [spawn.Process(target=captions.worker, args=(folder, args.bank, args.seed + 5000 + i, args.upscaler_chunk, specs, stop), daemon=True) for i in range(WORKERS)]
    for worker in workers:
        worker.start()
    try:
        painter = paint.Painter(paint.load_masters(ctx.data, ctx.device, args.limit, log=ctx.log), paint.Bank(args.bank, 256, ctx.device), ctx.device)
        train_upscaler(ctx, load_vae(ctx, args.init_vae), painter, specs, args.upscaler_seconds)
        ctx.mark("upscaler-done")
    except Exception:
        ctx.log("upscaler FAILED\n" + traceback.format_exc())
    finally:
        stop.set()
        for worker in workers:
            worker.terminate()
