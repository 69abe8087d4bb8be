"""The same measurement of diffusers on PyTorch: python measure_diffusers.py FOLDER THREADS DTYPE [turns]. Prints one line of JSON, or one for each line of input."""

import time

START = time.perf_counter()

import json  # noqa: E402
import resource  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import torch  # noqa: E402
from diffusers import AutoencoderKL, UNet2DConditionModel  # noqa: E402
from transformers import CLIPTextModel  # noqa: E402

CALLS = 3


def timed(call):
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def best(call, times=CALLS):
    runs = [timed(call) for _ in range(times)]
    return {key: min(run[key] for run in runs) for key in ("wall", "cpu")}


def main():
    folder, threads, dtype = Path(sys.argv[1]), int(sys.argv[2]), getattr(torch, sys.argv[3])
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    text = CLIPTextModel.from_pretrained(folder / "text_encoder", torch_dtype=dtype).eval()
    ids = torch.full((1, 77), 320)
    states = text(ids).last_hidden_state
    load = time.perf_counter()
    unet = UNet2DConditionModel.from_pretrained(folder / "unet", torch_dtype=dtype).eval()
    load = time.perf_counter() - load
    sample = torch.randn(1, 4, 64, 64, dtype=dtype)
    call = lambda: unet(sample, torch.tensor([501.0]), encoder_hidden_states=states)  # noqa: E731
    ready = time.perf_counter() - START
    call()
    first = time.perf_counter() - START
    if "turns" in sys.argv:
        print("ready", flush=True)
        for _ in sys.stdin:
            print(json.dumps(timed(call)), flush=True)
        return
    result = {"loadUNet": load, "ready": ready, "firstStep": first, "unet": best(call), "text": best(lambda: text(ids))}
    del unet, text
    vae = AutoencoderKL.from_pretrained(folder / "vae", torch_dtype=dtype).eval()
    result["vae"] = best(lambda: vae.decode(sample), 2)
    result["peakMb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(result))


main()
