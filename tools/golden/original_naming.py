"""Writes checkpoints the way they were first published: one file, the original names. Checked by letting diffusers read them back."""

import re

import gguf
import numpy as np
import torch
from diffusers.loaders.single_file_utils import convert_ldm_unet_checkpoint, convert_ldm_vae_checkpoint
from safetensors.torch import load_file, save_file

RESNET = {
    "norm1": "in_layers.0", "conv1": "in_layers.2", "time_emb_proj": "emb_layers.1",
    "norm2": "out_layers.0", "conv2": "out_layers.3", "conv_shortcut": "skip_connection",
}
ENDS = {
    "time_embedding.linear_1": "time_embed.0", "time_embedding.linear_2": "time_embed.2", "add_embedding.linear_1": "label_emb.0.0",
    "add_embedding.linear_2": "label_emb.0.2", "conv_in": "input_blocks.0.0", "conv_norm_out": "out.0", "conv_out": "out.2",
}


def original_unet_name(name, layers, attends_up):
    module, kind = name.rsplit(".", 1)
    if module in ENDS:
        return f"{ENDS[module]}.{kind}"
    found = re.match(r"(down_blocks|up_blocks)\.(\d+)\.(\w+)\.(\d+)\.(.+)$", module)
    if found:
        side, block, sort, layer, rest = found.group(1), int(found.group(2)), found.group(3), int(found.group(4)), found.group(5)
        stride = layers + 1
        if sort == "downsamplers":
            return f"input_blocks.{(block + 1) * stride}.0.op.{kind}"
        if sort == "upsamplers":
            return f"output_blocks.{block * stride + layers}.{2 if attends_up[block] else 1}.conv.{kind}"
        index = block * stride + layer + (1 if side == "down_blocks" else 0)
        part = 0 if sort == "resnets" else 1
        head = "input_blocks" if side == "down_blocks" else "output_blocks"
        return f"{head}.{index}.{part}.{RESNET.get(rest, rest)}.{kind}"
    found = re.match(r"mid_block\.(resnets|attentions)\.(\d)\.(.+)$", module)
    part = 1 if found.group(1) == "attentions" else 2 * int(found.group(2))
    return f"middle_block.{part}.{RESNET.get(found.group(3), found.group(3))}.{kind}"


def original_unet(unet):
    attends = ["CrossAttn" in kind for kind in unet.config.up_block_types]
    layers = unet.config.layers_per_block
    return {original_unet_name(name, layers, attends): value for name, value in unet.state_dict().items()}


def original_vae(vae):
    blocks = len(vae.config.block_out_channels)
    names = {}
    for name, value in vae.state_dict().items():
        to = name
        to = re.sub(r"up_blocks\.(\d+)\.resnets\.(\d+)", lambda m: f"up.{blocks - 1 - int(m[1])}.block.{m[2]}", to)
        to = re.sub(r"up_blocks\.(\d+)\.upsamplers\.0", lambda m: f"up.{blocks - 1 - int(m[1])}.upsample", to)
        to = re.sub(r"down_blocks\.(\d+)\.resnets\.(\d+)", r"down.\1.block.\2", to)
        to = re.sub(r"down_blocks\.(\d+)\.downsamplers\.0", r"down.\1.downsample", to)
        to = re.sub(r"mid_block\.resnets\.(\d)", lambda m: f"mid.block_{int(m[1]) + 1}", to)
        to = to.replace("mid_block.attentions.0.", "mid.attn_1.").replace("conv_norm_out", "norm_out").replace("conv_shortcut", "nin_shortcut")
        if ".attn_1." in to:
            to = to.replace("group_norm", "norm").replace("to_q", "q").replace("to_k", "k").replace("to_v", "v").replace("to_out.0", "proj_out")
            if value.dim() == 2:
                value = value[:, :, None, None]
        names[to] = value
    return names


