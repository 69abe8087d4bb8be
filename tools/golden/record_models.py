"""Tiny random checkpoints in real diffusers/transformers classes, and what PyTorch computes with them.

    python record_models.py ../../packages/diffusion/fixtures/models

Everything is seeded: the same versions give the same files. Needs torch, diffusers, transformers, safetensors, gguf.
Each folder holds the checkpoint as users have it and `golden.safetensors`: inputs, the output of every block, and the results.
"""

import json
import logging
import shutil
import sys
from pathlib import Path

import torch
from diffusers import AutoencoderKL, AutoencoderTiny, UNet2DConditionModel
from safetensors.torch import save_file
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

import original_naming

torch.set_grad_enabled(False)
logging.disable(logging.WARNING)


def shake(model, dtype):
    """Norms and biases away from one and zero (so that a forgotten one shows), then rounded to the type of the file."""
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            parameter.mul_(0).add_(torch.randn_like(parameter) * 0.2)
            if name.endswith("weight"):
                parameter.add_(1)
        parameter.copy_(parameter.to(dtype).float())
    return model.eval()


def record_blocks(model, names, call):
    """Runs `call` and gives the outputs of the named submodules."""
    outputs, hooks = {}, []
    for name, module in model.named_modules():
        if name in names:
            def keep(_module, _inputs, output, name=name):
                outputs[name] = (output[0] if isinstance(output, tuple) else output).detach().contiguous().clone()
            hooks.append(module.register_forward_hook(keep))
    result = call()
    for hook in hooks:
        hook.remove()
    return result, outputs


def save_component(model, folder, dtype, variant=None, shards=False):
    copy = model.to(dtype)
    options = {}
    if variant:
        options["variant"] = variant
    if shards:
        options["max_shard_size"] = "100KB"
    copy.save_pretrained(folder, **options)
    model.to(torch.float32)
    for config in Path(folder).glob("*config.json"):
        data = json.loads(config.read_text())
        for noise in ("_name_or_path", "transformers_version", "torch_dtype", "dtype"):
            data.pop(noise, None)
        config.write_text(json.dumps(data, indent=1, sort_keys=True))


def unet_names(model):
    names = ["conv_in", "mid_block"]
    names += [f"down_blocks.{i}" for i in range(len(model.down_blocks))]
    names += [f"up_blocks.{i}" for i in range(len(model.up_blocks))]
    return names


def make_unet(**config):
    base = dict(
        sample_size=8, in_channels=4, out_channels=4, norm_num_groups=4, layers_per_block=1,
        block_out_channels=(8, 16), cross_attention_dim=16, attention_head_dim=8,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )
    return UNet2DConditionModel(**{**base, **config})


def record_unet(model, golden, height=8, width=8, batch=2, timesteps=(501.0,), extra=None):
    tokens = 7
    sample = torch.randn(batch, model.config.in_channels, height, width)
    dim = model.config.cross_attention_dim
    states = torch.randn(batch, tokens, dim if isinstance(dim, int) else dim[0])
    timestep = torch.tensor(timesteps)
    arguments = dict(extra or {})
    added = {key: arguments.pop(key) for key in ("text_embeds", "time_ids") if key in arguments}
    if added:
        arguments["added_cond_kwargs"] = added
    result, blocks = record_blocks(
        model, unet_names(model), lambda: model(sample, timestep, encoder_hidden_states=states, **arguments).sample
    )
    golden.update({"unet.in.sample": sample, "unet.in.timestep": timestep, "unet.in.encoder_hidden_states": states})
    golden.update({f"unet.in.{key}": value for key, value in (extra or {}).items()})
    golden.update({f"unet.tap.{key}": value for key, value in blocks.items()})
    golden["unet.out.out_sample"] = result


def record_vae(model, golden, prefix="vae"):
    picture = torch.rand(1, 3, 24, 16) * 2 - 1
    decoder_blocks = [f"decoder.up_blocks.{i}" for i in range(len(model.decoder.up_blocks))] + ["decoder.mid_block"]
    encoder_blocks = [f"encoder.down_blocks.{i}" for i in range(len(model.encoder.down_blocks))] + ["encoder.mid_block"]
    posterior, blocks = record_blocks(model, encoder_blocks, lambda: model.encode(picture).latent_dist)
    golden[f"{prefix}.in.sample"] = picture
    golden[f"{prefix}.out.mean"] = posterior.mean
    golden[f"{prefix}.out.logvar"] = posterior.logvar
    golden.update({f"{prefix}.tap.{key}": value for key, value in blocks.items()})
    latents = torch.randn_like(posterior.mean)
    decoded, blocks = record_blocks(model, decoder_blocks, lambda: model.decode(latents).sample)
    golden[f"{prefix}.in.latents"] = latents
    golden[f"{prefix}.out.sample"] = decoded
    golden.update({f"{prefix}.tap.{key}": value for key, value in blocks.items()})


