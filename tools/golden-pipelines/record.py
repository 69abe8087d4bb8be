"""Whole pictures of diffusers' pipelines on the tiny checkpoints, with our noise, for packages/diffusion's pipelines.

    node tools/golden-pipelines/prepare.mjs <folder>
    python tools/golden-pipelines/record.py <folder> packages/diffusion/fixtures/pipelines/pictures.json

Needs torch, diffusers, transformers, peft. diffusers is made to use our noise and the mean of the VAE's distribution.
"""
import base64
import importlib
import itertools
import json
import os
import sys

import numpy
import torch
from PIL import Image
from safetensors.torch import load_file
import diffusers

SIZE = 64
FOLDER, TARGET = sys.argv[1], sys.argv[2]
with open(os.path.join(FOLDER, "noise.json")) as file:
    NOISE = json.load(file)


def use_our_noise(first_step):
    """The first draw is the latents' noise, later ones are the steps'."""
    calls = itertools.count()

    def draw(shape, *args, **kwargs):
        call = next(calls)
        values = NOISE["latents"] if call == 0 else NOISE["steps"][first_step + call - 1]
        return torch.tensor(values).reshape(shape)

    for name in list(sys.modules):
        if name.startswith("diffusers.") and hasattr(sys.modules[name], "randn_tensor"):
            sys.modules[name].randn_tensor = draw
    return draw


def use_vae_mean():
    for name in list(sys.modules):
        if name.startswith("diffusers.pipelines") and hasattr(sys.modules[name], "retrieve_latents"):
            sys.modules[name].retrieve_latents = lambda output, *args, **kwargs: output.latent_dist.mode()


def picture():
    """Smooth colours: red grows to the right, green downwards, blue on a diagonal."""
    y, x = numpy.mgrid[0:SIZE, 0:SIZE]
    return numpy.stack([x * 4, y * 4, (x + y) * 2], axis=-1).clip(0, 255).astype(numpy.uint8)


def mask():
    result = numpy.zeros((SIZE, SIZE), numpy.uint8)
    result[16:48, 24:56] = 255
    return result


def encode(array):
    return base64.b64encode(array.tobytes()).decode()


def merge_by_hand(pipeline, path, scale, only=""):
    """diffusers 0.42 with transformers 5 cannot load text encoder layers, so they are added to the weights here."""
    tensors = load_file(path)
    modules = {}
    for prefix, dotted, net in (("lora_unet_", "unet.", pipeline.unet), ("lora_te_text_model_", "text_encoder.text_model.", pipeline.text_encoder)):
        for module_name, module in net.named_modules():
            modules[prefix + module_name.replace(".", "_")] = module
            modules[dotted + module_name] = module
    downs = [name for name in tensors if name.startswith(only) and name.endswith((".lora_down.weight", ".lora_A.weight"))]
    for name in downs:
        layer = name.replace(".lora_down.weight", "").replace(".lora_A.weight", "")
        up = tensors.get(f"{layer}.lora_up.weight", tensors.get(f"{layer}.lora_B.weight"))
        down = tensors[name]
        rank = down.shape[0]
        factor = scale * float(tensors.get(f"{layer}.alpha", rank)) / rank
        weight = modules[layer].weight
        weight.data += factor * (up.reshape(up.shape[0], rank) @ down.reshape(rank, -1)).reshape(weight.shape)


def run(name, kind, class_name, request, first_step=0, scheduler=None, adapters=(), vae=None):
    pipeline = getattr(diffusers, class_name).from_pretrained(os.path.join(FOLDER, kind), **({"safety_checker": None} if kind in ("sd1", "inpaint") else {}))
    pipeline.set_progress_bar_config(disable=True)
    if vae:
        pipeline.vae = diffusers.AutoencoderTiny.from_pretrained(os.path.join(FOLDER, vae))
    if scheduler:
        pipeline.scheduler = getattr(diffusers, scheduler).from_config(pipeline.scheduler.config)
    if len(adapters) == 1 and adapters[0][0] == "peft.safetensors":
        path, scale = os.path.join(FOLDER, adapters[0][0]), adapters[0][1]
        pipeline.unet.load_lora_adapter(load_file(path), prefix="unet", adapter_name="a")
        pipeline.unet.set_adapters(["a"], [scale])
        merge_by_hand(pipeline, path, scale, only="text_encoder.")
    else:
        for file, scale in adapters:
            merge_by_hand(pipeline, os.path.join(FOLDER, file), scale)
    importlib.import_module(type(pipeline).__module__)
    use_vae_mean()
    inputs = dict(request)
    if "mask" in request:
        inputs["mask_image"] = Image.fromarray(mask())
        inputs.pop("mask")
    if "image" in request:
        inputs["image"] = Image.fromarray(picture())
    if "image" not in request or "mask" in request:
        inputs.update(height=SIZE, width=SIZE)
    use_our_noise(first_step)
    images = pipeline(**inputs, output_type="np").images
    pixels = (images[0] * 255).round().clip(0, 255).astype(numpy.uint8)
    return {"name": name, "kind": kind, "scheduler": scheduler, "adapters": list(adapters), "vae": vae, "request": request, "rgb": encode(pixels)}


def main():
    base = {"prompt": "a photo of a cat", "num_inference_steps": 4, "guidance_scale": 5.0}
    rows = [
        run("text to image", "sd1", "StableDiffusionPipeline", {**base, "negative_prompt": "blurry dog"}),
        run("tiny autoencoder", "sd1", "StableDiffusionPipeline", base, vae="tiny-vae"),
        run("guidance off", "sd1", "StableDiffusionPipeline", {**base, "guidance_scale": 1.0}),
        run("euler ancestral", "sd1", "StableDiffusionPipeline", base, scheduler="EulerAncestralDiscreteScheduler"),
        run("dpm", "sd1", "StableDiffusionPipeline", base, scheduler="DPMSolverMultistepScheduler"),
        run("image to image", "sd1", "StableDiffusionImg2ImgPipeline", {**base, "num_inference_steps": 5, "image": True, "strength": 0.6}, first_step=2),
        run("image to image, euler", "sd1", "StableDiffusionImg2ImgPipeline", {**base, "image": True, "strength": 0.75}, scheduler="EulerDiscreteScheduler"),
        run("sdxl, empty negative", "sdxl", "StableDiffusionXLPipeline", base),
        run("sdxl, negative", "sdxl", "StableDiffusionXLPipeline", {**base, "negative_prompt": "blurry dog"}),
        run("inpainting net", "inpaint", "StableDiffusionInpaintPipeline", {**base, "image": True, "mask": True, "strength": 1.0}),
        run("inpainting, ordinary net", "sd1", "StableDiffusionInpaintPipeline", {**base, "image": True, "mask": True, "strength": 1.0}),
        run("inpainting, ordinary net, half strength", "sd1", "StableDiffusionInpaintPipeline", {**base, "image": True, "mask": True, "strength": 0.5}),
        run("lcm", "lcm", "LatentConsistencyModelPipeline", {**base, "guidance_scale": 8.0}),
        run("adapter, peft names", "sd1", "StableDiffusionPipeline", base, adapters=[("peft.safetensors", 0.8)]),
        run("adapter, kohya names", "sd1", "StableDiffusionPipeline", base, adapters=[("kohya.safetensors", 1.0)]),
        run("two adapters", "sd1", "StableDiffusionPipeline", base, adapters=[("peft.safetensors", 1.0), ("kohya.safetensors", -0.5)]),
    ]
    with open(TARGET, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


main()
