"""What fits what: for every kind of thing the settings, colours and companions (in doodle's words), and the places, doings and details for larger models."""

# kind -> (settings in doodle's world with weights, natural colours, companions doodle can draw)
DOODLE = {
    "pet": ("meadow:4 room:4 beach:1 snow:1 night:1 table:1", "brown white black gray orange beige", "yarn|bone|soccer ball|potted plant|butterfly|house|fish"),
    "bird": ("sky:5 forest:3 meadow:2 sea:1 sunset:2 snow:1 night:1", "blue red yellow white green brown", "tree|cloud|sunflower|sun|rainbow|egg"),
    "sea": ("underwater:6 sea:4 beach:2 sunset:1", "blue orange red teal gray pink", "coral|spiral shell|crab|sailboat|anchor|tropical fish"),
    "bug": ("meadow:5 forest:3 sky:1", "red yellow black green blue orange", "sunflower|tulip|leaf|mushroom|rose"),
    "reptile": ("desert:4 forest:3 meadow:2 beach:1", "green brown yellow teal", "cactus|rock|palm tree|sun"),
    "farm": ("meadow:6 road:1 sunset:2 snow:1 mountains:1", "brown white black gray", "house|tree|sunflower|tractor|sun"),
    "wild": ("forest:5 meadow:3 mountains:2 snow:2 sunset:2 night:2 desert:1", "brown gray orange white black", "tree|mushroom|mountain|full moon|evergreen tree"),
    "flower": ("meadow:5 table:2 room:2 sky:1 sunset:1", "red pink yellow purple white orange", "butterfly|honeybee|potted plant|sun"),
    "tree": ("meadow:5 forest:3 mountains:2 snow:2 sunset:2 night:1 beach:1", "green orange yellow brown", "bird|house|sun|deer|mushroom"),
    "plant": ("meadow:4 forest:3 room:2 desert:1 table:2", "green yellow brown red", "butterfly|sun|snail|honeybee"),
    "fruit": ("table:7 meadow:1 rays:1 dots:2 stripes:1", "red green yellow orange purple", "glass of milk|basket|banana|red apple|lemon"),
    "drink": ("table:6 beach:2 dots:1 stripes:1 room:1", "brown red orange green yellow blue", "cookie|lemon|doughnut|croissant"),
    "sweet": ("table:6 dots:3 stripes:2 rays:1", "pink brown white purple yellow", "candle|strawberry|hot beverage|balloon"),
    "food": ("table:8 room:1 checker:1 dots:1", "brown yellow orange red green", "glass of milk|tomato|fork and knife|hot beverage"),
    "car": ("road:6 city:4 desert:1 nightcity:2 mountains:1 sunset:1", "red blue yellow black white green orange", "traffic light|tree|house|fuel pump"),
    "boat": ("sea:7 sunset:2 beach:1 night:1", "white red blue brown", "anchor|dolphin|sun|whale|island"),
    "plane": ("sky:7 sunset:2 mountains:1 night:1", "white blue red yellow gray", "cloud|sun|rainbow|bird"),
    "space": ("space:7 night:3 sky:1", "yellow red blue white orange purple", "ringed planet|flying saucer|comet|astronaut|full moon"),
    "building": ("meadow:4 city:3 mountains:2 night:2 snow:2 sunset:2 nightcity:1 beach:1 forest:1", "red brown white yellow gray blue", "tree|automobile|sun|evergreen tree|bicycle"),
    "furniture": ("room:8", "brown red white blue green", "potted plant|cat|light bulb|teddy bear"),
    "kitchen": ("table:6 room:3", "white blue red brown green gray", "hot beverage|bread|red apple|spoon"),
    "music": ("room:4 rays:2 dots:1 stripes:1 table:1 sunset:1", "brown red black blue yellow", "musical note|microphone|headphone|star"),
    "weapon": ("mountains:2 forest:1 night:2 table:1 rays:1", "gray brown black red", "shield|castle|dragon|crown"),
    "tool": ("table:5 room:2 checker:1 meadow:1", "gray red brown yellow blue", "toolbox|wood|gear|screwdriver"),
    "clothes": ("room:3 table:1 stripes:2 dots:2 beach:1", "red blue black white pink green purple", "handbag|crown|mirror|glasses"),
    "toy": ("room:3 meadow:3 rays:2 stripes:2 dots:1 table:1", "red blue yellow green orange white", "teddy bear|balloon|star|trophy"),
    "machine": ("room:3 table:3 city:1 rays:1 checker:1", "gray black white blue red", "laptop|light bulb|gear|robot"),
    "paper": ("table:6 room:3", "white blue red green brown", "pencil|glasses|hot beverage|light bulb"),
    "person": ("city:3 room:3 beach:2 meadow:2 road:2 mountains:1 night:1 snow:1 sunset:1", "", "dog|bicycle|balloon|guitar|automobile|house"),
    "fantasy": ("mountains:3 night:4 forest:3 sky:2 sunset:1 space:1", "green red purple blue black white", "castle|crystal ball|star|full moon|mushroom"),
    "land": ("sunset:3 night:2 sky:2 sea:1 snow:1 mountains:1", "", "sun|tree|sailboat|bird|cloud"),
    "body": ("rays:2 dots:1 stripes:1", "red pink blue yellow", "star|red heart"),
    "thing": ("room:3 table:4 rays:2 dots:1 stripes:1 checker:1 night:1", "red blue yellow green brown gray black", "star|key|lantern|book|potted plant"),
    "face": ("rays:3 dots:2 stripes:1 sky:1", "yellow blue red green purple pink", "red heart|star|balloon|party popper"),
    "flag": ("sky:4 mountains:1 rays:1 city:1", "", "balloon|trophy|castle"),
    "sign": ("stripes:2 checker:2 dots:2 rays:2", "red blue green yellow purple", "star|gear"),
    "weather": ("sky:5 mountains:2 meadow:2 sea:1 night:1", "blue white gray", "rainbow|sun|umbrella|tree|house"),
    "unknown": ("meadow:2 sky:2 room:2 table:2 forest:1 city:1 night:1 space:1 rays:2 dots:1 stripes:1 beach:1 mountains:1", "red blue yellow green purple white", "star|tree|sun|balloon"),
}
# two of doodle's setting phrases that go together
COMPOUND = {
    "meadow": ["in a meadow under a blue sky", "in a green field at sunset", "on green grass in front of mountains", "on a grassy hill at night under the moon"],
    "sea": ["on the sea at sunset", "on the water under a starry sky", "at sea in front of a cloudy sky", "on the sea at night under the moon"],
    "beach": ["on a beach at sunset", "on the sand by the sea under a blue sky", "on a beach at night"],
    "snow": ["on a snowy hill in front of mountains", "in the snow at night", "in the snow among trees", "in winter at dusk"],
    "mountains": ["in front of mountains at sunset", "in the mountains under a starry sky", "in front of mountains under a blue sky", "in the mountains in winter"],
    "forest": ["in a forest at night", "among trees in the snow", "in a forest in the moonlight", "in the woods at dusk"],
    "city": ["in front of skyscrapers at sunset", "in the street of a city in winter", "in a city under a blue sky"],
    "road": ["on a road in front of mountains", "on a road through green hills", "on a highway at sunset", "on the street in front of skyscrapers"],
    "desert": ["on sand dunes under a hot sun", "in the desert at sunset", "in the desert under a starry sky"],
    "sky": ["in a blue sky with clouds at sunset", "in the sky with sun rays behind"],
    "room": ["in a room with a window", "on the floor of a room with a window"],
    "table": ["on a wooden table in a room", "on a wooden table, beige background", "on a table with a checkered background"],
    "space": ["in outer space among the stars", "in space with stars and a nebula", "in deep space"],
    "night": ["under a starry sky with a moon", "on hills at night under the moon"],
    "underwater": ["under the sea with bubbles", "under water at the bottom of the sea"],
}
# whole-scene prompts: words a user may type -> doodle's phrases that hold those words
SCENE_PROMPTS = {
    "sky": ["a blue sky with white clouds", "a cloudy sky", "clouds in the sky"], "clouds": ["a blue sky with white clouds", "clouds in the sky"],
    "meadow": ["a green meadow under a blue sky"], "hills": ["grassy hills", "a landscape with green hills", "hills at night"], "grass": ["a field of grass", "a field of green grass under a blue sky"], "field": ["a field of grass", "a green field under a blue sky"],
    "sea": ["the sea under a blue sky", "waves on the sea"], "ocean": ["an ocean landscape"], "waves": ["waves on the sea", "waves on the sea at sunset"], "beach": ["a sandy beach and the sea", "a sunny beach"],
    "desert": ["a desert with sand dunes"], "dunes": ["sand dunes under a hot sun", "a desert with sand dunes"], "snow": ["a snowy landscape with falling snow", "falling snow in winter"], "winter": ["falling snow in winter", "a snowy landscape in winter"],
    "night": ["a starry night landscape", "hills at night", "a city at night with lit windows"], "night sky": ["a night sky with stars and a moon"], "stars": ["a night sky with stars and a moon", "outer space with stars"], "space": ["outer space with stars", "stars and a nebula in space", "deep space"], "nebula": ["stars and a nebula in space"],
    "sunset": ["a sunset landscape", "an orange sunset sky"], "forest": ["a forest of pine trees", "a green forest"], "woods": ["trees in the woods"], "trees": ["trees in the woods", "a forest of pine trees"],
    "mountains": ["snowy mountains under a blue sky"], "mountain": ["a mountain landscape", "mountain peaks"], "city": ["tall buildings in a city", "a city skyline", "a city at night with lit windows"], "skyline": ["a city skyline", "a night skyline"], "skyscrapers": ["a cityscape with skyscrapers"],
    "room": ["an empty room with a window", "the inside of a room"], "table": ["an empty wooden table"], "road": ["a road through green hills", "an empty road"], "stripes": ["colorful stripes"], "dots": ["colorful dots"], "sunburst": ["a sunburst"], "rays": ["colorful rays"],
    "landscape": ["a mountain landscape", "a snowy landscape", "a sunset landscape", "a landscape with green hills", "an ocean landscape"], "underwater": ["an underwater scene with bubbles"],
}
SCENE_COMPANION = {"a ": ["sun", "bird", "tree", "house", "sailboat", "full moon", "rainbow", "balloon", "deer", "castle", "airplane", "rocket"]}

