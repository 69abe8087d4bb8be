#!/usr/bin/env python3
"""Trains doodle in a fixed wall-clock time: base model, few-step adapter, style adapter; beside them the compiler's warm-up,
the feeder and the upscaler as processes of their own. See README.md."""
import argparse
import importlib
import os
import sys
import time
import traceback


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", required=True, help="folder with data.bin, meta.json, tokenizer/ (made by dataset/build.sh)")
    add("--work", default="train-work", help="logs, snapshots and results")
    add("--seconds", type=float, default=1560, help="length of the whole run")
    add("--turbo-seconds", type=float, default=330)
    add("--style-seconds", type=float, default=85)
    add("--upscaler-seconds", type=float, default=60, help="0: keep the upscaler there is")
    add("--upscaler-before-end", type=float, default=120, help="when, before the end, the upscaler starts beside the other stages")
    add("--reserve", type=float, default=12, help="seconds kept for the last files")
    add("--size", default="full", choices=["full", "tiny"])
    add("--init-from", default="", help="a model folder to go on from")
    add("--init-vae", default="", help="the VAE is taken over, not trained")
    add("--init-text", default="")
    add("--init-unet", default="")
    add("--init-turbo", default="", help="a few-step adapter to go on from, of these or of earlier weights")
    add("--init-style", default="", help="likewise a style adapter")
    add("--stages", default="base,turbo,style", help="adapters alone can be trained on a processor, in an hour: --stages turbo")
    add("--batch", type=int, default=384)
    add("--lr", type=float, default=8e-4)
    add("--warmup", type=int, default=400)
    add("--ema", type=float, default=0.9995)
    add("--drop", type=float, default=0.1, help="share of captions left out, for guidance")
    add("--ring", type=int, default=200_000, help="latents kept on the device")
    add("--first-fill", type=int, default=12_000)
    add("--fast-rate", type=float, default=2500, help="latents a second while the ring fills")
    add("--slow-rate", type=float, default=700)
    add("--other-shapes-from", type=float, default=0.0, help="share of the base stage after which other sizes and aspect ratios are mixed in; above 1: never")
    add("--turbo-steps", type=int, default=6)
    add("--turbo-parts", type=int, default=3, help="the teacher's steps for one of the student's")
    add("--turbo-guidance", type=float, default=3.5)
    add("--turbo-rank", type=int, default=16)
    add("--turbo-lr", type=float, default=6e-4)
    add("--turbo-batch", type=int, default=384)
    add("--style-rank", type=int, default=4)
    add("--style-lr", type=float, default=1e-3)
    add("--upscaler-batch", type=int, default=256)
    add("--steps", type=int, default=25, help="steps of the base model's sheets")
    add("--guidance", type=float, default=4.0)
    add("--grid-every", type=float, default=150)
    add("--save-every", type=float, default=240)
    add("--workers", type=int, default=0)
    add("--bank", type=int, default=160, help="painted backgrounds of each kind")
    add("--chunk", type=int, default=1024)
    add("--upscaler-chunk", type=int, default=512)
    add("--seed", type=int, default=0)
    add("--limit", type=int, default=0, help="smoke test: use only the first pictures")
    add("--max-steps", type=int, default=0, help="smoke test: end each stage after so many steps")
    add("--no-compile", action="store_true")
    args = parser.parse_args()
    if args.init_from:
        args.init_vae = args.init_vae or os.path.join(args.init_from, "vae/diffusion_pytorch_model.safetensors")
        args.init_text = args.init_text or os.path.join(args.init_from, "text_encoder/model.safetensors")
        args.init_unet = args.init_unet or os.path.join(args.init_from, "unet/diffusion_pytorch_model.safetensors")
    args.began = time.time()
    return args


def main():
    args = arguments()
    import torch
    import torch.multiprocessing as mp
    from base import train_base
    from context import Context
    from export import write_model
    from feed import Feed, load_vae
    from models import Models

    ctx = Context(args)
    ctx.log(f"torch {torch.__version__} on {torch.cuda.get_device_name() if ctx.cuda else 'cpu'}, {args.seconds:.0f} s")
    spawn = mp.get_context("spawn")
    feed = Feed(ctx)
    helpers = []
    if not args.no_compile:
        helpers.append(spawn.Process(target=start_warm, args=(args,)))
        helpers[-1].start()
    finished = False
    try:
        models = Models(ctx)
        models.vae, models.steps = load_vae(ctx, args.init_vae), 0
        style_end = lambda: ctx.total() - args.reserve
        turbo_end = lambda: style_end() - args.style_seconds
        base_end = lambda: turbo_end() - args.turbo_seconds
        stages = args.stages.split(",")
        if "base" in stages:
            train_base(ctx, models, feed, base_end)
            write_model(ctx, models, ctx.path("model"))
            ctx.mark("base-done")
        if "turbo" in stages:
            feed.fill(args.turbo_batch)
        # the style's latents arrive while the few-step adapter trains
        feed.kinds.value, feed.rate.value = 2 if "style" in stages else 0, args.slow_rate
        if args.upscaler_seconds > 0:
            helpers.append(spawn.Process(target=start_upscaler, args=(args, ctx.total() - args.upscaler_before_end)))
            helpers[-1].start()
        for name, end in (("turbo", turbo_end), ("style", style_end)):
            if name not in stages:
                continue
            try:  # imported late: a slip in a later stage can still be mended while the base model trains
                getattr(importlib.import_module(name), f"train_{name}")(ctx, models, feed, end)
                ctx.mark(f"{name}-done")
            except Exception:
                ctx.log(f"{name} FAILED (what was made before stays)\n" + traceback.format_exc())
        if args.upscaler_seconds > 0:
            helpers[-1].join(timeout=max(1.0, ctx.total() + 20 - ctx.now()))
        finished = True
    except Exception:
        ctx.log("FAILED\n" + traceback.format_exc())
    finally:
        feed.close()
        for helper in helpers:
            if helper.is_alive():
                helper.terminate()
    ctx.log("done" if finished else "stopped")
    ctx.mark("DONE" if finished else "STOPPED")
    sys.exit(0 if finished else 1)


def start_warm(args):
    from warm_compile import warm
    warm(args)


def start_upscaler(args, at):
    from upscaler import run_upscaler
    time.sleep(0 if args.max_steps else max(0.0, args.began + at - time.time()))
    run_upscaler(args)


if __name__ == "__main__":
    main()
