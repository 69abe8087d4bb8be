"""Quantised blocks of every type we expand, and what the `gguf` package makes of them.

    python record_gguf.py ../../packages/tensor-files/fixtures
"""

import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import save_file

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]
SHAPE = (2, 512)


def random_blocks(generator, kind):
    """Random bytes are valid blocks of any type, but for the scales, which must be ordinary halves."""
    block, size = gguf.GGML_QUANT_SIZES[kind]
    count = SHAPE[0] * SHAPE[1] // block
    blocks = generator.integers(0, 256, (count, size), dtype=np.uint8)
    halves = {"Q4_1": [0, 2], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
    for at in halves.get(kind.name, [0]):
        scales = generator.normal(0, 0.01, count).astype(np.float16)
        blocks[:, at : at + 2] = scales.view(np.uint8).reshape(count, 2)
    return blocks.reshape(SHAPE[0], -1)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(7)
    writer = gguf.GGUFWriter(str(folder / "blocks.gguf"), "test")
    writer.add_string("general.name", "one tensor of each type")
    writer.add_array("test.words", ["a", "bc", ""])
    writer.add_uint64("test.large", 2**40)
    expected = {}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        blocks = random_blocks(generator, kind)
        writer.add_tensor(name, blocks, raw_dtype=kind)
        expected[name] = gguf.dequantize(blocks, kind).astype(np.float32).reshape(SHAPE)
    plain = generator.normal(0, 1, (3, 5, 2, 2))
    writer.add_tensor("F32", plain.astype(np.float32))
    writer.add_tensor("F16", plain.astype(np.float16))
    expected["F32"] = plain.astype(np.float32)
    expected["F16"] = plain.astype(np.float16).astype(np.float32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    save_file(expected, folder / "blocks.safetensors")


main()