# ---- larger models: where a thing may be, what it does, what to show of it
OPEN = {
    "pet": ("on a worn rug by the fireplace|in a sunlit living room|on a garden path|beside a rainy window|in a field of wild flowers|on a cobbled lane", "resting|looking up|playing|curled up|sitting quietly", "soft detailed fur|bright curious eyes|whiskers catching the light"),
    "bird": ("on a mossy branch|above a misty lake|among blossoming twigs|on a weathered fence post|over a rocky coast|in tall reeds", "perched|spreading its wings|gliding|singing", "finely drawn feathers|iridescent plumage|a sharp bright eye"),
    "sea": ("over a coral reef|in deep blue water|near a sandy sea floor|in a shallow tide pool|among swaying kelp|below sunlit waves", "drifting|swimming|gliding slowly", "light rippling over its skin|small bubbles rising|shimmering colours"),
    "bug": ("on a dewy leaf|on an open flower|on a blade of grass|on rough tree bark|in a summer garden", "resting|crawling|taking off", "delicate wings|fine hairs and facets|tiny drops of water"),
    "reptile": ("on a sun-warmed rock|in a desert canyon|on a jungle branch|beside a green pond|in dry leaves", "basking|watching|moving slowly", "textured scales|a watchful eye|patterned skin"),
    "farm": ("in a green pasture|beside an old wooden barn|on a hillside at dawn|behind a stone wall|on a dusty farm track", "grazing|standing calmly|walking", "a soft coat|breath visible in the cool air|gentle eyes"),
    "wild": ("in an ancient forest|on a misty mountain slope|on the open savanna|in fresh snow|at the edge of a river|in tall golden grass", "standing alert|walking|resting|looking into the distance", "detailed fur|a calm intense gaze|strong natural posture"),
    "flower": ("in a cottage garden|in a glass vase by a window|in an alpine meadow|on a rainy morning|against dark foliage", "in full bloom|opening|swaying", "translucent petals|drops of dew|fine veins"),
    "tree": ("on a lonely hill|at the edge of a lake|in an autumn park|in a misty valley|on a rocky shore", "standing tall|bending in the wind", "gnarled bark|leaves catching the light|long shadows"),
    "plant": ("on a bright window sill|in a damp forest|in a terracotta pot|in an overgrown greenhouse|between old stones", "growing|unfurling", "fresh leaves|rich texture|drops of water"),
    "fruit": ("on a rustic wooden board|in a ceramic bowl|on a marble counter|at a market stall|on a linen cloth", "freshly cut|neatly arranged|piled up", "juicy texture|tiny drops of water|vivid ripe skin"),
    "drink": ("on a cafe table|on a wooden bar|beside a window in the morning|on a picnic blanket", "freshly poured|steaming", "condensation on the glass|swirling steam|rich colour"),
    "sweet": ("on a vintage cake stand|on a pastel table|in a bakery window|on a lace cloth", "freshly made|beautifully decorated", "glossy icing|fine crumbs|powdered sugar"),
    "food": ("on a ceramic plate|on a rustic table|in a cast iron pan|on a street food stall|on a dark slate board", "freshly served|steaming", "appetising texture|fresh herbs|a light gloss"),
    "car": ("on a winding coastal road|in a rain-soaked city street|in front of a desert gas station|on a mountain pass|in a quiet suburb", "parked|speeding|turning", "reflections on polished paint|chrome details|blurred background"),
    "boat": ("on a calm lake at dawn|in a small fishing harbour|on stormy waves|in a turquoise bay|below steep cliffs", "sailing|anchored|drifting", "weathered wood|ropes and rigging|reflections in the water"),
    "plane": ("above a sea of clouds|over snowy peaks|on a wet runway|in a clear evening sky", "flying|climbing|landing", "gleaming metal|contrails|glowing windows"),
    "space": ("above a blue planet|in front of a colourful nebula|over a cratered moon|among distant stars|beyond the rings of a giant planet", "drifting|glowing|rising", "fine surface detail|a thin glowing rim|countless stars"),
    "building": ("on a cliff above the sea|in a quiet old town|at the end of a tree-lined road|in a snowy valley|beside a still canal", "standing alone|glowing from within", "weathered stone|warm lit windows|intricate facade"),
    "furniture": ("in a bright scandinavian room|in a cosy library|in an old attic|beside a tall window", "standing|waiting", "worn wood grain|soft fabric|clean lines"),
    "kitchen": ("on a wooden kitchen table|on a tidy shelf|beside a stove|in a farmhouse kitchen", "standing|arranged", "polished surface|small dents and scratches|soft reflections"),
    "music": ("on an empty stage|in a dusty workshop|leaning on a brick wall|in a jazz club", "waiting|resting", "polished wood|gleaming strings and keys|dust in the spotlight"),
    "weapon": ("on a stone altar|in a blacksmith's forge|in a museum case|on a misty battlefield", "resting|standing upright", "engraved steel|worn leather|a cold gleam"),
    "tool": ("on a workbench|in an old workshop|hanging on a wall|in a garden shed", "lying|arranged", "worn handle|metal shavings|fine scratches"),
    "clothes": ("on a wooden hanger|in a boutique window|folded on a chair|on a studio pedestal", "hanging|laid out", "woven texture|fine stitching|soft folds"),
    "toy": ("on a playroom floor|on a green lawn|in a shop window|on a child's bed", "waiting|in motion", "bright paint|worn edges|playful shapes"),
    "machine": ("in a dim laboratory|on a cluttered desk|in a vast factory hall|in a neon-lit workshop", "running|standing", "brushed metal|glowing indicator lights|tangled cables"),
    "paper": ("on an old desk|in a quiet library|beside a cup of tea|under a reading lamp", "lying open|stacked", "yellowed pages|ink stains|textured paper"),
    "person": ("in a narrow old street|in a sunlit studio|at the edge of the sea|in a busy market|in a field at dusk|on a rooftop above the city", "standing|walking|looking aside|laughing|lost in thought", "expressive face|natural skin texture|detailed clothing"),
    "fantasy": ("on a floating island|in an enchanted forest|above a ruined castle|in a crystal cave|under two moons", "rising|watching|flying|standing guard", "glowing runes|intricate detail|swirling magic"),
    "land": ("under a dramatic sky|in morning mist|after the rain|in late autumn|in the blue hour", "stretching away|lying silent", "layered distance|rich textures|tiny figures for scale"),
    "body": ("against a plain studio backdrop|in soft window light", "shown in detail|at rest", "natural texture|fine lines"),
    "thing": ("on a wooden table|on a dusty shelf|in an empty room|on a velvet cloth|on a stone ledge", "standing|lying|resting", "fine surface detail|worn edges|soft reflections"),
    "face": ("against a plain bright backdrop|in a burst of confetti", "looking at the viewer|beaming", "big expressive eyes|smooth shading"),
    "flag": ("on a tall mast|on a mountain summit|above an old harbour", "waving|flying", "rippling cloth|visible weave"),
    "sign": ("on a brick wall|on a clean backdrop|carved into stone", "shown|glowing", "crisp edges|subtle texture"),
    "weather": ("over a wide plain|above a dark sea|over distant mountains|above the rooftops", "gathering|rolling in|breaking", "towering shapes|shafts of light|drifting rain"),
    "unknown": ("in a quiet open landscape|in a softly lit studio|in an old town|on a wooden table|in a misty forest", "shown|standing", "fine detail|rich texture|careful composition"),
}
LIGHT = "soft morning light|warm golden hour light|dramatic side lighting|gentle diffused light|cool moonlight|bright midday sun|glowing backlight|candlelight and deep shadows|overcast light|neon glow|volumetric light|low evening sun".split("|")
COMPOSITION = "close-up|wide shot|low angle|bird's eye view|centered composition|shallow depth of field|rule of thirds|symmetrical composition|full body view|eye-level view|plenty of negative space|framed by the foreground".split("|")
PALETTE = "muted earth tones|vivid saturated colours|pastel palette|teal and orange palette|warm autumn colours|cool blue tones|rich jewel tones|black and gold palette|monochrome palette|soft pink and lavender tones".split("|")
MEDIUM = "photograph|digital painting|watercolor painting|oil painting|pencil sketch|ink illustration|studio photo|concept art|3d render|children's book illustration|vintage poster|film photograph|gouache painting|paper cut art|pixel art|comic book art".split("|")
MOOD = "peaceful mood|mysterious atmosphere|joyful mood|dreamy atmosphere|quiet and lonely mood|epic atmosphere|cosy mood|nostalgic mood|playful mood".split("|")
QUALITY = "highly detailed|sharp focus|intricate detail|fine texture|crisp edges|rich detail".split("|")

