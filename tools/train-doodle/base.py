"""Stage 1: the base model. v-prediction with min-SNR weights; starts eager, and goes over to the compiled step as soon
as warm_compile.py, running beside it, has filled the compiler's cache."""
import random

import torch

from careful_step import careful_step, finite
from context import cosine
from models import average
from sampling import draw_grid, draw_other_shapes
from schedule import STEPS
from export import write_snapshot

SNR_CAP, LEAST_WEIGHT = 5.0, 0.35
MIDDLE_TIME, MIDDLE_WIDTH, TIME_ENTRIES = 450, 180, 8192
OTHER_SHAPES_EVERY = 4  # steps
OTHER_SHAPES_EVERY_EAGER = 2  # while squares are no cheaper than they
OTHER_SHAPES_BATCH = 0.5  # of a batch: these steps are never compiled
MOST_SKIPPED = 0.1  # of all steps, before a run is given up
FAST_FILL = 100_000  # latents wanted soon; after that the feeder only refreshes


def make_loss(unet, text, schedule):
    def loss(z, ids, t, noise):
        a, s = schedule.at(t)
        predicted = unet(a * z + s * noise, t, text(ids))
        error = ((predicted.float() - (a * noise - s * z)) ** 2).mean((1, 2, 3))
        snr = schedule.snr[t]
        weight = (snr.clamp(max=SNR_CAP) / (snr + 1)).clamp(min=LEAST_WEIGHT)
        return (weight * error).mean(), error.mean().detach()
    return loss


def time_table(device):
    """Times by equal probability: half of it uniform, half around the middle, where shapes are decided."""
    t = torch.arange(STEPS, device=device)
    density = 1 / STEPS + torch.softmax(-((t - MIDDLE_TIME) / MIDDLE_WIDTH) ** 2 / 2, 0)
    share = torch.cumsum(density / density.sum(), 0)
    return torch.searchsorted(share, (torch.arange(TIME_ENTRIES, device=device) + .5) / TIME_ENTRIES).clamp(max=STEPS - 1)


def spread_times(count, table):
    """One random time out of each of `count` equally probable parts: less noise in the gradient than independent draws."""
    share = (torch.arange(count, device=table.device) + torch.rand(count, device=table.device)) / count
    return table[(share * TIME_ENTRIES).long().clamp(max=TIME_ENTRIES - 1)]


def make_optimizer(ctx, models):
    embedding = models.text.text_model.embeddings.token_embedding.weight
    text = [p for p in models.text.parameters() if p is not embedding]
    matrices = [p for p in models.unet.parameters() if p.ndim >= 2]
    vectors = [p for p in models.unet.parameters() if p.ndim < 2]
    groups = [dict(params=matrices, weight_decay=0.02, factor=1.0), dict(params=vectors, weight_decay=0.0, factor=1.0),
              dict(params=text, weight_decay=0.0, factor=0.4), dict(params=[embedding], weight_decay=0.0, factor=0.15)]
    return torch.optim.AdamW(groups, lr=ctx.args.lr, betas=(0.9, 0.98), fused=True)


def train_base(ctx, models, feed, end_of_stage):
    args = ctx.args
    feed.fill(args.first_fill)
    ctx.log(f"first latents: {feed.square.full}, deviation {feed.square.latents[:feed.square.full].float().std():.3f}")
    loss_of = eager_loss = make_loss(models.unet, models.text, models.schedule)
    values = [*models.unet.parameters(), *models.text.parameters()]
    means = [*models.mean_unet.parameters(), *models.mean_text.parameters()]
    optimizer = make_optimizer(ctx, models)
    step, start, seen, total, error_sum, count = 0, ctx.now(), 0, 0.0, 0.0, 0
    last_log, last_grid, last_save = ctx.now(), ctx.now(), ctx.now()
    compiled, skipped, times = False, torch.zeros((), device=ctx.device), time_table(ctx.device)
    while True:
        done = (ctx.now() - start) / max(1e-6, end_of_stage() - start)
        if done >= 1 or (args.max_steps and step >= args.max_steps):
            break
        if not compiled and ctx.marked("warm-base"):
            ctx.log("going over to the compiled step")
            loss_of, compiled = torch.compile(eager_loss, dynamic=False), True
        feed.take()
        feed.rate.value = args.fast_rate if feed.square.full < min(args.ring - args.chunk, FAST_FILL) else args.slow_rate
        feed.kinds.value = 1 if done >= args.other_shapes_from - .08 else 0
        every = OTHER_SHAPES_EVERY if compiled else OTHER_SHAPES_EVERY_EAGER
        other = done >= args.other_shapes_from and feed.others and step % every == 0
        ring = random.choice(list(feed.others.values())) if other else feed.square
        z, ids = ring.draw(int(args.batch * OTHER_SHAPES_BATCH) if other else args.batch, models.empty, args.drop)
        rate = args.lr * min(1, (step + 1) / args.warmup) * cosine(done)
        for group in optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        t, noise = spread_times(len(z), times), torch.randn_like(z)
        optimizer.zero_grad(set_to_none=True)
        with ctx.odd_shape(bool(other)):
            try:
                with ctx.autocast():
                    loss, error = (eager_loss if other else loss_of)(z, ids, t, noise)
            except Exception as problem:
                if other or loss_of is eager_loss:
                    raise
                ctx.log("compiled step failed, eager from here:", type(problem).__name__, str(problem)[:300])
                loss_of = eager_loss
                continue
            loss.backward()
        norm, left_out = careful_step(optimizer, values)
        skipped += left_out
        step += 1
        average(means, values, step, args.ema)
        seen += len(z)
        total, error_sum, count = total + finite(loss), error_sum + finite(error), count + 1
        if step <= 3 or ctx.now() - last_log > 10:
            ctx.log(f"base {step} loss {float(total) / count:.4f} mse {float(error_sum) / count:.4f} norm {float(norm):.2f} lr {rate:.1e} "
                    f"{seen / max(1e-3, ctx.now() - last_log):.0f} samples/s ring {feed.square.full} others {sum(r.full for r in feed.others.values())}")
            if skipped > 0:
                ctx.log(f"skipped steps so far, gradient not finite: {skipped:.0f}")
            if skipped > 50 + MOST_SKIPPED * step:
                raise RuntimeError("the gradient is not finite again and again")
            last_log, seen, total, error_sum, count = ctx.now(), 0, 0.0, 0.0, 0
        if ctx.now() - last_grid > args.grid_every:
            draw_grid(ctx, models, "base", step=step)
            last_grid = ctx.now()
        if ctx.now() - last_save > args.save_every:
            write_snapshot(ctx, models)
            last_save = ctx.now()
    models.steps = step
    draw_grid(ctx, models, "base", step=step)
    draw_other_shapes(ctx, models, "base", step=step)
