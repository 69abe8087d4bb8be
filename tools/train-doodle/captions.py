"""Random scenes and their captions: numpy only (runs in worker processes).
A scene is up to K pictures placed on a background; everything that was done to it is said in its caption."""
import json, os, re
import numpy as np

K = 4
COLORS = {  # background colours
    "white": (255, 255, 255), "black": (16, 16, 18), "gray": (140, 143, 148), "red": (214, 40, 48), "orange": (247, 140, 40),
    "yellow": (252, 213, 60), "green": (62, 170, 82), "teal": (30, 160, 160), "light blue": (160, 212, 246), "blue": (40, 104, 214),
    "dark blue": (20, 36, 92), "purple": (122, 66, 180), "pink": (247, 150, 188), "brown": (128, 84, 52), "beige": (240, 226, 200),
    "light green": (176, 226, 160)}
CNAMES = list(COLORS)
HUES = {"red": 0, "orange": 28, "yellow": 50, "green": 120, "teal": 178, "blue": 218, "purple": 275, "pink": 328}
TINTS = {"black": (20, 20, 22), "red": (214, 40, 48), "orange": (240, 130, 30), "yellow": (240, 196, 30), "green": (40, 150, 70),
         "blue": (36, 96, 210), "purple": (116, 60, 176), "pink": (236, 104, 160), "brown": (120, 76, 44), "gray": (120, 124, 130),
         "white": (250, 250, 250), "teal": (20, 150, 150)}
# background bank: category -> (phrases put after an object, whole-picture phrases, placement)
SCENES = {
    "sky": (["in the sky", "in a blue sky with clouds", "flying in the sky", "in front of a cloudy sky"], ["a blue sky with white clouds", "clouds in the sky", "a cloudy sky"], "float"),
    "meadow": (["on green grass", "in a meadow", "in a green field", "on a grassy hill under a blue sky", "on the grass"], ["a green meadow under a blue sky", "grassy hills", "a landscape with green hills", "a field of grass"], "ground"),
    "sea": (["on the sea", "on the water", "in the ocean", "at sea"], ["the sea under a blue sky", "an ocean landscape", "waves on the sea"], "ground"),
    "underwater": (["under water", "underwater", "under the sea"], ["an underwater scene with bubbles", "the bottom of the sea"], "float"),
    "beach": (["on a beach", "on the sand by the sea", "at the beach"], ["a sandy beach and the sea", "a sunny beach"], "ground"),
    "desert": (["in the desert", "on sand dunes"], ["a desert with sand dunes", "sand dunes under a hot sun"], "ground"),
    "snow": (["in the snow", "in winter", "on a snowy hill"], ["a snowy landscape", "falling snow in winter"], "ground"),
    "night": (["at night", "under a starry sky", "at night under the moon", "in the moonlight"], ["a night sky with stars and a moon", "a starry night landscape", "hills at night"], "ground"),
    "space": (["in space", "in outer space", "among the stars"], ["outer space with stars", "stars and a nebula in space", "deep space"], "float"),
    "sunset": (["at sunset", "in front of a sunset", "at dusk"], ["a sunset landscape", "the sun setting behind hills", "an orange sunset sky"], "ground"),
    "forest": (["in a forest", "in the woods", "among trees"], ["a forest of pine trees", "a green forest", "trees in the woods"], "ground"),
    "mountains": (["in the mountains", "in front of mountains"], ["a mountain landscape", "snowy mountains under a blue sky", "mountain peaks"], "ground"),
    "city": (["in a city", "in front of skyscrapers", "in the street of a city"], ["a city skyline", "tall buildings in a city", "a cityscape with skyscrapers"], "ground"),
    "nightcity": (["in a city at night"], ["a city at night with lit windows", "a night skyline"], "ground"),
    "room": (["in a room", "indoors", "on the floor of a room"], ["an empty room with a window", "the inside of a room"], "ground"),
    "table": (["on a wooden table", "on a table"], ["an empty wooden table"], "ground"),
    "road": (["on a road", "on the street", "on a highway"], ["a road through green hills", "an empty road"], "ground"),
    "stripes": (["on a striped background", "in front of stripes"], ["colorful stripes", "a striped pattern"], "float"),
    "checker": (["on a checkered background"], ["a checkerboard pattern"], "float"),
    "dots": (["on a polka dot background", "on a dotted background"], ["a polka dot pattern", "colorful dots"], "float"),
    "rays": (["with sun rays behind", "on a sunburst background"], ["a sunburst", "colorful rays"], "float"),
}
SCENE_NAMES = list(SCENES)
STYLES = {  # adjectives, tags
    "3d": (["3d", "glossy 3d", "3d rendered"], ["3d render", "3d style", "3d icon", "fluent 3d style", "glossy 3d render"]),
    "fluent": (["gradient", "smooth"], ["gradient illustration", "fluent style", "modern vector illustration", "soft gradients"]),
    "flat": (["flat"], ["flat icon", "flat style", "flat vector", "fluent flat style", "flat design"]),
    "noto": (["cartoon"], ["cartoon style", "noto style", "cartoon", "colorful cartoon"]),
    "notov1": (["retro cartoon"], ["retro emoji style", "old android style"]),
    "twemoji": (["simple flat", "minimal"], ["twemoji style", "minimal flat emoji", "sticker style", "minimal style"]),
    "emojione": (["classic"], ["emojione style", "classic emoji style"]),
    "fxemoji": (["rounded flat"], ["firefox style", "geometric flat style"]),
    "outline": (["outlined"], ["line art style", "outlined icon", "comic outline style", "streamline style", "thick outlines"]),
    "badge": (["round"], ["badge icon", "round badge", "icon in a circle"]),
    "flatcolor": (["flat"], ["color icon", "user interface icon"]),
    "clipart": (["clip art"], ["clip art", "clipart style", "hand drawn clip art", "vintage clip art"]),
    "silhouette": (["silhouette"], ["silhouette", "solid icon", "glyph icon"])}
