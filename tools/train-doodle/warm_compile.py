"""Compiles the training steps in a process of their own, on random weights, so that the trainer later finds the
compiler's results in the cache on disk and loses seconds instead of minutes. Marks what is ready with a file."""
import traceback

import torch

import lora
from base import make_loss
from context import Context, channels_last
from models import Models, frozen_copy
from turbo import make_student_loss, make_teacher


def warm(args):
    args.init_text = args.init_unet = ""
    ctx = Context(args, "compile")
    try:
        models = Models(ctx)
        for name, work in (("base", warm_base), ("turbo", warm_turbo)):
            work(ctx, models)
            ctx.mark(f"warm-{name}")
            ctx.log(f"compiled for {name}")
    except Exception:
        ctx.log("COMPILING FAILED (training goes on without)\n" + traceback.format_exc())


def noise(ctx, count):
    return channels_last(torch.randn(count, 8, 32, 32, device=ctx.device))


def warm_base(ctx, models):
    count = ctx.args.batch
    loss_of = torch.compile(make_loss(models.unet, models.text, models.schedule), dynamic=False)
    ids = models.empty[None].expand(count, -1).contiguous()
    t = torch.arange(count, device=ctx.device) % 1000
    for _ in range(2):
        with ctx.autocast():
            loss, _ = loss_of(noise(ctx, count), ids, t, noise(ctx, count))
        loss.backward()


def warm_turbo(ctx, models):
    count = ctx.args.turbo_batch
    student = frozen_copy(models.mean_unet).train()
    lora.Adapter(student, ctx.args.turbo_rank)
    teacher = torch.compile(make_teacher(models.mean_unet, ctx.args.turbo_guidance), dynamic=False)
    loss_of = torch.compile(make_student_loss(student), dynamic=False)
    t = torch.arange(count, device=ctx.device) % 1000
    context = torch.randn(count, 77, models.text_config["hidden_size"], device=ctx.device)
    for _ in range(2):
        with torch.no_grad(), ctx.autocast():
            v = teacher(noise(ctx, count), t, context, context.clone())
        with ctx.autocast():
            loss, _, _ = loss_of(noise(ctx, count), t, context, v)
        loss.backward()
