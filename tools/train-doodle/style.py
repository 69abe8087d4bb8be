"""Stage 3: the example adapter, ink drawing: the base model's own loss on pictures redrawn as black lines."""
import torch

import lora
from base import make_loss, spread_times, time_table
from careful_step import careful_step, finite
from context import cosine
from models import average, frozen_copy
from sampling import draw_grid
from tensor_file import save_tensors, to_half


def train_style(ctx, models, feed, end_of_stage):
    args = ctx.args
    unet = frozen_copy(models.mean_unet).train()
    adapter = lora.Adapter(unet, args.style_rank, args.init_style)
    values = adapter.values
    ctx.log(f"style adapter: {sum(p.numel() for p in values) / 1e6:.2f} M parameters, {feed.style.full} latents")
    loss_of = make_loss(unet, models.mean_text, models.schedule)
    optimizer = torch.optim.AdamW(values, lr=args.style_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    step, start, last_log, total, count = 0, ctx.now(), ctx.now(), 0.0, 0
    times, skipped = time_table(ctx.device), torch.zeros((), device=ctx.device)
    while not feed.style.full:
        feed.take(wait=True)
    while True:
        done = (ctx.now() - start) / max(1e-6, end_of_stage() - start)
        if done >= 1 or (args.max_steps and step >= args.max_steps):
            break
        feed.take()
        z, ids = feed.style.draw(args.batch, models.empty, args.drop)
        rate = args.style_lr * min(1, (step + 1) / 40) * cosine(done, .03)
        for group in optimizer.param_groups:
            group["lr"] = rate
        adapter.write()
        with ctx.autocast():
            loss, _ = loss_of(z, ids, spread_times(len(z), times), torch.randn_like(z))
        loss.backward()
        adapter.read_gradients()
        _, left_out = careful_step(optimizer, values)
        step, skipped = step + 1, skipped + left_out
        average(adapter.means, values, step, .995)
        total, count = total + finite(loss), count + 1
        if step <= 3 or ctx.now() - last_log > 10:
            ctx.log(f"style {step} loss {float(total) / count:.4f} lr {rate:.1e}, {float(skipped):.0f} left out")
            last_log, total, count = ctx.now(), 0.0, 0
    state = to_half(adapter.state())
    save_tensors(ctx.path("export", "ink-drawing.safetensors"), state, {"style": "ink drawing"})
    for name, plain, steps, guidance in (("ink-base", models.mean_unet, args.steps, args.guidance), ("ink-turbo", getattr(models, "turbo_unet", None), args.turbo_steps, 1.0)):
        if plain is not None:
            merged = frozen_copy(plain)
            lora.merge(merged, state)
            draw_grid(ctx, models, name, merged, steps, guidance, step=step)
