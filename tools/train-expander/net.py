"""A Llama, written out: RMSNorm, rotary positions (half-rotation, as in transformers), grouped-query attention, SwiGLU, tied output. Parameter names equal transformers' LlamaForCausalLM."""
import torch
import torch.nn.functional as F
from torch import nn

CONFIG = dict(vocab_size=4096, hidden_size=256, intermediate_size=768, num_hidden_layers=8, num_attention_heads=4, num_key_value_heads=2, head_dim=64,
              rms_norm_eps=1e-5, rope_theta=10000.0, max_position_embeddings=256)


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv, self.dim = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
        self.q_proj = nn.Linear(c["hidden_size"], self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(c["hidden_size"], self.kv * self.dim, bias=False)
        self.v_proj = nn.Linear(c["hidden_size"], self.kv * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, c["hidden_size"], bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = rotate(self.q_proj(x).view(b, t, self.heads, self.dim).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, self.kv, self.dim).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, self.kv, self.dim).transpose(1, 2)
        k, v = (y.repeat_interleave(self.heads // self.kv, 1) for y in (k, v))
        y = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, -1))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c["hidden_size"], c["intermediate_size"], bias=False)
        self.up_proj = nn.Linear(c["hidden_size"], c["intermediate_size"], bias=False)
        self.down_proj = nn.Linear(c["intermediate_size"], c["hidden_size"], bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(c["hidden_size"], c["rms_norm_eps"]), Attention(c)
        self.post_attention_layernorm, self.mlp = Norm(c["hidden_size"], c["rms_norm_eps"]), Mlp(c)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.c = c
        self.model = nn.ModuleDict(dict(embed_tokens=nn.Embedding(c["vocab_size"], c["hidden_size"]),
                                        layers=nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"])),
                                        norm=Norm(c["hidden_size"], c["rms_norm_eps"])))
        freq = c["rope_theta"] ** (-torch.arange(0, c["head_dim"], 2).float() / c["head_dim"])
        angle = torch.outer(torch.arange(c["max_position_embeddings"]).float(), freq).repeat(1, 2)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        for name, p in self.named_parameters():
            if p.ndim == 2:
                out = name.endswith(("o_proj.weight", "down_proj.weight"))
                nn.init.normal_(p, std=.02 if "embed" in name else p.shape[1] ** -.5 * (.25 if out else 1))

    def hidden(self, ids):
        x = self.model["embed_tokens"](ids)
        cos, sin = self.cos[:ids.shape[1]], self.sin[:ids.shape[1]]
        for layer in self.model["layers"]:
            x = layer(x, cos, sin)
        return self.model["norm"](x)

    def logits(self, h):
        return F.linear(h, self.model["embed_tokens"].weight)
