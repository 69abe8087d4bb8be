"""Writes snapshots while training and the finished model in diffusers layout."""
import json
import os
import shutil

import schedule
from tensor_file import save_tensors, to_half

UNET_FILE = "unet/diffusion_pytorch_model.safetensors"
TEXT_FILE = "text_encoder/model.safetensors"


def write_json(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(value, file, indent=2)
        file.write("\n")


def write_weights(ctx, models, folder):
    save_tensors(os.path.join(folder, TEXT_FILE), to_half(models.mean_text.state_dict()))
    save_tensors(os.path.join(folder, UNET_FILE), to_half(models.mean_unet.state_dict()))


def write_snapshot(ctx, models):
    folder = ctx.path("snapshots", f"{ctx.now():.0f}")
    write_weights(ctx, models, folder)
    ctx.log("snapshot", folder)


def write_model(ctx, models, folder):
    """The whole model but its adapters, which their stages write."""
    kinds = {"scheduler": ["diffusers", "DDIMScheduler"], "text_encoder": ["transformers", "CLIPTextModel"],
             "tokenizer": ["transformers", "CLIPTokenizer"], "unet": ["diffusers", "UNet2DConditionModel"], "vae": ["diffusers", "AutoencoderKL"]}
    none = {name: [None, None] for name in ("feature_extractor", "image_encoder", "safety_checker")}
    write_json(os.path.join(folder, "model_index.json"),
               {"_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.30.0", "requires_safety_checker": False, **none, **kinds})
    write_json(os.path.join(folder, "text_encoder/config.json"), models.text_config)
    write_json(os.path.join(folder, "unet/config.json"), models.unet_config)
    write_json(os.path.join(folder, "vae/config.json"), models.vae_config)
    write_json(os.path.join(folder, "scheduler/scheduler_config.json"), schedule.config())
    shutil.copytree(os.path.join(ctx.data, "tokenizer"), os.path.join(folder, "tokenizer"), dirs_exist_ok=True)
    save_tensors(os.path.join(folder, "vae/diffusion_pytorch_model.safetensors"), to_half(models.vae.state_dict()))
    write_weights(ctx, models, folder)
    write_json(os.path.join(folder, "training.json"), {"seconds": round(ctx.now()), "steps": models.steps, "settings": {k: v for k, v in vars(ctx.args).items() if k not in ("work", "data", "began")}})
