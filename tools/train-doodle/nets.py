"""Small Stable-Diffusion nets whose parameter names, config fields and arithmetic are those of
Hugging Face diffusers (UNet2DConditionModel, AutoencoderKL) and transformers (CLIPTextModel).
PyTorch only, so that training needs nothing else; check_folder.py compares an exported model with diffusers itself."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


# --------------------------------------------------------------------------- shared blocks
class ResnetBlock2D(nn.Module):
    def __init__(self, cin, cout, temb, groups, eps):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, cin, eps=eps)
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.time_emb_proj = nn.Linear(temb, cout) if temb else None
        self.norm2 = nn.GroupNorm(groups, cout, eps=eps)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(cin, cout, 1) if cin != cout else None

    def forward(self, x, temb=None):
        h = self.conv1(F.silu(self.norm1(x)))
        if self.time_emb_proj is not None:
            h = h + self.time_emb_proj(F.silu(temb))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return x + h


class Downsample2D(nn.Module):
    def __init__(self, c, padding):
        super().__init__()
        self.padding = padding
        self.conv = nn.Conv2d(c, c, 3, stride=2, padding=padding)

    def forward(self, x):
        if self.padding == 0:
            x = F.pad(x, (0, 1, 0, 1))
        return self.conv(x)


class Upsample2D(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class Attention(nn.Module):
    def __init__(self, c, heads, cross=None, bias=False, group_norm=None, eps=1e-6):
        super().__init__()
        self.heads = heads
        self.group_norm = nn.GroupNorm(group_norm, c, eps=eps) if group_norm else None
        self.to_q = nn.Linear(c, c, bias=bias)
        self.to_k = nn.Linear(cross or c, c, bias=bias)
        self.to_v = nn.Linear(cross or c, c, bias=bias)
        self.to_out = nn.ModuleList([nn.Linear(c, c), nn.Dropout(0.0)])

    def forward(self, x, ctx=None):
        ctx = x if ctx is None else ctx
        b, n, c = x.shape
        d = c // self.heads
        q = self.to_q(x).view(b, n, self.heads, d).transpose(1, 2)
        k = self.to_k(ctx).view(b, -1, self.heads, d).transpose(1, 2)
        v = self.to_v(ctx).view(b, -1, self.heads, d).transpose(1, 2)
        o = F.scaled_dot_product_attention(q, k, v)
        return self.to_out[0](o.transpose(1, 2).reshape(b, n, c))


# --------------------------------------------------------------------------- UNet2DConditionModel
class GEGLU(nn.Module):
    def __init__(self, c, inner):
        super().__init__()
        self.proj = nn.Linear(c, inner * 2)

    def forward(self, x):
        h, g = self.proj(x).chunk(2, dim=-1)
        return h * F.gelu(g)


class FeedForward(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.net = nn.ModuleList([GEGLU(c, c * 4), nn.Dropout(0.0), nn.Linear(c * 4, c)])

    def forward(self, x):
        return self.net[2](self.net[0](x))


class BasicTransformerBlock(nn.Module):
    def __init__(self, c, heads, cross):
        super().__init__()
        self.norm1 = nn.LayerNorm(c)
        self.attn1 = Attention(c, heads)
        self.norm2 = nn.LayerNorm(c)
        self.attn2 = Attention(c, heads, cross)
        self.norm3 = nn.LayerNorm(c)
        self.ff = FeedForward(c)

    def forward(self, x, ctx):
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), ctx)
        return x + self.ff(self.norm3(x))


class Transformer2DModel(nn.Module):
    def __init__(self, c, heads, cross, groups, depth):
        super().__init__()
        self.norm = nn.GroupNorm(groups, c, eps=1e-6)
        self.proj_in = nn.Conv2d(c, c, 1)
        self.transformer_blocks = nn.ModuleList([BasicTransformerBlock(c, heads, cross) for _ in range(depth)])
        self.proj_out = nn.Conv2d(c, c, 1)

    def forward(self, x, ctx):
        b, c, h, w = x.shape
        r = x
        x = self.proj_in(self.norm(x)).permute(0, 2, 3, 1).reshape(b, h * w, c)
        for blk in self.transformer_blocks:
            x = blk(x, ctx)
        x = x.reshape(b, h, w, c).permute(0, 3, 1, 2)
        return self.proj_out(x) + r


class UNetBlock(nn.Module):
    """One of DownBlock2D, CrossAttnDownBlock2D, UpBlock2D, CrossAttnUpBlock2D, by its arguments."""

    def __init__(self, cins, cout, temb, groups, eps, heads, cross, attn, depths, down=False, up=False):
        super().__init__()
        self.resnets = nn.ModuleList([ResnetBlock2D(ci, cout, temb, groups, eps) for ci in cins])
        if attn:
            self.attentions = nn.ModuleList([Transformer2DModel(cout, heads, cross, groups, depth) for depth in depths])
        else:
            self.attentions = None
        self.downsamplers = nn.ModuleList([Downsample2D(cout, 1)]) if down else None
        self.upsamplers = nn.ModuleList([Upsample2D(cout)]) if up else None


class MidBlock(nn.Module):
    def __init__(self, c, temb, groups, eps, heads, cross, depth):
        super().__init__()
        self.attentions = nn.ModuleList([Transformer2DModel(c, heads, cross, groups, depth)])
        self.resnets = nn.ModuleList([ResnetBlock2D(c, c, temb, groups, eps) for _ in range(2)])


class TimestepEmbedding(nn.Module):
    def __init__(self, cin, c):
        super().__init__()
        self.linear_1 = nn.Linear(cin, c)
        self.linear_2 = nn.Linear(c, c)

    def forward(self, x):
        return self.linear_2(F.silu(self.linear_1(x)))


def timestep_embedding(t, dim):  # flip_sin_to_cos=True, freq_shift=0
    half = dim // 2
    f = torch.exp(-math.log(10000.0) * torch.arange(half, device=t.device, dtype=torch.float32) / half)
    a = t.float()[:, None] * f[None]
    return torch.cat([a.cos(), a.sin()], dim=-1)


class UNet2DConditionModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        ch = list(cfg["block_out_channels"])
        L = cfg["layers_per_block"]
        g, eps = cfg["norm_num_groups"], cfg["norm_eps"]
        cross = cfg["cross_attention_dim"]
        heads = cfg["attention_head_dim"]  # diffusers reads this field as the number of heads, one for all levels or one each
        heads = list(heads) if isinstance(heads, (list, tuple)) else [heads] * len(ch)
        temb = ch[0] * 4
        depths, up_depths = cfg["transformer_layers_per_block"], cfg["reverse_transformer_layers_per_block"]
        self.conv_in = nn.Conv2d(cfg["in_channels"], ch[0], 3, padding=1)
        self.time_embedding = TimestepEmbedding(ch[0], temb)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        c = ch[0]
        for i, kind in enumerate(cfg["down_block_types"]):
            cins = [c] + [ch[i]] * (L - 1)
            self.down_blocks.append(UNetBlock(cins, ch[i], temb, g, eps, heads[i], cross, "Cross" in kind, depths[i], down=i < len(ch) - 1))
            c = ch[i]
        self.mid_block = MidBlock(ch[-1], temb, g, eps, heads[-1], cross, depths[-1][0])
        rev = ch[::-1]
        prev = rev[0]
        for i, kind in enumerate(cfg["up_block_types"]):
            out, skip_last = rev[i], rev[min(i + 1, len(ch) - 1)]
            cins = []
            for j in range(L + 1):
                cins.append((prev if j == 0 else out) + (skip_last if j == L else out))
            self.up_blocks.append(UNetBlock(cins, out, temb, g, eps, heads[::-1][i], cross, "Cross" in kind, up_depths[i], up=i < len(ch) - 1))
            prev = out
        self.conv_norm_out = nn.GroupNorm(g, ch[0], eps=eps)
        self.conv_out = nn.Conv2d(ch[0], cfg["out_channels"], 3, padding=1)

    def forward(self, x, t, ctx):
        emb = self.time_embedding(timestep_embedding(t, self.cfg["block_out_channels"][0]).to(x.dtype))
        x = self.conv_in(x)
        skips = [x]
        for blk in self.down_blocks:
            for j, r in enumerate(blk.resnets):
                x = r(x, emb)
                if blk.attentions is not None:
                    x = blk.attentions[j](x, ctx)
                skips.append(x)
            if blk.downsamplers is not None:
                x = blk.downsamplers[0](x)
                skips.append(x)
        x = self.mid_block.resnets[0](x, emb)
        x = self.mid_block.attentions[0](x, ctx)
        x = self.mid_block.resnets[1](x, emb)
        for blk in self.up_blocks:
            for j, r in enumerate(blk.resnets):
                x = r(torch.cat([x, skips.pop()], dim=1), emb)
                if blk.attentions is not None:
                    x = blk.attentions[j](x, ctx)
            if blk.upsamplers is not None:
                x = blk.upsamplers[0](x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


# --------------------------------------------------------------------------- AutoencoderKL
class VAEBlock(nn.Module):
    def __init__(self, cin, cout, n, groups, down=False, up=False):
        super().__init__()
        self.resnets = nn.ModuleList([ResnetBlock2D(cin if j == 0 else cout, cout, 0, groups, 1e-6) for j in range(n)])
        self.downsamplers = nn.ModuleList([Downsample2D(cout, 0)]) if down else None
        self.upsamplers = nn.ModuleList([Upsample2D(cout)]) if up else None

    def forward(self, x):
        for r in self.resnets:
            x = r(x)
        if self.downsamplers is not None:
            x = self.downsamplers[0](x)
        if self.upsamplers is not None:
            x = self.upsamplers[0](x)
        return x


class VAEMid(nn.Module):
    def __init__(self, c, groups):
        super().__init__()
        self.attentions = nn.ModuleList([Attention(c, 1, bias=True, group_norm=groups)])
        self.resnets = nn.ModuleList([ResnetBlock2D(c, c, 0, groups, 1e-6) for _ in range(2)])

    def forward(self, x):
        x = self.resnets[0](x)
        a = self.attentions[0]
        b, c, h, w = x.shape
        y = a(a.group_norm(x).permute(0, 2, 3, 1).reshape(b, h * w, c))
        x = x + y.reshape(b, h, w, c).permute(0, 3, 1, 2)
        return self.resnets[1](x)


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        ch, g = cfg["block_out_channels"], cfg["norm_num_groups"]
        self.conv_in = nn.Conv2d(3, ch[0], 3, padding=1)
        self.down_blocks = nn.ModuleList()
        c = ch[0]
        for i in range(len(ch)):
            self.down_blocks.append(VAEBlock(c, ch[i], cfg["layers_per_block"], g, down=i < len(ch) - 1))
            c = ch[i]
        self.mid_block = VAEMid(c, g)
        self.conv_norm_out = nn.GroupNorm(g, c, eps=1e-6)
        self.conv_out = nn.Conv2d(c, 2 * cfg["latent_channels"], 3, padding=1)

    def forward(self, x):
        x = self.conv_in(x)
        for b in self.down_blocks:
            x = b(x)
        return self.conv_out(F.silu(self.conv_norm_out(self.mid_block(x))))


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        ch, g = cfg["block_out_channels"][::-1], cfg["norm_num_groups"]
        self.conv_in = nn.Conv2d(cfg["latent_channels"], ch[0], 3, padding=1)
        self.mid_block = VAEMid(ch[0], g)
        self.up_blocks = nn.ModuleList()
        c = ch[0]
        for i in range(len(ch)):
            self.up_blocks.append(VAEBlock(c, ch[i], cfg["layers_per_block"] + 1, g, up=i < len(ch) - 1))
            c = ch[i]
        self.conv_norm_out = nn.GroupNorm(g, c, eps=1e-6)
        self.conv_out = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, z):
        x = self.mid_block(self.conv_in(z))
        for b in self.up_blocks:
            x = b(x)
        return self.conv_out(F.silu(self.conv_norm_out(x)))


class AutoencoderKL(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        z = cfg["latent_channels"]
        self.encoder, self.decoder = Encoder(cfg), Decoder(cfg)
        self.quant_conv = nn.Conv2d(2 * z, 2 * z, 1)
        self.post_quant_conv = nn.Conv2d(z, z, 1)

    def moments(self, x):
        return self.quant_conv(self.encoder(x)).chunk(2, dim=1)

    def decode(self, z):
        return self.decoder(self.post_quant_conv(z))


# --------------------------------------------------------------------------- CLIPTextModel
class CLIPAttention(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.heads = heads
        self.k_proj, self.v_proj = nn.Linear(c, c), nn.Linear(c, c)
        self.q_proj, self.out_proj = nn.Linear(c, c), nn.Linear(c, c)

    def forward(self, x):
        b, n, c = x.shape
        s = lambda y: y.view(b, n, self.heads, c // self.heads).transpose(1, 2)
        o = F.scaled_dot_product_attention(s(self.q_proj(x)), s(self.k_proj(x)), s(self.v_proj(x)), is_causal=True)
        return self.out_proj(o.transpose(1, 2).reshape(b, n, c))


class CLIPMLP(nn.Module):
    def __init__(self, c, inner):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(c, inner), nn.Linear(inner, c)

    def forward(self, x):
        x = self.fc1(x)
        return self.fc2(x * torch.sigmoid(1.702 * x))  # quick_gelu


class CLIPLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg["hidden_size"]
        self.self_attn = CLIPAttention(c, cfg["num_attention_heads"])
        self.layer_norm1 = nn.LayerNorm(c, eps=cfg["layer_norm_eps"])
        self.mlp = CLIPMLP(c, cfg["intermediate_size"])
        self.layer_norm2 = nn.LayerNorm(c, eps=cfg["layer_norm_eps"])

    def forward(self, x):
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class CLIPEmb(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.token_embedding = nn.Embedding(cfg["vocab_size"], cfg["hidden_size"])
        self.position_embedding = nn.Embedding(cfg["max_position_embeddings"], cfg["hidden_size"])

    def forward(self, ids):
        return self.token_embedding(ids) + self.position_embedding.weight[None, : ids.shape[1]]


class CLIPEnc(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.ModuleList([CLIPLayer(cfg) for _ in range(cfg["num_hidden_layers"])])


class CLIPTextTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embeddings, self.encoder = CLIPEmb(cfg), CLIPEnc(cfg)
        self.final_layer_norm = nn.LayerNorm(cfg["hidden_size"], eps=cfg["layer_norm_eps"])

    def forward(self, ids):
        x = self.embeddings(ids)
        for l in self.encoder.layers:
            x = l(x)
        return self.final_layer_norm(x)


class CLIPTextModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.text_model = CLIPTextTransformer(cfg)

    def forward(self, ids):
        return self.text_model(ids)


# --------------------------------------------------------------------------- configs and init
def configs(size="full", vocab=16384):
    tiny = size == "tiny"
    z = 8
    text = dict(architectures=["CLIPTextModel"], model_type="clip_text_model", attention_dropout=0.0, dropout=0.0,
                bos_token_id=vocab - 2, eos_token_id=vocab - 1, pad_token_id=vocab - 1, hidden_act="quick_gelu",
                hidden_size=64 if tiny else 256, intermediate_size=128 if tiny else 1024, initializer_factor=1.0,
                initializer_range=0.02, layer_norm_eps=1e-5, max_position_embeddings=77,
                num_attention_heads=2 if tiny else 4, num_hidden_layers=2 if tiny else 4,
                projection_dim=64 if tiny else 256, torch_dtype="float16", vocab_size=vocab)
    ch = [32, 64, 64] if tiny else [96, 192, 288]
    layers = 1 if tiny else 2
    depths = [[1] * layers, [1] * layers, [2] + [1] * (layers - 1)]  # the middle block is as deep as the last block's first layer
    unet = dict(_class_name="UNet2DConditionModel", _diffusers_version="0.30.0", act_fn="silu",
                attention_head_dim=[1, 2, 2] if tiny else [2, 4, 6], block_out_channels=ch, center_input_sample=False,
                cross_attention_dim=text["hidden_size"],
                down_block_types=["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
                downsample_padding=1, dual_cross_attention=False, flip_sin_to_cos=True, freq_shift=0,
                in_channels=z, layers_per_block=layers, mid_block_scale_factor=1,
                mid_block_type="UNetMidBlock2DCrossAttn", norm_eps=1e-5, norm_num_groups=32,
                only_cross_attention=False, out_channels=z, resnet_time_scale_shift="default", sample_size=32,
                time_embedding_type="positional", transformer_layers_per_block=depths, reverse_transformer_layers_per_block=[[1] * (layers + 1)] * 3, upcast_attention=False,
                up_block_types=["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
                use_linear_projection=False)
    vch = [16, 16, 32, 32] if tiny else [32, 48, 96, 128]
    vae = dict(_class_name="AutoencoderKL", _diffusers_version="0.30.0", act_fn="silu", block_out_channels=vch,
               down_block_types=["DownEncoderBlock2D"] * 4, force_upcast=False, in_channels=3, latent_channels=z,
               layers_per_block=1, norm_num_groups=8, out_channels=3, sample_size=256, scaling_factor=1.0,
               up_block_types=["UpDecoderBlock2D"] * 4)
    return text, unet, vae


def init_unet(m):
    """Zero the last layer of every residual branch: a calmer start for a short run."""
    for k in m.modules():
        if isinstance(k, ResnetBlock2D):
            nn.init.zeros_(k.conv2.weight), nn.init.zeros_(k.conv2.bias)
        if isinstance(k, Transformer2DModel):
            nn.init.zeros_(k.proj_out.weight), nn.init.zeros_(k.proj_out.bias)
            for later in k.transformer_blocks[1:]:  # changes nothing at first, so that a trained net can be given more layers
                for last in (later.attn1.to_out[0], later.attn2.to_out[0], later.ff.net[2]):
                    nn.init.zeros_(last.weight), nn.init.zeros_(last.bias)
    nn.init.zeros_(m.conv_out.weight), nn.init.zeros_(m.conv_out.bias)


def init_text(m):
    c = m.cfg["hidden_size"]
    nn.init.normal_(m.text_model.embeddings.token_embedding.weight, std=0.02)
    nn.init.normal_(m.text_model.embeddings.position_embedding.weight, std=0.01)
    n = m.cfg["num_hidden_layers"]
    for l in m.text_model.encoder.layers:
        for p in (l.self_attn.q_proj, l.self_attn.k_proj, l.self_attn.v_proj):
            nn.init.normal_(p.weight, std=c ** -0.5), nn.init.zeros_(p.bias)
        nn.init.normal_(l.self_attn.out_proj.weight, std=(c ** -0.5) * (2 * n) ** -0.5), nn.init.zeros_(l.self_attn.out_proj.bias)
        nn.init.normal_(l.mlp.fc1.weight, std=(2 * c) ** -0.5), nn.init.zeros_(l.mlp.fc1.bias)
        nn.init.normal_(l.mlp.fc2.weight, std=(c ** -0.5) * (2 * n) ** -0.5), nn.init.zeros_(l.mlp.fc2.bias)


def count(m):
    return sum(p.numel() for p in m.parameters())