def original_openclip(text, extra_layer):
    """OpenCLIP's names: fused query-key-value, projection from the left; SD 2 files carry a last layer that is not used."""
    state, names = {key.removeprefix("text_model."): value for key, value in text.state_dict().items()}, {}
    layers = text.config.num_hidden_layers
    names["token_embedding.weight"] = state["embeddings.token_embedding.weight"]
    names["positional_embedding"] = state["embeddings.position_embedding.weight"]
    for kind in ("weight", "bias"):
        names[f"ln_final.{kind}"] = state[f"final_layer_norm.{kind}"]
        for layer in range(layers + extra_layer):
            source, to = f"encoder.layers.{min(layer, layers - 1)}", f"transformer.resblocks.{layer}"
            fused = [state[f"{source}.self_attn.{part}_proj.{kind}"] for part in "qkv"]
            names[f"{to}.attn.in_proj_{kind}"] = torch.cat(fused)
            names[f"{to}.attn.out_proj.{kind}"] = state[f"{source}.self_attn.out_proj.{kind}"]
            names[f"{to}.ln_1.{kind}"] = state[f"{source}.layer_norm1.{kind}"]
            names[f"{to}.ln_2.{kind}"] = state[f"{source}.layer_norm2.{kind}"]
            names[f"{to}.mlp.c_fc.{kind}"] = state[f"{source}.mlp.fc1.{kind}"]
            names[f"{to}.mlp.c_proj.{kind}"] = state[f"{source}.mlp.fc2.{kind}"]
    projection = state.get("text_projection.weight")
    names["text_projection"] = projection.T if projection is not None else torch.eye(text.config.hidden_size)
    names["logit_scale"] = torch.tensor(4.6)
    return names


def check_read_back(unet, vae, file):
    """diffusers' own converters must make of the file what it was written from."""
    state = load_file(file)
    back = convert_ldm_unet_checkpoint(dict(state), dict(unet.config))
    assert set(back) == set(unet.state_dict()), set(back) ^ set(unet.state_dict())
    for name, value in unet.state_dict().items():
        assert torch.equal(back[name].float(), value.half().float().reshape(back[name].shape)), name
    back = convert_ldm_vae_checkpoint(dict(state), dict(vae.config))
    assert set(back) == set(vae.state_dict()), set(back) ^ set(vae.state_dict())


def write_single_file(file, unet, vae, encoders, dtype):
    names = {f"model.diffusion_model.{name}": value for name, value in original_unet(unet).items()}
    names.update({f"first_stage_model.{name}": value for name, value in original_vae(vae).items()})
    two = len(encoders) == 2
    for index, (kind, text) in enumerate(encoders):
        stage = f"conditioner.embedders.{index}" if two else "cond_stage_model"
        if kind == "clip":
            state = {f"text_model.{key.removeprefix('text_model.')}": value for key, value in text.state_dict().items()}
            names.update({f"{stage}.transformer.{name}": value for name, value in state.items()})
        else:
            names.update({f"{stage}.model.{name}": value for name, value in original_openclip(text, 0 if two else 1).items()})
    save_file({name: value.to(dtype).contiguous().clone() for name, value in names.items()}, file)
    check_read_back(unet, vae, file)


def is_linear(name, shape):
    return len(shape) == 2 and shape[1] % 32 == 0 and "embedding" not in name


def write_gguf(file, single_file):
    """The same file as stable-diffusion.cpp converts it: linear layers in Q8_0, the rest in F16."""
    writer = gguf.GGUFWriter(str(file), "stable-diffusion", use_temp_file=False)
    for name, value in load_file(single_file).items():
        array = value.float().numpy()
        if is_linear(name, array.shape):
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def record_quantised(unet, golden):
    """What the UNet gives with its linear layers rounded to Q8_0."""
    kind = gguf.GGMLQuantizationType.Q8_0
    kept = {name: value.clone() for name, value in unet.state_dict().items()}
    for name, parameter in unet.named_parameters():
        if is_linear(name.replace("time_embedding", "time"), parameter.shape):
            rounded = gguf.dequantize(gguf.quantize(parameter.numpy(), kind), kind)
            parameter.copy_(torch.from_numpy(rounded.reshape(parameter.shape)))
    result = unet(golden["unet.in.sample"], golden["unet.in.timestep"], encoder_hidden_states=golden["unet.in.encoder_hidden_states"]).sample
    unet.load_state_dict(kept)
    return {"unet.out.out_sample": result}
