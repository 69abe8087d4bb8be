"""Prompt and expansion pairs, made by rule. `Grammar(lexicon, seed).pair()` gives (prompt, mode, expansion).

The modes are what the model that will draw understands:
  doodle  the words of doodle's own captions and nothing else (plus whatever the user wrote)
  tags    comma-separated detail, for models that read through CLIP
  prose   sentences, for models that read through a language model
An expansion holds every word of the prompt in the prompt's order, fills the slots the prompt leaves open (setting, style, colour,
composition) and leaves alone those it has filled. One pair in six is about words that mean nothing, so that copying is learned as copying.
"""
import json, random, re

from kinds import (ADJECTIVES, ASKING, COMPOSITION, COMPOUND, DOINGS, DOODLE, LIGHT, MEDIUM, MOOD, OPEN, PALETTE, PLACED, QUALITY, SCENE_COMPANION,
                   SCENE_PROMPTS)

MODES = ("doodle", "tags", "prose")
MODE_WEIGHTS = (62, 22, 16)
# how often each kind is drawn: what people ask for, rather than how many labels there are
KIND_WEIGHTS = {"pet": 8, "bird": 5, "sea": 5, "bug": 4, "reptile": 3, "farm": 4, "wild": 7, "flower": 4, "tree": 4, "plant": 3, "fruit": 5, "drink": 3, "sweet": 4, "food": 6,
                "car": 6, "boat": 4, "plane": 3, "space": 5, "building": 6, "furniture": 3, "kitchen": 3, "music": 3, "weapon": 2, "tool": 2, "clothes": 3, "toy": 4, "machine": 4,
                "paper": 2, "person": 7, "fantasy": 6, "land": 3, "body": 1, "thing": 8, "face": 5, "flag": 1, "sign": 1, "weather": 4}
STYLE_WEIGHTS = {"3d": 30, "fluent": 14, "flat": 10, "noto": 16, "notov1": 2, "twemoji": 5, "emojione": 3, "fxemoji": 2, "outline": 6, "badge": 2, "flatcolor": 1, "clipart": 7, "silhouette": 2}
COUNTS = {"two": 2, "three": 3, "four": 4, "2": 2, "3": 3, "a pair of": 2}
# the slots of a prompt beside its kind, noun and adjectives
EMPTY = dict(count=None, many=False, owner="", color=None, doing="", setting="", style="", second="")
SYLLABLES = "ka lo mi zu ra ten vor qui sha bre ul dix no pla fe gor wy tho ne sto ix bam cho dra el fu gri hy jo kru".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FOREIGN = "éèüöäßñçøåščžłàêîôûабвгдежзиклмнопрстуわたしねこいぬ猫犬花山川海空龍火水木ελληνικά🐱🐶🌸🚀🍕"


