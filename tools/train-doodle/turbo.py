"""Stage 2: the few-step adapter. The student starts at pure noise and walks its own few steps; at every stop the guided
teacher walks the same stretch in smaller steps from the student's own position, and the student learns to land there.
Teaching on the student's own path keeps its errors from adding up, and guidance is built in."""
import torch

import lora
from careful_step import careful_step, finite
from context import channels_last, cosine
from models import average, frozen_copy
from sampling import draw_grid
from schedule import STEPS, trailing
from tensor_file import save_tensors, to_half

HUBER = 0.03
SAVE_EVERY = 60  # seconds


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


def train_turbo(ctx, models, feed, end_of_stage):
    args, schedule = ctx.args, models.schedule
    student = frozen_copy(models.mean_unet).train()
    adapter = lora.Adapter(student, args.turbo_rank, args.init_turbo)
    values = adapter.values
    ctx.log(f"turbo adapter: {sum(p.numel() for p in values) / 1e6:.2f} M parameters")
    optimizer = torch.optim.AdamW(values, lr=args.turbo_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    teacher, loss_of = make_teacher(models.mean_unet, args.turbo_guidance), make_student_loss(student)
    if ctx.marked("warm-turbo"):
        ctx.log("turbo: compiled teacher and student")
        teacher, loss_of = torch.compile(teacher, dynamic=False), torch.compile(loss_of, dynamic=False)
    table = stops(args.turbo_steps, args.turbo_parts).to(ctx.device)
    size = args.turbo_batch
    stage = torch.arange(size, device=ctx.device) % args.turbo_steps
    z, ids = feed.square.draw(size, models.empty, 0.03)
    x = schedule.add_noise(z, torch.randn_like(z), table[stage, 0])
    with torch.no_grad(), ctx.autocast():
        context = models.mean_text(ids).float()
    plain = models.encode([""]).expand(size, -1, -1).contiguous()
    step, start, last_log, total, errors, count = 0, ctx.now(), ctx.now(), 0.0, 0.0, 0
    last_save = ctx.now()
    while True:
        done = (ctx.now() - start) / max(1e-6, end_of_stage() - start)
        if done >= 1 or (args.max_steps and step >= args.max_steps):
            break
        times = table[stage].T.contiguous()  # a row for each stop: the compiled steps expect contiguous times
        with torch.no_grad():
            landed = x
            for i in range(args.turbo_parts):
                with ctx.autocast():
                    v = teacher(landed, times[i], context, plain)
                landed = schedule.step(landed, v, times[i], times[i + 1])
            target = schedule.velocity_between(x, landed, times[0], times[-1])
        rate = args.turbo_lr * min(1, (step + 1) / 40) * cosine(done, .03)
        for group in optimizer.param_groups:
            group["lr"] = rate
        adapter.write()
        with ctx.autocast():
            loss, error, predicted = loss_of(x, times[0], context, target)
        loss.backward()
        adapter.read_gradients()
        careful_step(optimizer, values)
        step += 1
        average(adapter.means, values, step, .995)
        with torch.no_grad():  # everyone walks on by the student's own prediction; who has arrived (or got lost) starts anew
            x = schedule.step(x, predicted, times[0], times[-1])
            stage = torch.where(x.isfinite().flatten(1).all(1), (stage + 1) % args.turbo_steps, 0)
            fresh = stage == 0
            _, ids = feed.square.draw(size, models.empty, 0.03)
            with ctx.autocast():
                words = models.mean_text(ids).float()
            x = channels_last(torch.where(fresh.view(-1, 1, 1, 1), torch.randn_like(x), x))
            context = torch.where(fresh.view(-1, 1, 1), words, context)
        total, errors, count = total + finite(loss), errors + finite(error), count + 1
        if step <= 3 or ctx.now() - last_log > 10:
            ctx.log(f"turbo {step} loss {float(total) / count:.4f} mse {float(errors) / count:.4f} lr {rate:.1e} {size * count / max(1e-3, ctx.now() - last_log):.0f} samples/s")
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
    models.turbo_unet = merged
