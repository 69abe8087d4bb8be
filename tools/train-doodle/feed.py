"""Latents for the trainer. Caption workers (processor cores) invent scenes; one feeder process paints and encodes them
on the GPU beside the trainer, so that the trainer never waits for small painting kernels; rings hold what came."""
import os
import queue
import time

import torch
import torch.multiprocessing as mp

import captions
import nets
import paint
from context import Context, channels_last
from tensor_file import load_tensors, to_float, wait_for

SQUARE = (256, 256)
# height, width: from 3:2 to 2:3, and squares a little smaller and larger; what lies between is learnt along with them
OTHER_SHAPES = [(256, 384), (384, 256), (256, 320), (320, 256), (224, 320), (320, 224), (192, 256), (256, 192), (192, 192), (320, 320)]
LONGEST_SIDE = 384
OTHERS_EVERY = 4  # of the feeder's chunks
CHUNK = 1024  # scenes of one message


def load_vae(ctx, path):
    config = nets.configs(ctx.args.size)[2]
    vae = nets.AutoencoderKL(config)
    if path:
        wait_for(path)
        vae.load_state_dict(to_float(load_tensors(path)))
    return vae.to(ctx.device).eval().requires_grad_(False).to(memory_format=torch.channels_last)


@torch.no_grad()
def encode(ctx, vae, pictures, part=256):
    out = []
    for i in range(0, len(pictures), part):
        with ctx.autocast():
            out.append(vae.moments(channels_last(pictures[i:i + part]))[0])
    return torch.cat(out).half()


def feeder(args, specs, out, rate, kinds, stop):
    """kinds.value: 0 square only, 1 square and other shapes, 2 the adapter's style."""
    ctx = Context(args, "feeder")
    try:
        masters = paint.load_masters(ctx.data, ctx.device, args.limit, log=ctx.log)
        large_bank = paint.Bank(max(1, args.bank // 4), LONGEST_SIDE, ctx.device) if args.other_shapes_from <= 1 else None
        painter = paint.Painter(masters, paint.Bank(args.bank, SQUARE[0], ctx.device), ctx.device, large_bank)
        vae = load_vae(ctx, args.init_vae)
        ctx.log("feeder ready")
        made, made_here, began = 0, 0, time.time()
        while not stop.is_set():
            ahead = made_here / max(1.0, rate.value) - (time.time() - began)
            if ahead > 2:
                time.sleep(min(.5, ahead - 2))
                continue
            if ahead < -5:  # the wanted rate changed, or could not be held: count anew
                made_here, began = 0, time.time()
            spec = specs.get(timeout=120)
            style = kinds.value == 2
            shape = OTHER_SHAPES[(made // OTHERS_EVERY) % len(OTHER_SHAPES)] if kinds.value == 1 and made % OTHERS_EVERY == 0 else SQUARE
            pictures = painter(spec, *shape)
            if style:
                pictures = paint.ink_drawing(pictures)
            with ctx.odd_shape(shape != SQUARE):
                latents, tokens = encode(ctx, vae, pictures, 256 if ctx.cuda else 8).cpu(), torch.from_numpy(spec["tok"])
            sound = latents.isfinite().flatten(1).all(1)
            if not sound.all():  # one such latent would spoil a batch each time it is drawn
                ctx.log(f"left out {int((~sound).sum())} latents that are not finite")
                latents, tokens = latents[sound], tokens[sound]
            made += 1
            made_here += len(latents)
            while not stop.is_set():
                try:
                    out.put((shape, style, latents, tokens), timeout=1)
                    break
                except queue.Full:
                    continue
    except Exception:
        import traceback
        ctx.log("FEEDER FAILED\n" + traceback.format_exc())


class Ring:
    """Latents of one shape with two captions each, the newest replacing the oldest."""

    def __init__(self, ctx, shape, capacity):
        self.ctx, self.capacity = ctx, capacity
        self.latents = torch.zeros(capacity, 8, shape[0] // 8, shape[1] // 8, dtype=torch.float16, device=ctx.device)
        self.tokens = torch.zeros(capacity, 2, 77, dtype=torch.int16, device=ctx.device)
        self.next = self.full = 0

    def add(self, latents, tokens):
        n = len(latents)
        if self.next + n > self.capacity:
            self.next = 0
        self.latents[self.next:self.next + n] = latents.to(self.latents.device)
        self.tokens[self.next:self.next + n] = tokens.to(self.tokens.device)
        self.next += n
        self.full = max(self.full, self.next)

    def draw(self, count, empty, drop):
        i = torch.randint(0, self.full, (count,), device=self.latents.device)
        c = torch.randint(0, 2, (count,), device=self.latents.device)
        ids = self.tokens[i, c].long()
        ids = torch.where(torch.rand(count, 1, device=ids.device) < drop, empty[None], ids)
        return channels_last(self.latents[i].float()), ids


class Feed:
    def __init__(self, ctx):
        self.ctx, args = ctx, ctx.args
        spawn = mp.get_context("spawn")
        self.stop, self.rate, self.kinds = spawn.Event(), spawn.Value("d", 1e9), spawn.Value("i", 0)
        self.specs = specs = spawn.Queue(maxsize=48)  # kept: a queue that is collected before its readers start is gone
        self.out = spawn.Queue(maxsize=24)
        workers = args.workers or max(1, min(11, (os.cpu_count() or 2) - 4))
        folder = captions.cut_data(args.data, ctx.path("cut"), args.limit) if args.limit else args.data
        jobs = [(captions.worker, (folder, args.bank, args.seed + 1000 + 77 * i, args.chunk, specs, self.stop)) for i in range(workers)]
        jobs.append((feeder, (args, specs, self.out, self.rate, self.kinds, self.stop)))
        self.processes = [spawn.Process(target=target, args=arguments, daemon=True) for target, arguments in jobs]
        for process in self.processes:
            process.start()
        self.square = Ring(ctx, SQUARE, args.ring)
        self.style = Ring(ctx, SQUARE, max(args.chunk, args.ring // 4))
        self.others = {}

    def take(self, wait=False):
        """Moves what has arrived into the rings; true if something came."""
        came = False
        for _ in range(4):
            try:
                shape, style, latents, tokens = self.out.get(timeout=120) if wait and not came else self.out.get_nowait()
            except queue.Empty:
                return came
            came = True
            if style:
                self.style.add(latents, tokens)
            elif shape == SQUARE:
                self.square.add(latents, tokens)
            else:
                if shape not in self.others:
                    self.others[shape] = Ring(self.ctx, shape, max(self.ctx.args.chunk, self.ctx.args.ring // 10))
                self.others[shape].add(latents, tokens)
        return came

    def fill(self, count):
        """Waits until there are so many square latents."""
        while self.square.full < min(self.ctx.args.ring, count):
            self.take(wait=True)

    def close(self):
        self.stop.set()
        for process in self.processes:
            process.join(timeout=3)
            if process.is_alive():
                process.terminate()