class Grammar:
    def __init__(self, lexicon, seed=0):
        data = json.load(open(lexicon, encoding="utf-8")) if isinstance(lexicon, str) else lexicon
        self.rng = random.Random(seed)
        self.own, self.english, self.world = data["doodle"], data["english"], data["world"]
        self.mass, self.irregular = set(self.world["mass"]), self.world["irregular"]
        self.settings = {k: ([s.split(":")[0] for s in v[0].split()], [int(s.split(":")[1]) for s in v[0].split()]) for k, v in DOODLE.items()}
        self.kinds, self.kind_weights = list(KIND_WEIGHTS), list(KIND_WEIGHTS.values())
        self.everyday = [n for ns in self.english.values() for n in ns]
        self.style_names = list(self.world["styles"])
        self.style_weights = [STYLE_WEIGHTS[s] for s in self.style_names]
        self.colors = set(self.world["colors"]) | set(self.world["hues"]) | {"golden", "silver"}

    # ---- small words
    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return items[int(self.rng.random() * len(items))]

    def plural(self, noun):
        for sep in (" of ", " with ", " in ", " on ", " at "):
            if sep in noun:
                a, b = noun.split(sep, 1)
                return self.plural(a) + sep + b
        head, _, last = noun.rpartition(" ")
        if last in self.irregular:
            last = self.irregular[last]
        elif re.search(r"(s|x|z|ch|sh)$", last):
            last += "es"
        elif re.search(r"[^aeiou]y$", last):
            last = last[:-1] + "ies"
        else:
            last += "s"
        return (head + " " + last).strip()

    def countless(self, noun):
        last = noun.split(" of ")[0].split(" with ")[0].split(" ")[-1]
        return (last.endswith("s") and not last.endswith(("ss", "us", "is"))) or last in self.mass or noun in self.mass or noun.startswith(("flag", "mount ", "saturn", "earth"))

    def article(self, phrase):
        return ("an " if phrase[0] in "aeiou" and not phrase.startswith(("uni", "use", "eu", "one ")) else "a ") + phrase

    # ---- what the user wants to see
    def nonsense(self):
        r = self.rng.random()
        if r < .45:
            return "".join(self.pick(SYLLABLES) for _ in range(2 + int(self.rng.random() * 3)))
        if r < .7:
            return "".join(self.pick(LETTERS) for _ in range(3 + int(self.rng.random() * 7)))
        if r < .8:
            return "".join(self.pick(FOREIGN) for _ in range(1 + int(self.rng.random() * 4)))
        if r < .9:
            return str(int(self.rng.random() * 10 ** self.pick([1, 2, 3, 4])))
        return self.pick(self.everyday) + self.pick(["", "-" + self.pick(SYLLABLES), "'s " + self.pick(SYLLABLES)])

    def subject(self):
        """(kind, noun)"""
        r = self.rng.random()
        if r < .12:
            return "unknown", " ".join(self.nonsense() for _ in range(self.pick([1, 1, 1, 2, 2, 3])))
        kind = self.rng.choices(self.kinds, self.kind_weights)[0]
        if r < .7 or kind not in self.english:
            names = self.pick(self.own[kind])
            return kind, names[0] if self.chance(.65) else self.pick(names)
        return kind, self.pick(self.english[kind])

    def request(self):
        """The slots a prompt fills: a dictionary; the words are lower case."""
        kind, noun = self.subject()
        q = dict(EMPTY, kind=kind, noun=noun, words=[])
        r = self.rng.random()
        countable = not self.countless(noun) and kind not in ("unknown", "flag", "sign", "land", "weather")
        if countable and r < .06:
            q["count"] = self.pick(list(COUNTS))
        elif countable and r < .12:
            q["noun"], q["many"] = self.plural(noun), True
        elif r < .18:
            q["owner"] = self.pick(["the", "the", "my", "your", "his", "her", "this", "one", "some"])
        if self.chance(.16) and noun.split(" ")[0] not in self.colors:
            q["color"] = self.pick(self.world["hues"] + ["black", "white", "gray", "brown"])
        if self.chance(.26):
            q["words"] = [self.pick(ADJECTIVES) for _ in range(self.pick([1, 1, 1, 2]))]
        if self.chance(.04):
            q["words"].append(self.nonsense())
        if self.chance(.2):
            q["doing"] = self.pick(DOINGS)
            if self.chance(.25):
                q["doing"] = self.pick(["with", "and", "holding", "next to", "riding", "inside", "on top of", "looking at", "chasing"]) + " " + self.article(self.subject()[1])
        elif self.chance(.06):
            q["second"] = self.subject()[1]
        if self.chance(.13) and q["doing"] not in PLACED:
            q["setting"] = self.own_setting(kind)
        if self.chance(.1):
            q["style"] = self.pick(self.world["styles"][self.pick(self.style_names)][1]) if self.chance(.6) else self.pick(MEDIUM)
        return q

    def noun_phrase(self, q, article, extra=()):
        noun = q["noun"]
        head = " ".join([*extra, *q["words"], *([q["color"]] if q["color"] else []), self.plural(noun) if q["count"] else noun])
        if q["count"]:
            return q["count"] + " " + head
        if q["owner"]:
            return q["owner"] + " " + head
        if not article or q["many"] or self.countless(noun) or (q["kind"] == "unknown" and not q["words"] and not q["color"] and not extra):
            return head
        return self.article(head)

    def body(self, q, article, extra=()):
        s = self.noun_phrase(q, article, extra)
        if q["second"]:
            s += " and " + (self.article(q["second"]) if article and not self.countless(q["second"]) else q["second"])
        return s + (" " + q["doing"] if q["doing"] else "")

    def prompt(self, q, article):
        s = self.body(q, article)
        if q["setting"]:
            s += " " + q["setting"]
        if q["style"]:
            s += ", " + q["style"]
        if self.chance(.05):
            s = self.pick(ASKING) + " " + s
        elif self.chance(.05):
            s = self.pick(self.world["prefixes"]) + " " + s
        return s

    # ---- doodle's world
    def own_setting(self, kind):
        names, weights = self.settings[kind]
        name = self.rng.choices(names, weights)[0]
        if name in COMPOUND and self.chance(.3):
            return self.pick(COMPOUND[name])
        return self.pick(self.world["scenes"][name][0])

    def own_background(self, kind):
        r = self.rng.random()
        plain = kind in ("face", "flag", "sign", "body", "unknown", "thing", "toy", "clothes", "music")
        if r < (.5 if plain else .18):
            c = self.pick(self.world["colors"])
            return self.pick([" on " + self.article(c) + " background", " on " + self.article(c) + " background", ", " + c + " background", " with " + self.article(c) + " background"])
        if r < (.58 if plain else .23):
            a, b = self.rng.sample(self.world["colors"], 2)
            return self.pick([f" on a gradient background from {a} to {b}", f" on a {a} and {b} gradient background"])
        return " " + self.own_setting(kind)

    def expand_doodle(self, q):
        kind = q["kind"]
        adjectives, tags = self.world["styles"][self.rng.choices(self.style_names, self.style_weights)[0]]
        q = dict(q)
        placed = bool(q["setting"]) or q["doing"] in PLACED
        styled = bool(q["style"])
        colours = DOODLE[kind][1].split()
        first = q["noun"].split(" ")[0]
        extra, tail = [], ""
        if colours and not q["color"] and first not in self.colors and kind not in ("unknown", "face") and self.chance(.42 if not placed or not styled else .8):
            q["color"] = self.pick(colours)
        free = not q["count"] and not q["second"] and not q["doing"] and not q["owner"]
        r = self.rng.random()
        companion = ""
        if free and r < .2 and kind not in ("face", "flag", "sign", "body", "unknown"):
            companion = self.pick(DOODLE[kind][2].split("|"))
            if companion in q["noun"] or q["noun"] in companion:
                companion = ""
            else:
                tail = self.pick([" next to ", " and ", " beside ", " to the left of "]) + self.article(companion)
        elif free and r < .3:
            extra = [self.pick(["small", "little", "large", "big"])]
        elif q["count"] and COUNTS[q["count"]] == 2 and r < .5:
            tail = " side by side"
        elif q["count"] and COUNTS[q["count"]] == 3 and r < .5:
            tail = " in a row"
        lead = max(self.rng.random(), .22 if q["owner"] else 0)
        if not styled and lead < .22:
            extra = [self.pick(adjectives), *extra]
        body = self.body(q, True, extra) + tail + (" " + q["setting"] if q["setting"] else "")
        if not placed:
            body += self.own_background(kind)
        if not styled and .22 <= lead < .45:
            body = self.article(self.pick(adjectives) + " " + self.pick(["illustration", "drawing", "picture", "image", "icon"])) + " of " + body
        ends = []
        if styled:
            ends.append(q["style"])
        elif lead >= .45 or self.chance(.6):
            ends.append(self.pick(tags))
        if free and not extra and not companion and self.chance(.14):
            ends.append(self.pick(["close up", "closeup view"]))
        elif placed and self.chance(.3):
            ends.append(self.pick(["soft gradients", "thick outlines", "colorful cartoon", "glossy 3d render", "modern vector illustration"]))
        return ", ".join([body, *dict.fromkeys(ends)])

    def scene_pair(self):
        words = self.pick(list(SCENE_PROMPTS))
        phrase = self.pick(SCENE_PROMPTS[words])
        prompt = words if self.chance(.6) else self.pick(["the ", "a "]) + words
        tail = ""
        if self.chance(.4):
            tail = " with " + self.article(self.pick(SCENE_COMPANION["a "]))
        _, tags = self.world["styles"][self.pick(["3d", "fluent", "flat", "noto", "clipart"])]
        return prompt, "doodle", phrase + (tail if " with " not in phrase else "") + ", " + self.pick(tags)

    # ---- models that know the whole world
    def open_slots(self, q):
        places, doings, details = (part.split("|") for part in OPEN[q["kind"]])
        placed = bool(q["setting"]) or q["doing"] in PLACED
        return dict(place=q["setting"] or ("" if placed else self.pick(places)), doing="" if q["doing"] or q["second"] or q["count"] or q["many"] else self.pick(doings), details=self.rng.sample(details, min(len(details), self.pick([1, 1, 2]))),
                    light=self.pick(LIGHT), view=self.pick(COMPOSITION), palette=self.pick(PALETTE), mood=self.pick(MOOD), medium=q["style"] or self.pick(MEDIUM), quality=self.pick(QUALITY))

    def expand_tags(self, q):
        s = self.open_slots(q)
        body = " ".join(x for x in (self.body(q, True), s["doing"] if self.chance(.6) else "", s["place"]) if x)
        rest = [*s["details"], s["light"], s["view"], *([s["palette"]] if not q["color"] and self.chance(.6) else []), *([s["mood"]] if self.chance(.5) else [])]
        self.rng.shuffle(rest)
        return ", ".join([body, *rest, s["medium"], *([s["quality"]] if self.chance(.5) else [])])

    def expand_prose(self, q):
        s = self.open_slots(q)
        start = self.pick([self.article(s["medium"]) + " of ", self.article(s["medium"]) + " showing ", ""]) if not q["style"] else ""
        body = start + " ".join(x for x in (self.body(q, True), s["doing"], s["place"]) if x) + (", " + q["style"] if q["style"] else "")
        detail = " and ".join(s["details"])
        lines = [body + self.pick([", with " + detail, "", ", showing " + detail])]
        if detail not in lines[0]:
            lines.append(self.pick(["you can see " + detail, "the picture shows " + detail, detail + " stand out"]))
        lines.append(self.pick(["the scene is lit by ", "there is ", "it is bathed in "]) + s["light"])
        end = [self.pick(["the view is a ", "framing: "]) + s["view"] if self.chance(.5) else "composition: " + s["view"]]
        if not q["color"] and self.chance(.6):
            end.append(s["palette"])
        if self.chance(.6):
            end.append(s["mood"])
        lines.append(", ".join(end))
        return ". ".join(lines) + "."

    def copy_pair(self, mode):
        """Long prompts of words without sense: all of them come back, then something is added."""
        words = [self.nonsense() if self.chance(.5) else self.pick(self.everyday if self.chance(.6) else ADJECTIVES) for _ in range(2 + int(self.rng.random() * 12))]
        joined = []
        for i, w in enumerate(words):
            joined.append(w + ("," if i < len(words) - 1 and self.chance(.1) else ""))
            if self.chance(.2) and i < len(words) - 1:
                joined.append(self.pick(["of", "the", "a", "in", "on", "with", "and", "from", "is", "under", "for"]))
        q = dict(EMPTY, kind="unknown", noun=" ".join(joined), words=[])
        return q["noun"], mode, self.expand(q, mode)

    def expand(self, q, mode):
        return {"doodle": self.expand_doodle, "tags": self.expand_tags, "prose": self.expand_prose}[mode](q)

    def pair(self):
        mode = self.rng.choices(MODES, MODE_WEIGHTS)[0]
        r = self.rng.random()
        if r < .1:
            return self.copy_pair(mode)
        if r < .15 and mode == "doodle":
            return self.scene_pair()
        q = self.request()
        return self.prompt(q, self.chance(.5)), mode, self.expand(q, mode)


if __name__ == "__main__":
    import os, sys, time
    g = Grammar(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lexicon.json"), int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for _ in range(40):
        p, m, e = g.pair()
        print(f"{p}  <{m}>  {e}")
    t = time.time()
    for _ in range(20000):
        g.pair()
    print(f"{20000 / (time.time() - t):.0f} pairs a second")