ADJECTIVES = "cute old happy sad tiny little big giant small young angry sleepy funny beautiful ugly shiny rusty wooden golden silver broken wild lonely brave lazy fat thin tall short magical evil friendly scary spooky fluffy furry round square modern ancient vintage medieval futuristic colorful dark bright cosy clean dirty wet frozen burning glowing flying dancing sleeping running jumping smiling crying laughing hungry strong fancy royal elegant simple strange mysterious cheerful grumpy sweet fresh hot cold warm soft striped spotted transparent crystal mechanical steampunk cyberpunk fast slow noisy quiet heavy empty full open closed lost haunted abandoned".split()
DOINGS = "sleeping|running|jumping|dancing|eating|reading a book|playing guitar|flying|swimming|sitting|standing|smiling|laughing|crying|riding a bicycle|riding a horse|driving a car|drinking coffee|cooking|painting|singing|looking at the moon|looking at the stars|chasing a butterfly|playing chess|playing football|wearing a hat|wearing glasses|wearing a crown|holding a balloon|holding a flower|holding an umbrella|on a skateboard|in a box|in a hat|with wings|with a scarf|with a hat|with big eyes|with flowers|with a sword|made of glass|made of wood|made of gold|made of stone|on fire|in the rain|at school|at work|for kids|on a bench|on a chair|under a tree|near a river|in a garden|in a kitchen|on the moon|in a library|on a bridge|by the window".split("|")
# the doings above that already say where; nothing more is then said about the setting
PLACED = ("on a skateboard", "in a box", "in the rain", "at school", "at work", "on a bench", "on a chair", "under a tree", "near a river", "in a garden", "in a kitchen", "on the moon", "in a library", "on a bridge", "by the window", "in a hat")
ASKING = ["draw", "draw me", "please draw", "make", "paint", "generate", "create", "show me", "i want", "can you draw"]
