"""Pictures on the device: masters (RGBA 256), procedural background bank, compositor. torch only."""
import io, json, math, os
import numpy as np
import torch
import torch.nn.functional as F
from captions import SCENE_NAMES
from tensor_file import wait_for


# ------------------------------------------------------------------ masters
def _decode(args):
    from PIL import Image
    b, size = args
    im = Image.open(io.BytesIO(b)).convert("RGBA")
    if im.size != (size, size):
        im = im.resize((size, size), Image.LANCZOS)
    return np.asarray(im, np.uint8)


def load_masters(folder, device, limit=0, size=256, log=print):
    from concurrent.futures import ThreadPoolExecutor
    meta = json.load(open(os.path.join(folder, "meta.json"), encoding="utf-8"))["images"]
    if limit:
        meta = meta[:limit]
    wait_for(os.path.join(folder, "data.bin"))
    raw = open(os.path.join(folder, "data.bin"), "rb").read()
    out = torch.empty((len(meta), 4, size, size), dtype=torch.uint8)
    with ThreadPoolExecutor(min(16, os.cpu_count() or 4)) as ex:
        for i, a in enumerate(ex.map(_decode, ((raw[m["o"]: m["o"] + m["n"]], size) for m in meta))):
            out[i] = torch.from_numpy(a.copy()).permute(2, 0, 1)
    levels = []
    cur = out
    for s in (size, size // 2, size // 4):
        if s != size:
            nxt = torch.empty((len(meta), 4, s, s), dtype=torch.uint8)
            for i in range(0, len(meta), 512):
                x = cur[i:i + 512].to(device).float()
                a = x[:, 3:] / 255
                p = F.avg_pool2d(torch.cat([x[:, :3] * a, a], 1), 2)  # premultiplied average
                al = p[:, 3:]
                nxt[i:i + 512] = torch.cat([p[:, :3] / al.clamp_min(1e-3), al * 255], 1).round().clamp(0, 255).byte().cpu()
            cur = nxt
        levels.append(cur.to(device))
    log(f"masters: {len(meta)} pictures, {sum(l.numel() for l in levels) / 2**30:.2f} GiB on {device}")
    return levels


# ------------------------------------------------------------------ backgrounds
class Bank:
    """n pictures for each scene kind, H x H, uint8."""

    def __init__(self, n, H, device, seed=1):
        self.n, self.H, self.d = n, H, device
        self.g = torch.Generator(device="cpu").manual_seed(seed)
        y, x = torch.meshgrid(torch.linspace(0, 1, H), torch.linspace(0, 1, H), indexing="ij")
        self.x, self.y = x[None, None].to(device), y[None, None].to(device)
        parts = []
        for k in SCENE_NAMES:
            parts.append((getattr(self, k)().clamp(0, 1) * 255).round().byte())
        self.img = torch.cat(parts)
        self.half = F.avg_pool2d(self.img.float(), 2).round().byte()

    # helpers
    def r(self, lo=0.0, hi=1.0, c=1):
        return (torch.rand(self.n, c, 1, 1, generator=self.g) * (hi - lo) + lo).to(self.d)

    def col(self, *rgbs, j=.04):
        """one of the given colours for each picture, jittered"""
        t = torch.tensor(rgbs, dtype=torch.float32) / 255
        k = torch.randint(0, len(rgbs), (self.n,), generator=self.g)
        return (t[k][:, :, None, None] + torch.randn(self.n, 3, 1, 1, generator=self.g) * j).clamp(0, 1).to(self.d)

    def mix(self, a, b, m):
        return a * (1 - m) + b * m

    def below(self, h):  # 1 below the line y = h
        return torch.sigmoid((self.y - h) * self.H)

    def wave(self, amp):
        h = 0
        for f in (1.0, 2.0, 3.7):
            h = h + torch.sin(self.x * f * 2 * math.pi * self.r(.6, 1.2) + self.r(0, 6.28)) * amp / f * self.r(.4, 1)
        return h

    def disc(self, cx, cy, rad, soft=1.0):
        d = ((self.x - cx) ** 2 + (self.y - cy) ** 2).sqrt()
        return torch.sigmoid((rad - d) * self.H / soft)

    def clouds(self, im, k, ylo=.05, yhi=.4, white=(255, 255, 255)):
        m = torch.zeros_like(self.x).expand(self.n, 1, self.H, self.H).clone()
        for _ in range(k):
            cx, cy, s = self.r(0, 1), self.r(ylo, yhi), self.r(.03, .07)
            on = (self.r() < .75).float()
            for dx, dy, q in ((-1.3, .25, .7), (0, 0, 1.0), (1.2, .2, .75), (.5, -.35, .8)):
                m = torch.maximum(m, on * self.disc(cx + dx * s, cy + dy * s, s * q))
        return self.mix(im, self.col(white, j=.01), m * .95)

    def sky_grad(self, top, bot):
        return self.mix(top, bot, self.y)

    def blue(self):
        return self.sky_grad(self.col((86, 168, 240), (60, 140, 226), (120, 192, 250)), self.col((206, 234, 252), (176, 220, 250)))

    def stars(self, im, dens=.0016):
        p = (torch.rand(self.n, 1, self.H, self.H, generator=self.g) < dens).float()
        big = (torch.rand(self.n, 1, self.H, self.H, generator=self.g) < dens * .2).float()
        m = torch.maximum(F.avg_pool2d(p, 3, 1, 1) * 6, F.avg_pool2d(big, 5, 1, 2) * 18).clamp(0, 1).to(self.d)
        return self.mix(im, torch.ones_like(im), m)

    def hills(self, im, cols, h0, step=.12):
        for i, c in enumerate(cols):
            im = self.mix(im, self.col(*c), self.below(h0 + i * step + self.wave(.05)))
        return im

    # kinds
    def sky(self):
        return self.clouds(self.blue(), 7, .05, .95)

    def meadow(self):
        im = self.clouds(self.blue(), 4)
        im = self.mix(im, self.col((255, 214, 70), j=.02), self.disc(self.r(.1, .9), self.r(.1, .2), self.r(.05, .08)) * (self.r() < .4).float())
        return self.hills(im, [((120, 190, 90), (140, 204, 100)), ((92, 172, 72), (80, 160, 70))], self.r(.5, .62))

    def sea(self):
        im = self.clouds(self.blue(), 3, .05, .3)
        h = self.r(.48, .6)
        im = self.mix(im, self.mix(self.col((38, 120, 200), (30, 140, 190)), self.col((16, 70, 140)), self.y), self.below(h))
        for i in range(5):
            im = self.mix(im, self.col((150, 206, 236)), torch.exp(-((self.y - h - .05 - i * .085 - .008 * torch.sin(self.x * self.r(20, 40) + self.r(0, 6))) * 160) ** 2) * .5)
        return im

    def underwater(self):
        im = self.mix(self.col((70, 180, 220), (50, 160, 210)), self.col((8, 50, 110), (10, 70, 120)), self.y)
        im = self.mix(im, self.col((216, 196, 140), (190, 170, 120)), self.below(self.r(.84, .92) + self.wave(.02)))
        for _ in range(9):
            cx, cy, s = self.r(), self.r(), self.r(.008, .024)
            im = self.mix(im, self.col((220, 244, 255), j=.01), (self.disc(cx, cy, s) - .75 * self.disc(cx, cy, s * .75)) * .8)
        return im

    def beach(self):
        im = self.clouds(self.blue(), 3, .05, .25)
        h = self.r(.42, .52)
        im = self.mix(im, self.col((40, 150, 210), (50, 170, 200)), self.below(h))
        w = self.wave(.025)
        im = self.mix(im, self.col((245, 250, 252), j=.01), self.below(h + .14 + w))
        return self.mix(im, self.col((240, 214, 150), (246, 222, 166)), self.below(h + .165 + w))

    def desert(self):
        im = self.sky_grad(self.col((120, 190, 236), (250, 190, 110)), self.col((250, 232, 190)))
        im = self.mix(im, self.col((255, 220, 90), j=.02), self.disc(self.r(.15, .85), self.r(.12, .22), self.r(.06, .09)))
        return self.hills(im, [((232, 190, 110),), ((222, 170, 84), (214, 160, 80)), ((200, 146, 70),)], self.r(.5, .58), .13)

    def snow(self):
        im = self.sky_grad(self.col((150, 190, 226), (120, 150, 190)), self.col((226, 236, 246)))
        im = self.hills(im, [((224, 234, 244),), ((246, 250, 253),)], self.r(.52, .62))
        p = (torch.rand(self.n, 1, self.H, self.H, generator=self.g) < .002).float().to(self.d)
        return self.mix(im, torch.ones_like(im), (F.avg_pool2d(p, 5, 1, 2) * 16).clamp(0, 1))

    def night(self):
        im = self.sky_grad(self.col((10, 14, 50), (16, 10, 44)), self.col((40, 50, 110), (60, 50, 110)))
        im = self.stars(im)
        im = self.mix(im, self.col((250, 240, 200), j=.02), self.disc(self.r(.12, .88), self.r(.1, .22), self.r(.05, .09)))
        return self.hills(im, [((24, 40, 66),), ((14, 26, 44),)], self.r(.6, .7))

    def space(self):
        im = self.col((8, 8, 22), (14, 8, 34), (4, 10, 30), j=.01).expand(-1, -1, self.H, self.H)
        nz = F.interpolate(torch.rand(self.n, 3, 5, 5, generator=self.g).to(self.d), size=(self.H, self.H), mode="bicubic", align_corners=False).clamp(0, 1)
        im = im + (nz ** 3) * self.r(.1, .5) * torch.tensor([.8, .4, 1.0], device=self.d)[None, :, None, None]
        im = self.stars(im, .003)
        c = self.col((210, 140, 80), (90, 140, 210), (190, 90, 70), (140, 190, 150), j=.1)
        return self.mix(im, c, self.disc(self.r(), self.r(), self.r(.04, .1)) * (self.r() < .3).float())

    def sunset(self):
        im = self.sky_grad(self.col((96, 50, 120), (50, 60, 130), (200, 70, 80)), self.col((255, 150, 60), (255, 180, 90)))
        h = self.r(.58, .68)
        im = self.mix(im, self.col((255, 226, 120), j=.02), self.disc(self.r(.2, .8), h - self.r(0, .1), self.r(.09, .14)))
        return self.hills(im, [((120, 60, 80), (90, 50, 90)), ((60, 34, 60), (44, 30, 60))], h)

    def tree(self, im, cx, base, s, leaf, trunk):
        t = (torch.sigmoid((s * .07 - (self.x - cx).abs()) * self.H) * torch.sigmoid((base - self.y) * self.H) * torch.sigmoid((self.y - base + s * .3) * self.H))
        im = self.mix(im, trunk, t)
        for o, w in ((.2, .34), (.45, .27), (.68, .2)):
            top, bot = base - s * (o + .42), base - s * o
            half = (self.y - top) / (s * .42) * s * w
            m = torch.sigmoid((half - (self.x - cx).abs()) * self.H) * torch.sigmoid((bot - self.y) * self.H) * torch.sigmoid((self.y - top) * self.H)
            im = self.mix(im, leaf * (1 - .18 * o), m)
        return im

    def forest(self):
        im = self.blue()
        im = self.mix(im, self.col((110, 176, 84), (90, 160, 80)), self.below(self.r(.56, .62) + self.wave(.02)))
        for i in range(16):
            d = i / 15
            im = self.tree(im, self.r(-.05, 1.05), self.r(.0, .03) + .56 + .2 * d, self.r(.28, .4) + .1 * d, self.col((36, 110, 60), (28, 92, 56), (56, 130, 60), j=.03), self.col((104, 70, 44)))
        return self.mix(im, self.col((84, 150, 66), (74, 140, 70)), self.below(self.r(.76, .8) + self.wave(.015)))

    def mountains(self):
        im = self.clouds(self.blue(), 3, .03, .22)
        for lay in range(2):
            line = torch.full_like(self.x, 9.0).expand(self.n, 1, self.H, self.H)
            for _ in range(4):
                cx, top, sl = self.r(-.1, 1.1), self.r(.18, .4) + lay * .16, self.r(.9, 1.5)
                line = torch.minimum(line, top + sl * (self.x - cx).abs())
            jag = .012 * torch.sin(self.x * self.r(30, 60) + self.r(0, 6))
            im = self.mix(im, self.col((112, 128, 150), (96, 110, 130), (120, 110, 120)) * (1 - .12 * lay), self.below(line + jag * .3))
            if lay == 0:
                im = self.mix(im, self.col((246, 250, 254), j=.01), self.below(line) * (1 - self.below(self.r(.36, .44) + jag * 2)))
        return self.hills(im, [((110, 170, 90), (90, 150, 80)), ((86, 150, 70),)], self.r(.7, .76), .1)

    def _city(self, sky, cols, win, lit):
        im, base = sky, .82
        for i in range(12):
            cx, w, h = (i + .5) / 12 + self.r(-.03, .03), self.r(.04, .075), self.r(.2, .62)
            m = torch.sigmoid((w - (self.x - cx).abs()) * self.H) * torch.sigmoid((self.y - base + h) * self.H)
            im = self.mix(im, self.col(*cols), m)
            gx, gy = torch.frac((self.x - cx) / w * 1.5 + 8.5), torch.frac((self.y - base) * 18 + 40)
            wm = ((gx > .25) & (gx < .75) & (gy > .3) & (gy < .75)).float() * torch.sigmoid((w * .85 - (self.x - cx).abs()) * self.H) * torch.sigmoid((self.y - base + h - .03) * self.H)
            on = (torch.frac(torch.sin(torch.floor((self.x - cx) / w * 1.5 + 8.5) * 12.9 + torch.floor((self.y - base) * 18 + 40) * 78.2 + i) * 43758.5).abs() < lit).float()
            im = self.mix(im, self.col(*win), wm * on * .9)
        return self.mix(im, self.col((92, 96, 104), (110, 112, 118)), self.below(base + 0 * self.x))

    def city(self):
        return self._city(self.clouds(self.blue(), 3, .03, .25), ((120, 140, 166), (96, 116, 150), (170, 140, 120), (150, 160, 176), (190, 170, 150)), ((214, 236, 250), (70, 90, 120)), .8)

    def nightcity(self):
        return self._city(self.stars(self.sky_grad(self.col((10, 14, 46),), self.col((50, 46, 96),))), ((26, 32, 60), (36, 40, 72), (20, 26, 48)), ((255, 220, 120), (255, 200, 90)), .5)

    def room(self):
        im = self.col((236, 220, 196), (200, 220, 230), (220, 206, 230), (206, 226, 200)).expand(-1, -1, self.H, self.H)
        h = self.r(.66, .74)
        cx, cy = self.r(.2, .8), self.r(.24, .32)
        fr = lambda a, b: torch.sigmoid((a - (self.x - cx).abs()) * self.H) * torch.sigmoid((b - (self.y - cy).abs()) * self.H)
        im = self.mix(im, self.col((250, 250, 250), j=.01), fr(.15, .17))
        im = self.mix(im, self.col((150, 206, 244)), fr(.135, .155))
        im = self.mix(im, self.col((250, 250, 250), j=.01), fr(.135, .155) * (((self.x - cx).abs() < .008) | ((self.y - cy).abs() < .008)).float())
        im = self.mix(im, self.col((170, 120, 78), (140, 100, 70), (190, 150, 110)), self.below(h + 0 * self.x))
        return self.mix(im, self.col((245, 245, 245), j=.01), self.below(h - .02 + 0 * self.x) * (1 - self.below(h + 0 * self.x)))

    def table(self):
        im = self.mix(self.col((240, 232, 220), (200, 214, 226), (230, 220, 235), (214, 228, 210)), self.col((220, 210, 196), (190, 200, 212)), self.y)
        h = self.r(.6, .7)
        w = self.mix(self.col((190, 130, 76), (164, 108, 62)), self.col((150, 96, 52)), ((self.y - h) / (1 - h)).clamp(0, 1))
        w = w * (1 - .06 * (torch.sin((self.y - h) * 160 + .8 * torch.sin(self.x * self.r(4, 9) + self.r(0, 6))) > .75).float())
        return self.mix(im, w, self.below(h + 0 * self.x))

    def road(self):
        im = self.clouds(self.blue(), 3, .03, .25)
        h = self.r(.5, .58)
        im = self.mix(im, self.col((112, 184, 86), (140, 190, 90), (200, 180, 120)), self.below(h + self.wave(.01)))
        d = ((self.y - h) / (1 - h)).clamp(0, 1)
        m = torch.sigmoid((.04 + .5 * d - (self.x - .5).abs()) * self.H) * self.below(h + 0 * self.x)
        im = self.mix(im, self.col((84, 88, 96), (100, 102, 108)), m)
        dash = (torch.frac(torch.log(d.clamp_min(.02)) * 2.2) .abs() < .5).float()
        return self.mix(im, self.col((250, 250, 240), j=.01), m * dash * torch.sigmoid((.004 + .022 * d - (self.x - .5).abs()) * self.H))

    def two(self):
        P = ((214, 60, 60), (247, 150, 60), (252, 216, 80), (90, 180, 100), (40, 160, 160), (70, 130, 220), (130, 80, 190), (247, 160, 196), (250, 250, 250), (250, 240, 220), (60, 60, 80))
        return self.col(*P), self.col(*P)

    def stripes(self):
        a, b = self.two()
        an = torch.randint(0, 4, (self.n, 1, 1, 1), generator=self.g).to(self.d) * (math.pi / 4)
        t = self.x * torch.cos(an) + self.y * torch.sin(an)
        return self.mix(a, b, torch.sigmoid(torch.sin(t * self.r(18, 50)) * 12))

    def checker(self):
        a, b = self.two()
        k = torch.randint(2, 6, (self.n, 1, 1, 1), generator=self.g).to(self.d).float() * math.pi * 2
        return self.mix(a, b, torch.sigmoid(torch.sin(self.x * k + 1e-3) * torch.sin(self.y * k + 1e-3) * 60))

    def dots(self):
        a, b = self.two()
        k = torch.randint(4, 9, (self.n, 1, 1, 1), generator=self.g).to(self.d).float()
        row = torch.floor(self.y * k)
        u, v = torch.frac(self.x * k + .5 * torch.remainder(row, 2)) - .5, torch.frac(self.y * k) - .5
        return self.mix(a, b, torch.sigmoid((self.r(.2, .34) - (u * u + v * v).sqrt()) * self.H / k))

    def rays(self):
        a, b = self.two()
        an = torch.atan2(self.y - .5, self.x - .5)
        k = torch.randint(6, 13, (self.n, 1, 1, 1), generator=self.g).to(self.d).float()
        return self.mix(a, b, torch.sigmoid(torch.sin(an * k) * 14))


# ------------------------------------------------------------------ colour of pictures
def rgb_to_hsv(x):
    r, g, b = x[:, 0], x[:, 1], x[:, 2]
    mx, mn = x.amax(1), x.amin(1)
    d = mx - mn
    s = d / mx.clamp_min(1e-4)
    dd = d.clamp_min(1e-4)
    h = torch.where(mx == r, torch.remainder((g - b) / dd, 6), torch.where(mx == g, (b - r) / dd + 2, (r - g) / dd + 4))
    return h * 60, s, mx


def hsv_to_rgb(h, s, v):
    h = torch.remainder(h, 360) / 60
    out = []
    for n in (5.0, 3.0, 1.0):
        k = torch.remainder(n + h, 6)
        out.append(v - v * s * torch.minimum(torch.minimum(k, 4 - k), torch.ones_like(k)).clamp_min(0))
    return torch.stack(out, 1)


def recolor(rgb, mode, arg):
    """rgb (n,3,H,W) in 0..1. mode 1: main hue -> other hue; 2 grey; 3 black; 4 white; 5 tint; 6 all in shades of one hue. arg (n,3)."""
    h, s, v = rgb_to_hsv(rgb)
    m = mode.view(-1, 1, 1)
    h0, h1 = arg[:, 0].view(-1, 1, 1), arg[:, 1].view(-1, 1, 1)
    dist = (torch.remainder(h - h0 + 180, 360) - 180).abs()
    w = ((70 - dist) / 20).clamp(0, 1) * (s / .12).clamp(0, 1)
    w = torch.where(m == 6, torch.ones_like(w), w)
    hh = torch.where(m == 1, h + (h1 - h0), torch.where(m == 6, h1, h))
    ss = torch.where(m == 6, .5 + .35 * s, torch.where(m >= 2, s * .18, s))
    vv = torch.where(m == 3, v * .32, torch.where(m == 4, .8 + .2 * v, torch.where(m == 2, .25 + .5 * v, v)))
    ss = torch.where(m == 2, s * .06, torch.where(m == 4, s * .08, ss))
    new = hsv_to_rgb(hh, ss, vv)
    out = rgb * (1 - w[:, None]) + new * w[:, None]
    return torch.where(m[:, None] == 5, arg.view(-1, 3, 1, 1).expand_as(rgb), out)


class Painter:
    def __init__(self, levels, bank, device, large_bank=None):
        """`large_bank`: fewer, larger backgrounds for pictures with a longer side than the bank's, which would be blurred."""
        self.levels, self.bank, self.d, self.large_bank = levels, bank, device, large_bank

    @torch.no_grad()
    def __call__(self, spec, H, W=None):
        """spec: dict of numpy arrays or tensors -> (n,3,H,W) in -1..1; sizes of things are in units of the shorter side"""
        W = W or H
        short, R = min(H, W), max(H, W)
        T = lambda k: torch.as_tensor(spec[k]).to(self.d, non_blocking=True)
        idx, geo, cm, ca = T("idx").long(), T("geo"), T("cm").long(), T("ca")
        bgc, bgm, bgi, grey = T("bgc"), T("bgm").long(), T("bgi").long(), T("grey")
        n = idx.shape[0]
        im = bgc[:, :3, None, None].expand(n, 3, H, W).clone()
        sel = (bgm == 1).nonzero()[:, 0]
        if len(sel):
            y = torch.linspace(0, 1, H, device=self.d).view(1, 1, H, 1)
            im[sel] = (bgc[sel, :3, None, None] * (1 - y) + bgc[sel, 3:, None, None] * y).expand(-1, -1, -1, W)
        sel = (bgm == 2).nonzero()[:, 0]
        if len(sel):
            x = self._backgrounds(bgi[sel], R).float() / 255
            if x.shape[-1] != R:
                x = F.interpolate(x, size=(R, R), mode="bilinear", antialias=True, align_corners=False)
            top, left = (R - H) // 2, (R - W) // 2
            im[sel] = x[:, :, top:top + H, left:left + W]
        sizes = [l.shape[-1] for l in self.levels]
        for k in range(idx.shape[1]):
            px = geo[:, k, 2] * short
            lev = (px <= sizes[1]).long() + (px <= sizes[2]).long()
            for L in range(3):
                s = ((idx[:, k] >= 0) & (lev == L)).nonzero()[:, 0]
                if len(s):
                    self._paste(im, s, self.levels[L], idx[s, k], geo[s, k], cm[s, k], ca[s, k])
        q = (grey > 0).nonzero()[:, 0]
        if len(q):
            im[q] = (im[q] * torch.tensor([.3, .59, .11], device=self.d)[None, :, None, None]).sum(1, keepdim=True).expand(-1, 3, -1, -1)
        return im.clamp(0, 1) * 2 - 1

    def _backgrounds(self, index, R):
        n = self.bank.n
        if R > self.bank.H and self.large_bank:
            return self.large_bank.img[index // n * self.large_bank.n + index % n % self.large_bank.n]
        return (self.bank.img if R > self.bank.H // 2 else self.bank.half)[index]

    def _paste(self, im, s, level, pictures, g, mode, arg):
        H, W = im.shape[-2:]
        short = min(H, W)
        src = level[pictures].float() / 255
        rgb, a = src[:, :3], src[:, 3:]
        q = (mode > 0).nonzero()[:, 0]
        if len(q):
            rgb = rgb.clone()
            rgb[q] = recolor(rgb[q], mode[q], arg[q])
        src = torch.cat([rgb * a, a], 1)
        th = g[:, 3] * (math.pi / 180)
        c, sn = torch.cos(th), torch.sin(th)
        iv = 1 / g[:, 2]
        sx = torch.where(g[:, 4] > .5, -1.0, 1.0) * iv
        wide, tall = W / short, H / short
        ox, oy = (g[:, 0] - .5) * 2, (g[:, 1] - .5) * 2
        A = torch.zeros(len(s), 2, 3, device=self.d)
        A[:, 0, 0], A[:, 0, 1] = c * sx * wide, sn * sx * tall
        A[:, 1, 0], A[:, 1, 1] = -sn * iv * wide, c * iv * tall
        A[:, 0, 2] = -(A[:, 0, 0] * ox + A[:, 0, 1] * oy)
        A[:, 1, 2] = -(A[:, 1, 0] * ox + A[:, 1, 1] * oy)
        p = F.grid_sample(src, F.affine_grid(A, (len(s), 4, H, W), align_corners=False), mode="bilinear", padding_mode="zeros", align_corners=False)
        im[s] = im[s] * (1 - p[:, 3:]) + p[:, :3]


def ink_drawing(x):
    """Pictures in -1..1 as black ink on white paper: outlines where colour changes, dark parts filled: the style of the
    example adapter. (Pixel art was tried and dropped: the VAE smooths hard blocks away.)"""
    soft = F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="replicate"), 3, 1)
    dx = soft[..., 1:-1, 2:] - soft[..., 1:-1, :-2]
    dy = soft[..., 2:, 1:-1] - soft[..., :-2, 1:-1]
    edge = F.pad((dx ** 2 + dy ** 2).sum(1, keepdim=True).sqrt(), (1, 1, 1, 1))
    line = torch.sigmoid((edge - .34) * 24)
    dark = torch.sigmoid((-.62 - x.amax(1, keepdim=True)) * 14)
    ink = F.avg_pool2d(torch.maximum(F.max_pool2d(line, 3, 1, 1), dark), 3, 1, 1)
    return (1 - 1.9 * ink.clamp(0, 1)).expand(-1, 3, -1, -1).contiguous()
