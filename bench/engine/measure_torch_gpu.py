"""The same UNet in PyTorch on its GPU, for scale: python measure_torch_gpu.py FOLDER NETS_FOLDER DTYPE OUT. Prints one line of JSON.

The nets are those of tools/train-doodle/nets.py, whose parameters have diffusers' names: the very same weights are loaded.
"""

import json
import math
import struct
import sys
import time
from pathlib import Path

import torch


def read_safetensors(path):
    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    types = {"F16": torch.float16, "F32": torch.float32}
    tensors = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        start, end = (8 + size + offset for offset in entry["data_offsets"])
        numbers = torch.frombuffer(bytearray(raw[start:end]), dtype=types[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


def read_floats(path):
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32)


def write_floats(path, tensor):
    path.write_bytes(bytes(tensor.float().cpu().contiguous().untyped_storage()))


def noise(*shape):
    values = torch.sin(torch.arange(math.prod(shape), dtype=torch.float64) * 12.9898 + 78.233) * 1.4
    return values.float().reshape(shape)


def best(call, times=5):
    call()
    torch.cuda.synchronize()
    least = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        least = min(least, time.perf_counter() - start)
    return {"best": least}


def main():
    folder, nets_folder, dtype, out = Path(sys.argv[1]), sys.argv[2], getattr(torch, sys.argv[3]), Path(sys.argv[4])
    sys.path.insert(0, nets_folder)
    import nets

    torch.set_grad_enabled(False)
    config = json.loads((folder / "unet" / "config.json").read_text())
    config = {"norm_num_groups": 32, "norm_eps": 1e-5, **config}
    start = time.perf_counter()
    with torch.device("cuda"):
        unet = nets.UNet2DConditionModel(config).to(dtype).eval()
        vae = nets.AutoencoderKL(json.loads((folder / "vae" / "config.json").read_text())).to(dtype).eval()
    weights = read_safetensors(folder / "unet" / "diffusion_pytorch_model.safetensors")
    unet.load_state_dict(weights)
    vae.load_state_dict(read_safetensors(folder / "vae" / "diffusion_pytorch_model.safetensors"))
    load = time.perf_counter() - start
    step = torch.tensor([501.0], device="cuda")
    states = read_floats(out.parent / "cpu-fp32" / "text.f32")
    states = states.reshape(1, 77, -1).to("cuda", dtype)
    result = {"load": load}
    for batch in (1, 2):
        sample = noise(batch, 4, 64, 64).to("cuda", dtype)
        result["unet" if batch == 1 else "unet2"] = best(lambda: unet(sample, step, states.expand(batch, -1, -1)))
    latents = noise(1, 4, 64, 64).to("cuda", dtype)
    result["vae"] = best(lambda: vae.decode(latents), 3)
    result["gpuMb"] = torch.cuda.max_memory_allocated() // 2**20
    out.mkdir(parents=True, exist_ok=True)
    write_floats(out / "unet.f32", unet(latents, step, states))
    write_floats(out / "vae.f32", vae.decode(latents))
    print(json.dumps(result))


main()
