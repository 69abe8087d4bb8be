"""What every stage of a training run shares: arguments, device, log, and a clock that ends stages by the wall."""
import contextlib
import os
import time

import torch


class Context:
    def __init__(self, args, role="train"):
        self.args, self.work, self.data = args, args.work, args.data
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.cuda = self.device == "cuda"
        self.began = args.began
        os.makedirs(self.path("export"), exist_ok=True)
        self._log = open(self.path(f"{role}.log"), "a", buffering=1)
        if self.cuda:
            torch.set_float32_matmul_precision("high")
            # suspected of the gradients that are not finite (careful_step.py); the flash kernels are as fast here
            torch.backends.cuda.enable_cudnn_sdp(False)
            torch.backends.cudnn.benchmark = True
            torch.backends.cudnn.benchmark_limit = 4  # the default tries ten algorithms for every convolution: 24 s at the start

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def log(self, *words):
        line = f"[{self.now():7.1f}s] " + " ".join(str(w) for w in words)
        print(line, flush=True)
        self._log.write(line + "\n")

    def now(self):
        return time.time() - self.began

    def total(self):
        """Seconds of the whole run; a file `total` in the work folder changes it while the run goes on."""
        try:
            return float(open(self.path("total")).read())
        except (OSError, ValueError):
            return self.args.seconds

    @contextlib.contextmanager
    def odd_shape(self, odd=True):
        """Trying out algorithms costs half a minute for every new shape: for batches of many shapes the first guess must do."""
        before = torch.backends.cudnn.benchmark
        torch.backends.cudnn.benchmark = before and not odd
        try:
            yield
        finally:
            torch.backends.cudnn.benchmark = before

    def autocast(self):
        return torch.autocast(self.device, dtype=torch.bfloat16)

    def mark(self, name):
        open(self.path(name), "w").write(f"{self.now():.0f}\n")

    def marked(self, name):
        return os.path.exists(self.path(name))


def channels_last(x):
    return x.contiguous(memory_format=torch.channels_last)


def cosine(done, floor=0.01):
    import math
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(1.0, max(0.0, done))))