# A bare prompt should have one look, which the model draws far more crisply than a mixture: only the 3D set goes unnamed,
# and things that it lacks.
PLAIN_STYLE = "3d"
NAMED_PLAIN_STYLE, NAMED_LACKING, ALWAYS_NAMED = .25, .5, ("badge", "silhouette")
SET_W = {"3d": 6.0, "fluent": .8, "noto": 1.2, "flat": .8, "twemoji": .8, "notov1": .12, "emojione": .15, "fxemoji": .2, "outline": 1.0, "badge": .2, "flatcolor": .3, "clipart": 1.2, "silhouette": .5}
# Small scenes of someone with something: who, and what may be worn on the head, on the nose, held or read (labels).
ACTORS = ["bear", "panda", "fox", "lion", "wolf", "koala", "raccoon", "frog", "hamster", "dog face", "cat face", "tiger face", "monkey face", "pig face", "mouse face",
          "cow face", "polar bear", "unicorn", "rabbit face", "dragon face", "penguin", "owl", "duck", "baby chick", "chicken", "octopus", "teddy bear", "robot", "ghost",
          "alien", "snowman", "snowman without snow", "dog", "cat", "rabbit", "monkey", "elephant", "pig", "turtle", "parrot", "t-rex", "dragon", "hedgehog", "otter", "jack-o-lantern"]
FACES = set(ACTORS[:17])  # pictures of a face from the front: glasses sit right on them
COMPANY_STYLES = ["3d", "3d", "3d", "noto", "flat", "twemoji", "fluent"]
HELD = ["balloon", "red heart", "wrapped gift", "guitar", "trumpet", "rose", "tulip", "sunflower", "bouquet", "ice cream", "lollipop", "doughnut", "pizza", "red apple", "hamburger",
        "carrot", "hot beverage", "soccer ball", "basketball", "magic wand", "umbrella", "pencil", "paintbrush", "envelope", "key", "hammer", "laptop", "camera", "trophy",
        "birthday cake", "candle", "banana", "fish", "star", "drum", "violin", "cookie", "strawberry", "telephone", "mobile phone", "crystal ball"]