def make_text_encoder(projection=False, **config):
    base = dict(
        vocab_size=100, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=1,
        max_position_embeddings=77, hidden_act="quick_gelu", bos_token_id=98, eos_token_id=99, pad_token_id=99, projection_dim=16,
    )
    kind = CLIPTextModelWithProjection if projection else CLIPTextModel
    return kind(CLIPTextConfig(**{**base, **config}))


def record_text(model, golden, name):
    length = model.config.max_position_embeddings
    ids = torch.full((2, length), 99)
    ids[:, 0] = 98
    ids[0, 1:6] = torch.tensor([5, 17, 3, 42, 8])
    ids[1, 1:3] = torch.tensor([71, 2])
    result = model(ids, output_hidden_states=True)
    golden[f"{name}.in.input_ids"] = ids.to(torch.int32)
    for index, state in enumerate(result.hidden_states):
        golden[f"{name}.hidden.{index}"] = state
    golden[f"{name}.out.hidden_state"] = result.last_hidden_state
    golden[f"{name}.out.pooled"] = result.text_embeds if hasattr(result, "text_embeds") else result.pooler_output


def write_index(folder, name, **components):
    index = {"_class_name": name, "_diffusers_version": "0.30.0"}
    index.update({key: list(value) for key, value in components.items()})
    (folder / "model_index.json").write_text(json.dumps(index, indent=1))


