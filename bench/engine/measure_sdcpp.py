"""The same measurement of stable-diffusion.cpp (package stable-diffusion-cpp-python): python measure_sdcpp.py FOLDER THREADS. Prints one line of JSON.

It hands out whole pictures only, so a UNet call is the difference between pictures of two steps and of one.
"""

import json
import resource
import sys
import time
from pathlib import Path

START = time.perf_counter()
from stable_diffusion_cpp import StableDiffusion  # noqa: E402


def main():
    folder, threads = Path(sys.argv[1]), int(sys.argv[2])
    load = time.perf_counter()
    model = StableDiffusion(
        model_path=str(folder),
        n_threads=threads,
        verbose=False,
    )
    load = time.perf_counter() - load
    ready = time.perf_counter() - START
    runs = {}
    for steps in (1, 2):
        wall, cpu = time.perf_counter(), time.process_time()
        model.generate_image(prompt="a", width=512, height=512, sample_steps=steps, cfg_scale=1.0, seed=1)
        runs[steps] = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    unet = {key: runs[2][key] - runs[1][key] for key in ("wall", "cpu")}
    vae = {key: runs[1][key] - unet[key] for key in ("wall", "cpu")}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"loadUNet": load, "ready": ready, "unet": unet, "vae": vae, "peakMb": peak}))


main()