COMPANY = {"who": ACTORS, "hat": ["top hat", "crown", "graduation cap", "billed cap"], "glasses": ["sunglasses", "glasses"], "read": ["open book", "newspaper"], "held": HELD}
COMPANY_WORDS = {"hat": ["{a} wearing {b}", "{a} with {b}"], "glasses": ["{a} wearing {b}", "{a} with {b}"],
                 "read": ["{a} reading {b}", "{a} reading {b}", "{a} with {b}"], "held": ["{a} holding {b}", "{a} with {b}", "{a} holding {b}"]}
GRP_W = {"animals-nature": 2.2, "food-drink": 1.8, "travel-places": 1.7, "objects": 1.2, "activities": 1.1, "smileys-emotion": .9, "people-body": .4, "symbols": .35, "flags": .22, "icons": .8}
PREFIX = ["a picture of", "an image of", "a drawing of", "an illustration of", "an icon of", "an emoji of", "a painting of", "a photo of"]
IRR = {"mouse": "mice", "sheep": "sheep", "fish": "fish", "deer": "deer", "wolf": "wolves", "leaf": "leaves", "knife": "knives", "person": "people", "man": "men", "woman": "women", "child": "children", "foot": "feet", "tooth": "teeth", "goose": "geese", "ox": "oxen", "loaf": "loaves", "scarf": "scarves", "shrimp": "shrimp", "bison": "bison", "squid": "squid", "swordfish": "swordfish"}
MASS = {"bread", "cheese", "bacon", "rice", "spaghetti", "pasta", "sushi", "honey", "salt", "butter", "milk", "fire", "rain", "snow", "ice", "fog", "smoke", "water", "coffee", "tea", "corn", "garlic", "ginger", "broccoli", "tempura", "oden", "popcorn", "love", "beer", "wine", "money", "music", "chocolate", "ramen", "soup", "salad", "mail", "champagne", "red wine", "curry rice", "camping", "cooking", "maize", "thread", "yarn", "soap"}


def plural(n):
    for sep in (" of ", " with ", " in ", " on ", " at "):
        if sep in n:
            a, b = n.split(sep, 1)
            return plural(a) + sep + b
    w = n.split(" ")
    l = w[-1]
    if l in IRR:
        l = IRR[l]
    elif re.search(r"(s|x|z|ch|sh)$", l):
        l += "es"
    elif re.search(r"[^aeiou]y$", l):
        l = l[:-1] + "ies"
    elif l in ("potato", "tomato", "mango", "volcano"):
        l += "es"
    else:
        l += "s"
    return " ".join(w[:-1] + [l])


def is_plural(n):
    l = n.split(" of ")[0].split(" with ")[0].split(" ")[-1]
    return (l.endswith("s") and not l.endswith(("ss", "us", "is", "cactus", "lens"))) or l in MASS or n in MASS or n.startswith(("flag", "mount ", "saturn", "earth", "jupiter"))


def art(n):
    if is_plural(n):
        return n
    return ("an " if n[0] in "aeiou" and not n.startswith(("uni", "use", "eu", "one", "u-")) else "a ") + n


# ------------------------------------------------------------------ tokenizer (CLIP byte-pair encoding)
def bytes_to_unicode():
    bs = list(range(ord("!"), ord("~") + 1)) + list(range(ord("¡"), ord("¬") + 1)) + list(range(ord("®"), ord("ÿ") + 1))
    cs, n = bs[:], 0
    for b in range(256):
        if b not in bs:
            bs.append(b)
            cs.append(256 + n)
            n += 1
    return dict(zip(bs, [chr(c) for c in cs]))


