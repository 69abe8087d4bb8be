"""Stage 2: the few-step adapter. The student starts at pure noise and walks its own few steps; at every stop the guided
teacher walks the same stretch in smaller steps from the student's own position, and the student learns to land there.
Teaching on the student's own path keeps its errors from adding up, and guidance is built in."""
import random

import torch

import lora
from careful_step import careful_step, finite
from context import channels_last, cosine
from models import average, frozen_copy
from sampling import draw_grid, draw_other_shapes
from schedule import STEPS, trailing
from tensor_file import save_tensors, to_half

HUBER = 0.03
SAVE_EVERY = 60  # seconds
OTHER_SHAPES_EVERY, OTHER_SHAPES_BATCH = 4, 0.33  # steps that are never compiled, so fewer and smaller


def make_teacher(unet, guidance):
    def teacher(x, t, context, plain):
        both = unet(torch.cat([x, x]), torch.cat([t, t]), torch.cat([context, plain])).float()
        with_words, without = both.chunk(2)
        return without + guidance * (with_words - without)
    return teacher


def make_student_loss(student):
    def loss(x, t, context, target):
        predicted = student(x, t, context).float()
        error = ((predicted - target) ** 2).mean((1, 2, 3))
        return ((error + HUBER ** 2).sqrt() - HUBER).mean(), error.mean().detach(), predicted.detach()
    return loss


def stops(steps, parts):
    """For each of the student's steps: its time, the teacher's times in between, and where it lands."""
    times = trailing(steps)
    rows = []
    for t, to in zip(times, times[1:]):
        last = -1 if to == STEPS else to
        between = [t + round((last - t) * i / parts) for i in range(1, parts)]
        rows.append([t, *between, to])
    return torch.tensor(rows)


class Walk:
    """Pictures of one shape on their way from noise, each at one of the student's stops."""

    def __init__(self, ctx, models, ring, size, table):
        self.ctx, self.models, self.ring, self.size, self.table = ctx, models, ring, size, table
        self.stage = torch.arange(size, device=ctx.device) % len(table)
        z, self.context = self._draw()
        self.x = models.schedule.add_noise(z, torch.randn_like(z), table[self.stage, 0])
        self.plain = models.encode([""]).expand(size, -1, -1).contiguous()

    @torch.no_grad()
    def _draw(self):
        z, ids = self.ring.draw(self.size, self.models.empty, 0.03)
        with self.ctx.autocast():
            return z, self.models.mean_text(ids).float()

    def times(self):
        return self.table[self.stage].T.contiguous()  # a row for each stop: the compiled steps expect contiguous times

    @torch.no_grad()
    def ask(self, teacher, times):
        """The velocity that lands in one step where the teacher lands in several."""
        landed = self.x
        for t, to in zip(times, times[1:]):
            with self.ctx.autocast():
                v = teacher(landed, t, self.context, self.plain)
            landed = self.models.schedule.step(landed, v, t, to)
        return self.models.schedule.velocity_between(self.x, landed, times[0], times[-1])

    @torch.no_grad()
    def go_on(self, predicted, times):
        """Everyone walks on by the student's own prediction; who has arrived (or got lost) starts anew."""
        x = self.models.schedule.step(self.x, predicted, times[0], times[-1])
        self.stage = torch.where(x.isfinite().flatten(1).all(1), (self.stage + 1) % len(self.table), 0)
        fresh = self.stage == 0
        _, words = self._draw()
        self.x = channels_last(torch.where(fresh.view(-1, 1, 1, 1), torch.randn_like(x), x))
        self.context = torch.where(fresh.view(-1, 1, 1), words, self.context)


def train_turbo(ctx, models, feed, end_of_stage):
    args = ctx.args
    student = frozen_copy(models.mean_unet).train()
    adapter = lora.Adapter(student, args.turbo_rank, args.init_turbo)
    values = adapter.values
    ctx.log(f"turbo adapter: {sum(p.numel() for p in values) / 1e6:.2f} M parameters")
    optimizer = torch.optim.AdamW(values, lr=args.turbo_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    eager = make_teacher(models.mean_unet, args.turbo_guidance), make_student_loss(student)
    fast = eager
    if ctx.marked("warm-turbo"):
        ctx.log("turbo: compiled teacher and student")
        fast = tuple(torch.compile(part, dynamic=False) for part in eager)
    table = stops(args.turbo_steps, args.turbo_parts).to(ctx.device)
    square = Walk(ctx, models, feed.square, args.turbo_batch, table)
    others = [Walk(ctx, models, ring, max(1, int(args.turbo_batch * OTHER_SHAPES_BATCH)), table) for ring in feed.others.values()]
    step, start, last_log, total, errors, count = 0, ctx.now(), ctx.now(), 0.0, 0.0, 0
    last_save, skipped = ctx.now(), torch.zeros((), device=ctx.device)
    while True:
        done = (ctx.now() - start) / max(1e-6, end_of_stage() - start)
        if done >= 1 or (args.max_steps and step >= args.max_steps):
            break
        other = bool(others) and step % OTHER_SHAPES_EVERY == 0
        walk = random.choice(others) if other else square
        teacher, loss_of = eager if other else fast
        times = walk.times()
        rate = args.turbo_lr * min(1, (step + 1) / 40) * cosine(done, .03)
        for group in optimizer.param_groups:
            group["lr"] = rate
        adapter.write()
        with ctx.odd_shape(other):
            target = walk.ask(teacher, times)
            with ctx.autocast():
                loss, error, predicted = loss_of(walk.x, times[0], walk.context, target)
            loss.backward()
        adapter.read_gradients()
        _, left_out = careful_step(optimizer, values)
        step, skipped = step + 1, skipped + left_out
        average(adapter.means, values, step, .995)
        walk.go_on(predicted, times)
        total, errors, count = total + finite(loss), errors + finite(error), count + 1
        if step <= 3 or ctx.now() - last_log > 10:
            ctx.log(f"turbo {step} loss {float(total) / count:.4f} mse {float(errors) / count:.4f} lr {rate:.1e} {count / max(1e-3, ctx.now() - last_log):.1f} steps/s, {float(skipped):.0f} left out")
            last_log, total, errors, count = ctx.now(), 0.0, 0.0, 0
        if ctx.now() - last_save > SAVE_EVERY:
            last_save = ctx.now()
            save_turbo(ctx, adapter)
    finish_turbo(ctx, models, adapter, step)


def save_turbo(ctx, adapter):
    state = to_half(adapter.state())
    save_tensors(ctx.path("export", "turbo.safetensors"), state, {"steps": str(ctx.args.turbo_steps), "guidance": "1", "distilled_guidance": str(ctx.args.turbo_guidance)})
    return state


def finish_turbo(ctx, models, adapter, step):
    state = save_turbo(ctx, adapter)
    merged = frozen_copy(models.mean_unet)
    lora.merge(merged, state)
    draw_grid(ctx, models, "turbo", merged, ctx.args.turbo_steps, 1.0, step=step)
    draw_other_shapes(ctx, models, "turbo", merged, ctx.args.turbo_steps, 1.0, step=step)
    models.turbo_unet = merged
