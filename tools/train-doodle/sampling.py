"""Draws the fixed prompts with the current weights into one sheet."""
import os
import textwrap
import time

import torch

import schedule

HERE = os.path.dirname(os.path.abspath(__file__))
# beside this file where run.sh has put a copy, else where the model keeps them
PROMPTS_FILE = next(p for p in (os.path.join(HERE, "prompts.txt"), os.path.join(HERE, "../../models/doodle/prompts.txt")) if os.path.exists(p))
PROMPTS = [line.strip() for line in open(PROMPTS_FILE, encoding="utf-8") if line.strip()]


@torch.no_grad()
def sample(ctx, models, vae, unet, prompts, steps, guidance, shape=(256, 256), seed=1, part=64):
    out = []
    for i in range(0, len(prompts), part):
        context = models.encode(prompts[i:i + part])
        n = len(context)
        generator = torch.Generator().manual_seed(seed + i)
        x = torch.randn(n, 8, shape[0] // 8, shape[1] // 8, generator=generator).to(ctx.device)
        plain = models.encode([""]).expand(n, -1, -1)
        times = schedule.trailing(steps)
        for t, to in zip(times, times[1:]):
            now, then = (torch.full((n,), value, device=ctx.device) for value in (t, to))
            with ctx.autocast():
                if guidance == 1:
                    v = unet(x, now, context).float()
                else:
                    both = unet(torch.cat([x, x]), torch.cat([now, now]), torch.cat([context, plain])).float()
                    v = both[n:] + guidance * (both[:n] - both[n:])
            x = models.schedule.step(x, v, now, then)
        with ctx.autocast():
            out.append(vae.decode(x).float())
    return torch.cat(out)


def draw_grid(ctx, models, name, unet=None, steps=None, guidance=None, step=0, shape=(256, 256)):
    began = time.time()
    steps, guidance = steps or ctx.args.steps, ctx.args.guidance if guidance is None else guidance
    pictures = sample(ctx, models, models.vae, unet or models.mean_unet, PROMPTS, steps, guidance, shape)
    title = f"{name} {shape[1]}x{shape[0]}, {steps} steps, guidance {guidance}, {ctx.now():.0f} s, {step} training steps"
    write_sheet(ctx.path("export", f"grid-{name}.png"), pictures, PROMPTS, title=title)
    ctx.log(f"{title}; drawn in {time.time() - began:.1f} s")


def draw_other_shapes(ctx, models, name, unet=None, steps=None, guidance=None, step=0):
    with ctx.odd_shape():
        for kind, shape in (("wide", (256, 384)), ("tall", (384, 256))):
            draw_grid(ctx, models, f"{name}-{kind}", unet, steps, guidance, step, shape)


def write_sheet(path, x, texts, columns=8, title=""):
    from PIL import Image, ImageDraw
    x = ((x.detach().float().cpu().clamp(-1, 1) + 1) * 127.5).round().byte().permute(0, 2, 3, 1).numpy()
    height, width = x.shape[1:3]
    below = 26
    rows = (len(x) + columns - 1) // columns
    sheet = Image.new("RGB", (columns * (width + 6), rows * (height + 6 + below) + 14), (235, 235, 235))
    pen = ImageDraw.Draw(sheet)
    pen.text((4, 1), title, fill=(0, 0, 0))
    for i, picture in enumerate(x):
        left, top = (i % columns) * (width + 6) + 3, 14 + (i // columns) * (height + 6 + below) + 3
        sheet.paste(Image.fromarray(picture), (left, top))
        for j, line in enumerate(textwrap.wrap(texts[i], max(10, width // 6))[:2]):
            pen.text((left, top + height + 1 + j * 11), line, fill=(0, 0, 0))
    sheet.save(path.replace(".png", ".jpg"), quality=88)