class Tokenizer:
    def __init__(self, folder):
        self.vocab = json.load(open(os.path.join(folder, "vocab.json"), encoding="utf-8"))
        lines = open(os.path.join(folder, "merges.txt"), encoding="utf-8").read().split("\n")[1:]
        self.ranks = {tuple(m.split()): i for i, m in enumerate(l for l in lines if l.strip())}
        self.bos, self.eos = self.vocab["<|startoftext|>"], self.vocab["<|endoftext|>"]
        self.b2u, self.cache = bytes_to_unicode(), {}
        self.pat = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d|[^\W\d_]+|\d|(?:[^\s\w]|_)+", re.UNICODE)

    def word(self, w):
        if w in self.cache:
            return self.cache[w]
        u = [self.b2u[b] for b in w.encode("utf-8")]
        p = tuple(u[:-1]) + (u[-1] + "</w>",)
        while len(p) > 1:
            pairs = [(self.ranks.get(q, 1 << 30), q) for q in zip(p[:-1], p[1:])]
            r, best = min(pairs)
            if r == 1 << 30:
                break
            out, i = [], 0
            while i < len(p):
                if i < len(p) - 1 and (p[i], p[i + 1]) == best:
                    out.append(p[i] + p[i + 1])
                    i += 2
                else:
                    out.append(p[i])
                    i += 1
            p = tuple(out)
        ids = [self.vocab[t] for t in p]
        self.cache[w] = ids
        return ids

    def __call__(self, text, length=77):
        ids = [self.bos]
        for w in self.pat.findall(" ".join(text.lower().split())):
            ids.extend(self.word(w))
        ids = ids[: length - 1] + [self.eos]
        return ids + [self.eos] * (length - len(ids))


# ------------------------------------------------------------------ scenes
def color_name(m):
    if m["brn"] > .5:
        return "brown"
    if m["blk"] > .6:
        return "black"
    if m["wht"] > .62:
        return "white"
    if m["gry"] > .6:
        return "gray"
    if m["sat"] > .45 and m["hfrac"] > .6 and m["brn"] < .25:
        h = m["hue"]
        for lim, n in ((14, "red"), (41, "orange"), (66, "yellow"), (165, "green"), (196, "teal"), (255, "blue"), (295, "purple"), (344, "pink"), (361, "red")):
            if h < lim:
                return n
    return None


def names_a_colour(name, label):
    """'blue bird' beside 'bird': the picture may have another colour, and colours are said where they are painted."""
    first, _, rest = name.partition(" ")
    known = label["names"] + [other for other, _ in label["alts"]]
    return (first in HUES or first in ("black", "white", "gray", "brown", "colorful")) and rest in known