def write_scheduler(folder, **config):
    (folder / "scheduler").mkdir(exist_ok=True)
    base = dict(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", num_train_timesteps=1000)
    (folder / "scheduler" / "scheduler_config.json").write_text(json.dumps({**base, **config}, indent=1))


UNET = ("diffusers", "UNet2DConditionModel")
KL = ("diffusers", "AutoencoderKL")
CLIP = ("transformers", "CLIPTextModel")
CLIP_PROJECTED = ("transformers", "CLIPTextModelWithProjection")


def tiny_vae(**config):
    blocks = 2
    base = dict(
        block_out_channels=(8, 16), norm_num_groups=4, latent_channels=4, layers_per_block=1,
        down_block_types=("DownEncoderBlock2D",) * blocks, up_block_types=("UpDecoderBlock2D",) * blocks, sample_size=16,
    )
    return AutoencoderKL(**{**base, **config})


def record_sd1(root):
    """SD 1.x: 1x1 convolutions around the transformers, eight heads everywhere, F16; also as one file and as GGUF."""
    torch.manual_seed(1)
    folder, golden, dtype = root / "sd1", {}, torch.float16
    unet = shake(make_unet(block_out_channels=(32, 32), cross_attention_dim=32), dtype)
    vae = shake(tiny_vae(), dtype)
    text = shake(make_text_encoder(hidden_size=32, eos_token_id=2), dtype)
    for part, model in {"unet": unet, "vae": vae, "text_encoder": text}.items():
        save_component(model, folder / part, dtype)
    record_unet(unet, golden)
    record_vae(vae, golden)
    record_text(text, golden, "text_encoder")
    write_index(folder, "StableDiffusionPipeline", unet=UNET, vae=KL, text_encoder=CLIP)
    write_scheduler(folder, _class_name="DDIMScheduler")
    save_file(golden, folder / "golden.safetensors")
    original_naming.write_single_file(root / "sd1.safetensors", unet, vae, [("clip", text)], dtype)
    original_naming.write_gguf(root / "sd1-q8_0.gguf", root / "sd1.safetensors")
    save_file(original_naming.record_quantised(unet, golden), root / "sd1-q8_0.golden.safetensors")


def record_sd2(root):
    """SD 2.x: linear projections, OpenCLIP's activation, v prediction; the F16 variant, its UNet in shards."""
    torch.manual_seed(2)
    folder, golden, dtype = root / "sd2", {}, torch.float16
    unet = shake(
        make_unet(
            block_out_channels=(8, 16, 16), attention_head_dim=(1, 1, 1), use_linear_projection=True, upcast_attention=True,
            down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        ),
        dtype,
    )
    vae = shake(tiny_vae(), dtype)
    text = shake(make_text_encoder(hidden_act="gelu", num_hidden_layers=3), dtype)
    save_component(unet, folder / "unet", dtype, variant="fp16", shards=True)
    save_component(vae, folder / "vae", dtype, variant="fp16")
    save_component(text, folder / "text_encoder", dtype, variant="fp16")
    record_unet(unet, golden, timesteps=(999.0, 3.0))
    record_vae(vae, golden)
    record_text(text, golden, "text_encoder")
    write_index(folder, "StableDiffusionPipeline", unet=UNET, vae=KL, text_encoder=CLIP)
    write_scheduler(folder, _class_name="DDIMScheduler", prediction_type="v_prediction")
    save_file(golden, folder / "golden.safetensors")
    original_naming.write_single_file(root / "sd2.safetensors", unet, vae, [("openclip", text)], dtype)


def record_sdxl(root):
    """SDXL: text_time conditions, two encoders, transformers of different depth, BF16."""
    torch.manual_seed(3)
    folder, golden, dtype = root / "sdxl", {}, torch.bfloat16
    unet = shake(
        make_unet(
            block_out_channels=(8, 16), attention_head_dim=(1, 1), use_linear_projection=True, cross_attention_dim=32,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            transformer_layers_per_block=(1, 2), addition_embed_type="text_time", addition_time_embed_dim=256,
            projection_class_embeddings_input_dim=16 + 6 * 256,
        ),
        dtype,
    )
    vae = shake(tiny_vae(scaling_factor=0.13025), dtype)
    first = shake(make_text_encoder(), dtype)
    second = shake(make_text_encoder(projection=True, hidden_act="gelu", num_hidden_layers=3), dtype)
    for part, model in {"unet": unet, "vae": vae, "text_encoder": first, "text_encoder_2": second}.items():
        save_component(model, folder / part, dtype)
    ids = torch.tensor([[512.0, 768.0, 0.0, 16.0, 512.0, 768.0]] * 2)
    record_unet(unet, golden, extra={"text_embeds": torch.randn(2, 16), "time_ids": ids})
    record_vae(vae, golden)
    record_text(first, golden, "text_encoder")
    record_text(second, golden, "text_encoder_2")
    write_index(
        folder, "StableDiffusionXLPipeline", unet=UNET, vae=KL, text_encoder=CLIP, text_encoder_2=CLIP_PROJECTED,
        force_zeros_for_empty_prompt=[True],
    )
    write_scheduler(folder, _class_name="EulerDiscreteScheduler")
    save_file(golden, folder / "golden.safetensors")
    parts = [("clip", first), ("openclip", second)]
    original_naming.write_single_file(root / "sdxl.safetensors", unet, vae, parts, torch.float16)


def record_inpaint(root):
    """Nine input channels, and the config fields the others leave alone."""
    torch.manual_seed(4)
    folder, golden, dtype = root / "inpaint", {}, torch.float16
    unet = shake(
        make_unet(
            in_channels=9, layers_per_block=(1, 2), resnet_time_scale_shift="scale_shift", only_cross_attention=(True, False),
            mid_block_scale_factor=1.4142, center_input_sample=True, flip_sin_to_cos=False, freq_shift=1, downsample_padding=0,
            conv_in_kernel=5, attention_head_dim=(2, 4), time_embedding_dim=24, norm_eps=1e-4, act_fn="gelu",
            down_block_types=("CrossAttnDownBlock2D",) * 2, up_block_types=("CrossAttnUpBlock2D",) * 2,
            transformer_layers_per_block=((1,), (2, 1)), reverse_transformer_layers_per_block=((1, 2, 1), (1, 1)),
        ),
        dtype,
    )
    save_component(unet, folder / "unet", dtype)
    record_unet(unet, golden)
    save_file(golden, folder / "golden.safetensors")


def record_lcm(root):
    """The guidance embedding of LCM, a UNet without a middle's attention, odd sizes, several heads in the text encoder, no quant convs."""
    torch.manual_seed(5)
    folder, golden, dtype = root / "lcm", {}, torch.float32
    unet = shake(make_unet(time_cond_proj_dim=8, mid_block_type="UNetMidBlock2D", attention_head_dim=(4, 8)), dtype)
    vae = shake(
        tiny_vae(use_quant_conv=False, use_post_quant_conv=False, mid_block_add_attention=False, latent_channels=16, shift_factor=0.1),
        dtype,
    )
    text = shake(make_text_encoder(num_attention_heads=4), dtype)
    save_component(unet, folder / "unet", dtype)
    save_component(vae, folder / "vae", dtype)
    save_component(text, folder / "text_encoder", dtype)
    record_unet(unet, golden, height=9, width=7, extra={"timestep_cond": torch.randn(2, 8)})
    record_vae(vae, golden)
    record_text(text, golden, "text_encoder")
    save_file(golden, folder / "golden.safetensors")


def record_tiny(root):
    torch.manual_seed(6)
    folder, golden, dtype = root / "tiny-vae", {}, torch.float16
    channels = (8, 8, 8)
    vae = AutoencoderTiny(
        encoder_block_out_channels=channels, decoder_block_out_channels=channels, num_encoder_blocks=(1, 2, 1), num_decoder_blocks=(2, 1, 1)
    )
    shake(vae, dtype)
    save_component(vae, folder / "vae", dtype)
    picture = torch.rand(1, 3, 24, 16) * 2 - 1
    golden["vae.in.sample"] = picture
    golden["vae.out.mean"] = vae.encode(picture).latents
    latents = torch.randn_like(golden["vae.out.mean"]) * 3
    golden["vae.in.latents"] = latents
    golden["vae.out.sample"] = vae.decode(latents).sample
    save_file(golden, folder / "golden.safetensors")


def main():
    root = Path(sys.argv[1])
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for record in (record_sd1, record_sd2, record_sdxl, record_inpaint, record_lcm, record_tiny):
        record(root)
        print(record.__name__, "done")
    total = sum(file.stat().st_size for file in root.rglob("*") if file.is_file())
    print(f"{total / 1e6:.2f} MB in {root}")


main()
