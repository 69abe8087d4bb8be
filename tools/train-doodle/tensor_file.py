"""Reads and writes .safetensors without a dependency (the format is a JSON header and raw bytes)."""
import json
import os
import struct
import time

import numpy as np
import torch

NAMES = {torch.float16: "F16", torch.float32: "F32", torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8"}
KINDS = {"F16": np.float16, "F32": np.float32, "I64": np.int64, "I32": np.int32, "U8": np.uint8}


def save_tensors(path, tensors, metadata=None):
    header, offset, blobs = {"__metadata__": dict(metadata or {}, format="pt")}, 0, []
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        blob = tensor.numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for blob in blobs:
            file.write(blob)
    os.replace(path + ".part", path)


def load_tensors(path):
    raw = open(path, "rb").read()
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + size])
    header.pop("__metadata__", None)
    out = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(raw[8 + size + begin:8 + size + end], KINDS[entry["dtype"]])
        out[name] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return out


def wait_for(path, seconds=400):
    """First weights may arrive on the machine a little after the run has begun."""
    began = time.time()
    while not os.path.exists(path) and time.time() - began < seconds:
        time.sleep(.5)


def to_half(state):
    """float16 copies; weights that float16 cannot hold would be a broken training, so they are refused."""
    out = {}
    for name, tensor in state.items():
        half = tensor.detach().float().half().cpu()
        if not torch.isfinite(half.float()).all():
            raise ValueError(f"{name} does not fit float16")
        out[name] = half
    return out


def to_float(state):
    return {name: tensor.float() for name, tensor in state.items()}