class Scenes:
    def __init__(self, folder, n_bank, seed=0):
        M = json.load(open(os.path.join(folder, "meta.json"), encoding="utf-8"))
        self.labels, self.styles, self.groups = M["labels"], M["styles"], M["groups"]
        self.im = M["images"]
        self.tok = Tokenizer(os.path.join(folder, "tokenizer"))
        self.rng = np.random.default_rng(seed)
        self.n_bank = n_bank
        self.picture_of = {(self.styles[m["s"]], self.labels[m["l"]]["names"][0]): i for i, m in enumerate(self.im)}
        self.drop_shared_names()
        have = lambda style, labels: [label for label in labels if (style, label) in self.picture_of]
        companies = {style: {kind: have(style, labels) for kind, labels in COMPANY.items()} for style in COMPANY_STYLES}
        self.companies = {style: company for style, company in companies.items() if all(company.values())}
        w = np.array([SET_W[self.styles[m["s"]]] * GRP_W.get(self.groups[m["g"]], .5) for m in self.im])
        # several pictures of one label in one set share one place
        from collections import Counter
        c = Counter((m["s"], m["l"]) for m in self.im)
        w = w / np.array([c[(m["s"], m["l"])] ** .6 for m in self.im])
        self.cum = np.cumsum(w / w.sum())
        for m in self.im:
            m["col"] = color_name(m)
            m["named"] = self.how_often_named(m)
            g = self.groups[m["g"]]
            paintable = g not in ("people-body", "flags", "symbols") and self.styles[m["s"]] != "silhouette"
            m["recol"] = paintable and m["sat"] > .42 and m["hfrac"] > .55 and m["val"] > .55 and m["brn"] < .3
            m["shade"] = paintable and not m["recol"] and m["val"] > .4  # has no main hue: all of it takes the new one
        self.by_style = {}
        for i, m in enumerate(self.im):
            g = self.groups[m["g"]]
            if g in ("animals-nature", "food-drink", "travel-places", "objects", "activities"):
                self.by_style.setdefault(m["s"], []).append(i)

    def drop_shared_names(self):
        """A name means one label: 'dog' is the dog, not also the dog's face, or the model draws something in between."""
        owners = {label for style, label in self.picture_of if style == PLAIN_STYLE}
        for label in self.labels:
            free = lambda name: name == label["names"][0] or name not in owners
            label["names"] = [name for name in label["names"] if free(name)]
            label["alts"] = [(name, weight) for name, weight in label["alts"] if free(name) and not names_a_colour(name, label)]

    def how_often_named(self, m):
        style = self.styles[m["s"]]
        if style == PLAIN_STYLE:
            return NAMED_PLAIN_STYLE
        lacking = style not in ALWAYS_NAMED and (PLAIN_STYLE, self.labels[m["l"]]["names"][0]) not in self.picture_of
        return NAMED_LACKING if lacking else 1.0

    # --- words
    def pick(self, a):
        return a[int(self.rng.random() * len(a))]

    def name(self, m, plain=False):
        L = self.labels[m["l"]]
        r = self.rng.random()
        if L["alts"] and r < .38:
            ws = [a[1] for a in L["alts"]]
            x, t = self.rng.random() * sum(ws), 0
            for a, s in L["alts"]:
                t += s
                if x <= t:
                    return a
        return self.pick(L["names"])

    def noun(self, m, color=None, size=None, article=True, plur=False):
        L = self.labels[m["l"]]
        n = self.name(m)
        if color:
            n = L["nocol"] if (L["nocol"] and n == L["names"][0]) else n
            first = n.split(" ")[0]
            if first in HUES or first in ("black", "white", "gray", "brown", "golden"):
                n = n[len(first) + 1:] or n
            n = f"{color} {n}"
        if plur:
            return n if is_plural(n) else plural(n)
        if size:
            n = f"{size} {n}"
        return art(n) if article else n

    def caption(self, m, obj, bg, bare):
        """obj: noun phrase with an article; bg: ' on a blue background' or ''; bare: nothing was changed."""
        st = self.styles[m["s"]]
        adj, tags = STYLES[st]
        r = self.rng.random
        named = r() < m["named"]
        L = self.labels[m["l"]]
        if bare and not named and r() < .3:
            s = self.name(m)
            return s
        if bare and r() < .16 and L["kws"]:
            k = min(len(L["kws"]), 1 + int(r() * 4))
            kw = list(self.rng.choice(L["kws"], k, replace=False))
            return ", ".join([self.name(m)] + kw + ([self.pick(tags)] if named else []))
        if not named:
            return (self.pick(PREFIX) + " " if r() < .25 else "") + obj + bg
        q = r()
        if q < .55:
            return (self.pick(PREFIX) + " " if r() < .15 else "") + obj + bg + ", " + self.pick(tags)
        if q < .8:
            kind = self.pick(["illustration", "icon", "emoji", "drawing", "picture", "image"])
            return f"{art(self.pick(adj) + ' ' + kind)} of {obj}{bg}"
        o = re.sub(r"^(an?) ", "", obj)
        return f"{art(self.pick(adj) + ' ' + o)}{bg}"

    # --- one scene
    def background(self, allow_scene=True, p_white=.5):
        """-> (mode, colours[6], bank index, phrase, placement)"""
        r = self.rng.random()
        z = np.zeros(6, np.float32)
        if r < p_white:
            z[:3] = 1
            return 0, z, 0, (self.pick([" on a white background", " on white", " isolated on white"]) if self.rng.random() < .12 else ""), "full"
        r = self.rng.random()
        if r < .45 or not allow_scene:
            c = self.pick(CNAMES[1:])
            z[:3] = np.clip(np.array(COLORS[c]) / 255 + self.rng.normal(0, .02, 3), 0, 1)
            f = self.pick([" on a {} background", " on a {} background", " on {}", ", {} background", " with a {} background"])
            if self.rng.random() < .04:
                return 0, z, 0, "", "full"
            if c == "orange":
                f = f.replace(" on a {}", " on an {}")
            return 0, z, 0, f.format(c), "full"
        if r < .53:
            a, b = self.pick(CNAMES), self.pick(CNAMES)
            z[:3], z[3:] = np.array(COLORS[a]) / 255, np.array(COLORS[b]) / 255
            return 1, z, 0, self.pick([f" on a gradient background from {a} to {b}", f" on a {a} and {b} gradient background"]), "full"
        k = int(self.rng.random() * len(SCENE_NAMES))
        ph, _, place = SCENES[SCENE_NAMES[k]]
        return 2, z, k * self.n_bank + int(self.rng.random() * self.n_bank), " " + self.pick(ph), place

    def one(self, idx, geo, cm, ca, bgc):
        """Fills the rows of one scene; returns (bg mode, bank index, grey, captions)."""
        rng, r = self.rng, self.rng.random()
        if r < .035:  # background alone
            k = int(rng.random() * len(SCENE_NAMES))
            b = k * self.n_bank + int(rng.random() * self.n_bank)
            c = [self.pick(SCENES[SCENE_NAMES[k]][1]) for _ in range(2)]
            return 2, b, 0, [(self.pick(PREFIX) + " " if rng.random() < .25 else "") + x for x in c]
        if r < .085 and self.companies:
            return self.someone_with_something(idx, geo, cm, ca, bgc)
        i = int(np.searchsorted(self.cum, rng.random()))
        i = min(i, len(self.im) - 1)
        m = self.im[i]
        g, st = self.groups[m["g"]], self.styles[m["s"]]
        countable = g in ("animals-nature", "food-drink", "travel-places", "objects", "activities", "icons") and m["cov"] < .9
        color, grey = None, 0
        mode, arg = 0, (0.0, 0.0, 0.0)
        if st == "silhouette":
            color = self.pick(list(TINTS)) if rng.random() < .75 else "black"
            mode, arg = 5, tuple(np.array(TINTS[color], np.float32) / 255)
        elif m["shade"] and rng.random() < .12:
            color = self.pick(list(HUES))
            mode, arg = 6, (0.0, HUES[color], 0.0)
        elif m["recol"] and rng.random() < .24:
            q = rng.random()
            if q < .8:
                color = self.pick(list(HUES))
                mode, arg = 1, (m["hue"], HUES[color], 0.0)
            else:
                color = self.pick(["gray", "black", "white"])
                mode, arg = {"gray": 2, "black": 3, "white": 4}[color], (m["hue"], 0.0, 0.0)
        elif m["col"] and rng.random() < .22:
            color = m["col"]
        p_white = .5 if m["cov"] < .9 else .8
        if mode == 5 and color == "white":
            p_white = 0.0
        bm, bc, bi, bp, place = self.background(m["cov"] < .9, p_white)
        if mode == 5 and color == "white" and bm == 0 and bc[:3].min() > .8:
            bc[:3] = (.1, .1, .12)
            bp = " on a black background"
        bgc[:] = bc
        if st == "silhouette" and color == "black" and bm == 0 and bc[:3].max() < .3:
            bgc[:3] = (.98, .8, .2)
            bp = " on a yellow background"
        q = rng.random()
        style_tail = lambda: (", " + self.pick(STYLES[st][1])) if rng.random() < m["named"] else ""
        if countable and q < .075:  # counts
            n = 2 + int(rng.random() * 3)
            s = {2: .47, 3: .42, 4: .42}[n] * rng.uniform(.9, 1.0)
            pos = {2: [(.27, .5), (.73, .5)], 3: [(.5, .27), (.26, .73), (.74, .73)], 4: [(.27, .27), (.73, .27), (.27, .73), (.73, .73)]}[n]
            row = n == 3 and rng.random() < .4
            if row:
                s, pos = .31, [(.18, .5), (.5, .5), (.82, .5)]
            dy = rng.uniform(.05, .2) if (place == "ground" and n == 2) else 0
            for k, (x, y) in enumerate(pos):
                idx[k], cm[k], ca[k] = i, mode, arg
                geo[k] = (x, y + dy, s, 0, 0)
            num = {2: ["two", "2", "a pair of"], 3: ["three", "3"], 4: ["four", "4"]}[n]
            tail = " side by side" if (n == 2 and rng.random() < .4) else (" in a row" if row and rng.random() < .6 else "")
            return bm, bi, grey, [f"{self.pick(num)} {self.noun(m, color, plur=True)}{tail}{bp}{style_tail()}" for _ in range(2)]
        if countable and q < .185 and m["s"] in self.by_style and st != "silhouette":  # two different things
            j = self.pick(self.by_style[m["s"]])
            m2 = self.im[j]
            if m2["l"] != m["l"] and m2["cov"] < .92:
                c2, mode2, arg2 = None, 0, (0.0, 0.0, 0.0)
                if m2["recol"] and rng.random() < .3:
                    c2 = self.pick(list(HUES))
                    mode2, arg2 = 1, (m2["hue"], HUES[c2], 0.0)
                elif m2["col"] and rng.random() < .2:
                    c2 = m2["col"]
                lay = rng.random()
                if lay < .75 or place == "ground":
                    s = rng.uniform(.43, .48)
                    y = rng.uniform(.48, .54) if place != "ground" else rng.uniform(.58, .68)
                    geo[0], geo[1] = (.26, y, s, 0, 0), (.74, y, s, 0, 0)
                    rel = self.pick(["{a} and {b}", "{a} and {b}", "{a} next to {b}", "{a} on the left and {b} on the right", "{a} beside {b}", "{a} to the left of {b}"])
                else:
                    s = rng.uniform(.44, .48)
                    geo[0], geo[1] = (.5, .26, s, 0, 0), (.5, .74, s, 0, 0)
                    rel = self.pick(["{a} above {b}", "{a} on top of {b}", "{a} over {b}"])
                idx[0], cm[0], ca[0] = i, mode, arg
                idx[1], cm[1], ca[1] = j, mode2, arg2
                return bm, bi, grey, [rel.format(a=self.noun(m, color), b=self.noun(m2, c2)) + bp + style_tail() for _ in range(2)]
        # one thing
        idx[0], cm[0], ca[0] = i, mode, arg
        x, y, s, rot, size, tail = .5, .5, rng.uniform(.86, .95), 0.0, None, ""
        if place == "ground":
            s = rng.uniform(.62, .8)
            y = min(.97 - s / 2, rng.uniform(.52, .62))
            x = .5 + rng.uniform(-.08, .08)
        elif place == "float":
            s = rng.uniform(.66, .86)
            x, y = .5 + rng.uniform(-.06, .06), .5 + rng.uniform(-.06, .06)
        if m["cov"] < .9:
            q = rng.random()
            if q < .035:
                s, size = rng.uniform(.26, .36), self.pick(["small", "tiny", "little"])
                x, y = rng.uniform(.3, .7), (y if place == "ground" else rng.uniform(.3, .7))
            elif q < .05:
                s, size = rng.uniform(1.0, 1.15), self.pick(["large", "big", "huge"])
                y = .5
            elif q < .085:
                s = rng.uniform(.42, .5)
                k = int(rng.random() * 4)
                x, y = [(.26, y), (.74, y), (.5, .26), (.5, .74)][k]
                tail = [" on the left", " on the right", " at the top", " at the bottom"][k]
            elif q < .12:
                s, rot = min(s, .85), 180.0
                size = "upside down"
            elif q < .135:
                s, rot = min(s, .78), self.pick([30.0, -30.0, 40.0, -40.0])
                size = "tilted"
            elif q < .15:
                s, k = rng.uniform(1.6, 2.0), 0
                tail = self.pick([", close up", ", closeup view"])
                x, y = rng.uniform(.3, .7), rng.uniform(.4, .7)
            else:
                x, y = x + rng.uniform(-.015, .015), y + rng.uniform(-.015, .015)
        geo[0] = (x, y, s, rot, 0)  # never mirrored: facing one way only, animals get one head
        pre = ""
        if rng.random() < .012 and st != "silhouette" and not color:
            grey, pre = 1, "black and white "
        bare = not (color and mode) and not bp and not size and not tail and not grey
        out = []
        for _ in range(2):
            if st == "silhouette":
                n = self.noun(m)
                c = "" if (color == "black" and rng.random() < .5) else color + " "
                t = self.pick(["{c}silhouette of {n}", "{c}icon of {n}", "{n0}, {c}silhouette", "{c}{n0} icon", "{c}glyph of {n}", "{c}{n0} silhouette"])
                cap = t.format(c=c, n=n, n0=re.sub(r"^(an?) ", "", n)) + tail + bp
                if t[0] == "{" and rng.random() < .6:
                    cap = art(cap)
                if size:
                    cap = f"{size} {cap}"
            else:
                cap = self.caption(m, self.noun(m, color, size), tail + bp, bare)
                if grey:
                    cap = self.pick(["black and white {}", "{}, black and white", "{}, monochrome", "{}, grayscale"]).format(cap)
            out.append(cap)
        return bm, bi, grey, out

    def someone_with_something(self, idx, geo, cm, ca, bgc):
        rng = self.rng
        style = self.pick([style for style in COMPANY_STYLES if style in self.companies])
        company = self.companies[style]
        who = self.pick(company["who"])
        kind = self.pick(["hat", "held", "held", "read", "glasses"] if who in FACES else ["hat", "held", "held", "read"])
        what, words = self.pick(company[kind]), COMPANY_WORDS[kind]
        i, j = self.picture_of[style, who], self.picture_of[style, what]
        m, other = self.im[i], self.im[j]
        bm, bc, bi, bp, place = self.background(True, .6)
        bgc[:] = bc
        shift = .03 if place == "ground" else 0.0
        if kind == "hat":
            geo[0], geo[1] = (.5, .6 + shift, .74, 0, 0), (.5, .15 + shift, rng.uniform(.38, .46), 0, 0)
        elif kind == "glasses":
            geo[0], geo[1] = (.5, .52, .86, 0, 0), (.5, .5, rng.uniform(.52, .6), 0, 0)
        else:
            geo[0], geo[1] = (.5, .44 + shift, .8, 0, 0), (rng.uniform(.46, .54), .78, rng.uniform(.36, .42) + (.06 if kind == "read" else 0), 0, 0)
        idx[0], idx[1] = i, j
        colours = [None, None]
        for k, one in enumerate((m, other)):
            if one["recol"] and rng.random() < .15:
                colours[k] = self.pick(list(HUES))
                cm[k], ca[k] = 1, (one["hue"], HUES[colours[k]], 0.0)
        tail = (", " + self.pick(STYLES[style][1])) if rng.random() < m["named"] else ""
        out = []
        for _ in range(2):
            b = self.noun(other, colours[1])
            if kind == "read" and what == "open book" and not colours[1]:
                b = "a book"
            out.append(self.pick(words).format(a=self.noun(m, colours[0]).replace(" face", ""), b=b) + bp + tail)
        return bm, bi, 0, out

    def chunk(self, n):
        idx = np.full((n, K), -1, np.int32)
        geo = np.zeros((n, K, 5), np.float32)
        cm = np.zeros((n, K), np.int8)
        ca = np.zeros((n, K, 3), np.float32)
        bgc = np.zeros((n, 6), np.float32)
        bgm, bgi, grey = np.zeros(n, np.int8), np.zeros(n, np.int32), np.zeros(n, np.int8)
        tok = np.zeros((n, 2, 77), np.int16)
        caps = []
        for a in range(n):
            bgm[a], bgi[a], grey[a], c = self.one(idx[a], geo[a], cm[a], ca[a], bgc[a])
            caps.append(c)
            for k in range(2):
                tok[a, k] = self.tok(c[k])
        return dict(idx=idx, geo=geo, cm=cm, ca=ca, bgc=bgc, bgm=bgm, bgi=bgi, grey=grey, tok=tok), caps


def cut_data(folder, target, limit):
    """A data folder of the first pictures only, for smoke tests."""
    os.makedirs(target, exist_ok=True)
    meta = json.load(open(os.path.join(folder, "meta.json"), encoding="utf-8"))
    meta["images"] = meta["images"][:limit]
    json.dump(meta, open(os.path.join(target, "meta.json"), "w"))
    if not os.path.exists(os.path.join(target, "tokenizer")):
        os.symlink(os.path.abspath(os.path.join(folder, "tokenizer")), os.path.join(target, "tokenizer"))
    return target


def worker(folder, n_bank, seed, n, queue, stop):
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    s = Scenes(folder, n_bank, seed)
    while not stop.is_set():
        d, _ = s.chunk(n)
        while not stop.is_set():
            try:
                queue.put(d, timeout=1)
                break
            except Exception:
                pass
