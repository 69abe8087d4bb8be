"""Writes the trained expander as one GGUF file (architecture llama, tokenizer gpt2).

    python3 to_gguf.py --export FOLDER --out FILE.gguf [--type q8_0|f16]

FOLDER holds model.safetensors, config.json, tokenizer.json and training.json, as train.py exports them.
"""
import argparse, json, os

import gguf
import numpy as np
from gguf.quants import quantize
from safetensors.numpy import load_file

NAMES = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
         "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}

# lets any llama.cpp program use the model: the user's message is the prompt, what the system says has no meaning to it
CHAT_TEMPLATE = "{%- for m in messages -%}{%- if m['role'] == 'user' -%}<|prompt|> {{ m['content'] }}<|doodle|>{%- elif m['role'] == 'assistant' -%}{{ m['content'] }}<|end|>{%- endif -%}{%- endfor -%}"


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def interleave(w, heads):
    """Rotary pairs: transformers keeps them half a head apart, GGUF's llama side by side."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, w.shape[1]).swapaxes(1, 2).reshape(w.shape)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--export", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--type", choices=("q8_0", "f16"), default="q8_0")
    a = p.parse_args()
    c = json.load(open(os.path.join(a.export, "config.json")))
    tok = json.load(open(os.path.join(a.export, "tokenizer.json"), encoding="utf-8"))
    tensors = load_file(os.path.join(a.export, "model.safetensors"))
    w = gguf.GGUFWriter(a.out, "llama")
    w.add_name("easel prompt expander")
    w.add_description("Turns a short prompt into a richer one: <|prompt|> prompt <|mode|> expansion <|end|>")
    w.add_license("MIT")
    w.add_string("easel.expander.training", json.dumps(json.load(open(os.path.join(a.export, "training.json")))))
    w.add_array("easel.expander.modes", ["doodle", "tags", "prose"])
    w.add_context_length(c["max_position_embeddings"])
    w.add_embedding_length(c["hidden_size"])
    w.add_block_count(c["num_hidden_layers"])
    w.add_feed_forward_length(c["intermediate_size"])
    w.add_head_count(c["num_attention_heads"])
    w.add_head_count_kv(c["num_key_value_heads"])
    w.add_key_length(c["head_dim"])
    w.add_value_length(c["head_dim"])
    w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    w.add_rope_dimension_count(c["head_dim"])
    w.add_rope_freq_base(c["rope_theta"])
    w.add_vocab_size(c["vocab_size"])
    w.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if a.type == "q8_0" else gguf.LlamaFileType.MOSTLY_F16)
    vocab = sorted(tok["model"]["vocab"].items(), key=lambda kv: kv[1])
    special = {t["id"] for t in tok["added_tokens"]}
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list([t for t, _ in vocab])
    w.add_token_types([gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for _, i in vocab])
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tok["model"]["merges"]])
    w.add_bos_token_id(c["bos_token_id"])
    w.add_eos_token_id(c["eos_token_id"])
    w.add_pad_token_id(c["eos_token_id"])
    w.add_chat_template(CHAT_TEMPLATE)
    w.add_add_bos_token(False)
    w.add_add_eos_token(False)
    kind = gguf.GGMLQuantizationType.Q8_0 if a.type == "q8_0" else gguf.GGMLQuantizationType.F16
    for name, t in tensors.items():
        t = t.astype(np.float32)
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            t = interleave(t, c["num_attention_heads" if "q_proj" in name else "num_key_value_heads"])
        if t.ndim == 1:
            w.add_tensor(gguf_name(name), t)
        else:
            w.add_tensor(gguf_name(name), quantize(np.ascontiguousarray(t), kind), raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    print(f"{a.out}: {os.path.getsize(a.out) / 2**20:.2f} MiB")


main()
