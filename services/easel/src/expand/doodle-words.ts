/** Written by tools/train-expander/write_doodle_words.py: the words of doodle's captions and the names of its things. */
const WORDS = `
3d a abacus abc above accordion ace achievement acid acorn acoustic add adhesive admission advance advertising
aerial afghanistan africa ages aid air aircraft airdrop airplane alarm albania alembic algeria alien alive alley
allied ally altar ambulance america american americas among amphora ample amulet an anatomical anchor ancient and
andorra android angel anger angola angry anguilla anguished animal another answers ant antarctica antenna anthem
antigua anvil anxious apartment apple approve aquarius arab arabia arabic arc arch archer architect archive arena
argentina aries arm armenia armor armored armoured array arrest arrival arrow arson art article articulated
artificial artillery artist arts aruba ascension asia assault assistant asteroid astonished astronaut at atlas
atm atom attached attack australia austria auto automatic automobile automotive avocado awareness away axe
azerbaijan baby bach back background backhand backpack backup backward bacon bad badge badger badminton bag bagel
bags baguette bahamas bahrain balance bald ball ballet balloon balloons ballot balls banana bananas bandage
bangladesh banjo bank banknote banner bar barbados barber barbuda barn barracks barrel barrier bars barthélemy
base baseball basic basket basketball bass bat bath bathtub baton bats batteries battery battle beach beads beam
beaming beans bear beard bearish beast beating beats beaver bed bee beer beetle behind beige belarus belgium
belize bell bellhop below belt bench bend benin bento bermuda berry beside beverage bhutan biceps bicycle big
bike biking bikini billed biohazard biomass biotech bird birds birthday bishop bison bissau bite biting black
blade blanket blast bleeding block blocks blond blood bloom blossom blowfish blowing blue blueberries blueprint
boar board boarding boat boating body bolivia bolt bomb bomber bombing bone bones book bookmark books boomerang
boot boots border bored born bosnia boss botswana bottle bottom bouncing bouquet bouvet bow bowing bowl bowling
box boxing boy brain branch branches brass brazil brazzaville bread break breakfast breaking breath brick bridge
briefcase briefs bright british broccoli broken broom brown browns brunei brush brutal bubble bubbles bucket bud
buffalo bug building buildings bulb bulgaria bull bullet bullhorn bullish bullseye bunch bunker bunny buoy burger
burkina burma burn burner burning burrito burst burundi bus bush businessman businesswoman bust busts but butter
butterfly button buy by cabin cabinet cable cableway cactus cage cake cakes calculator caledonia calendar call
cambodia camcorder camel camera cameroon camp camping can canada canary cancel cancer candle candy cane cannabis
canned cannon canoe cap capacitor cape capitol capped capricorn captain car card cardboard cards cargo caribbean
carnival carousel carp carpentry carpet carrier carrot cart cartoon cartwheeling cash castle cat catch catcher
caterpillar cavalry cave cayman cd ceiling celebration cell cello cellular celtic cement ceremonial ceremony
certificate ceuta chad chain chains chair chalkboard champagne champions character charge charged charm chart
chat check checked checkerboard checkered cheese chef chemical chequered cherries cherry chess chest chestnut
chick chicken child children chile chime china chipmunk chips chocolate choice chopsticks christmas church
cigarette circle circuit circular circus city cityscape clamp clapper clapperboard clapping clash classic
classical claus clay cleaner click cliff climbing clinking clip clipart clipboard clipperton clock close closed
closeup cloth clothes cloud clouds cloudy clout clover clown club clubs cluster clutch coal coaster coat
cockroach cocktail coconut cocos coding coffee coffin coin coins cold collaboration collapse collar collect
collection collision colombia colombian color colorful coloured column columns combination comet comic command
comments commercial communication comoros compact compass computer computing concrete cone conference confetti
confirmed confounded confrontation confused congo congress conquest console construction contract control
controller convenience conversation conversion convince cook cooked cookie cooking coral core cork corn corner
costa cotton couch couple coupons court cover cow cowboy crab crack cracked cracker crane crayon crazy cream
creature credit credits crescent crest cricket croatia crocodile croissant cross crossbones crossed crosses
crossing crown crowned cruiser crush crutch crying crystal cuba cube cucumber cunha cup cupcake curaçao curl
curling curly currency curry cursor custard cut cycle cycling cyclone cyprus czechia côte d da dagger daisy dam
damaged dancer dancing dango dark dartboard dash dashing data database david de deaf debt deciduous decoration
decorative decrease decreasing deep deer defense defensive delete delighted delivery denmark department departure
derelict desert design desk desktop detective devil dharma diagonal diagram diamond diamonds diary dice dices die
diego dig digital diploma direction director disabled disappointed disapprove disc discs discussion disguised
dish disk display distance distorted distress dive divided dividers diving diya dizzy djibouti dna dock doctor
dodge dodo dog dollar dolls dolphin dome dominica dominican donate done donkey donut door doors dossier dot dots
dotted double doubled doughnut dove down downcast download dozen drag dragon drama draw drawer drawing drawn
dream dress drill drink drinking driver driving drooling drop droplet droplets drops drum drums duck dug dump
dumpling dunes duration dusk dust dutch dvd e eagle ear ears earth easter eating eclipse ecology ecuador edge
edged edit education egg eggplant eggs egypt egyptian eiffel eight el elbow electric electrical electricity
electronics elephant elevator elf emblem emirates emoji emojione emperor empty energy engagement engine
engineering england enraged enter entering entrance entry envelope equatorial eritrea eruption escape estonia
eswatini eternal ethiopia euro europe european evergreen evil ewe example excavator exchange exclamation exhaling
exit expand expanded expense experience experiment exploding explosion explosive export expressionless external
extinguisher extra eye eyebrow eyed eyeglasses eyes face facepalming facing factory fairy falafel falkland fall
fallen falling fallout family fan fancy farm farmer faroe faso fast fat favorite fax fear fearful feather feed
feeding female fence fencing fern ferris ferry fertilizer field fight fighter fiji file files filing film filter
fin finger fingerprint fingers finish finland fire firecracker firefighter firefox fireman fireworks first fish
fishing fist five flag flags flame flaming flamingo flash flashlight flat flatbread fleur flexed flexible flight
flights flip floating flood floor floppy flour flower flowers fluent flushed flute fluttering fly flying focused
fog foggy folded folder folding fondue food foot football footprints force forest fork form formation formula
fort forth fortune forward fossil fountain four fox frame framed frames france free freeze french frequency fried
friends fries frightened frog from front frowning frozen fruit fuel fuji full funeral fur futuna gabon galaxy
gallery gallon gambia game garage garcia garden garlic gas gate gauge gear gem gemini genealogy genie geometric
georgia germany gesture gesturing getting ghana ghost giant gibbous gibraltar gift ginger giraffe girl glass
glasses globe glossy glove gloves glowing glyph goal goat goblin goggles gold golden golf golfing gong goose
gorilla gothic grab gradient gradients graduate graduation grain grand grape grapes graph grasp grass grassy
grave gray grayscale great greece greek green greenhouse greenland grenada grenade grey grid griffin grimacing
grinder grinning grip ground growing growth guadeloupe guam guard guarded guards guatemala guernsey guiana guide
guinea guitar guyana gym habitat hair haircut hairy haiti half hallway halo halt hamburger hammer hamsa hamster
hand handbag handball handel handle hands handshake happy harbor hard harp hash hat hatch hatching head headphone
headscarf headset headstone healing health hear hearing heart hearts heat heaven heavy hedgehog heeled height
helena helicopter hell helm helmet help hen herald herb herzegovina hibiscus hidden hide high highlight
highlights highway hiking hill hills hindu hippopotamus hockey holding hole hollow holy home honduras honey
honeybee hong hood hook hopper horizon horizontal horizontally horn horns horse hospital hot hotel hourglass
house houses huge hugging human hummer hump hundred hungary hunter hunting hurricane hurt hushed hut hyacinth ice
iceland icon idea identification illustration image impact imperial import imprisoned in inauguration inbox
incoming increase increasing index india indian indonesia indoors infinity info injection injury inner inside
inspiration intelligence interface internal invisible iran iraq ireland iron is island islands isle isolated
israel italy ivoire jack jacket jamaica jan japan japanese jar jason jeans jeep jellyfish jersey jerusalem jet
join joint joker jordan journey joy joystick judge juggling juice jumping jungle jupiter jury justice kaaba
kangaroo kazakhstan keeling keeper kenya key keyboard keys kick kid kids kimono kindle king kingdom kinshasa
kiribati kiss kissing kit kitchen kite kitts kiwi knee kneeling knife knight knobs knockout knot knowledge koala
kong korea kosovo kuwait kyrgyzstan lab label lacrosse ladder lady ladybug lamp land landscape landslide lanka
lantern laos laptop large laser last latvia laughing law lcd lead leaf leafless leafy leak leather leave leaves
lebanon led ledger left leftwards leg legs lemon leo leone leopard lesotho leste letter level levitating liberia
liberty libra library libya liechtenstein life lift lifting light lighter lighthouse lightning lime line link
linked lion lip lips lipstick liquid lis list lit lithuania little liver lizard llama load lobster location lock
locked lockers locomotive log logging logo lollipop long lorry lotion lotus loudly loudspeaker love lovers low
lowered lucia luggage lunar lungs lure luxembourg lying maarten mac macao macedonia machine mad madagascar mage
magic magnet magnifier magnifying magnolia mahjong mail mailbox mailed malawi malaysia maldives male mali malta
mammoth man mango mantelpiece manual map maple maracas marble marino mark marker marshall martial martin martini
martinique mascot mask masked masks mass massage match mate materials matter mauritania mauritius maya mayen
mayotte me meadow meal measure meat mechanic mechanical medal medical medicine medicines medieval medium meeting
megaphone melilla melon melting memo men mending menorah menu meridians mermaid merman merperson metal meteor
metro mexico microbe micronesia microphone microscope microwave mid middle mighty military milk milky mill mind
mine miner mineral minerals mini minibus minimal mining minus miquelon mirror missile mms moai mobile mode modern
module moldova monaco money mongolia monitor monk monkey monochrome monocle monorail monster montenegro
montserrat monument moon moonlight moose morocco mortar mosque mosquito mother motor motorbike motorcycle
motorized motorway mount mountain mountains mounted mouse mouth move movie mozambique mrs mug mugs multiple
muscle mushroom music musical muted mx myanmar mystery nail namibia national nations nauru nauseated nazar nebula
neck necktie needle neon nepal nerd nest nesting net netherlands network neutral nevis new news newspaper next
nib nicaragua niger nigeria night ninja niue no norfolk normal north norway nose not note notebook notepad notes
noto nuclear nuggets nurse nut o oak objective observatory occupy ocean octopus oden of off office officer
offshore ogre oil ok old older olive olivier oman on oncoming one onion open opening ophiuchus opposite
opposition optical orange orangutan orbit orca ore organ oscillator otter out outbox outer outfit outline
outlined outlines outlying oven over overhead owl ox oxygen oyster pack package pad page pager pain paint
paintbrush painted painting pair pakistan palace palau palestinian palette palm palms pan panama pancakes panda
panel pants paper paperback paperclip paperclips papers papua parachute paraguay park parking parrot party
partying pass passenger passion passport pasta patchwork path pattern pause pavilion paw pawn pay pea peace peach
peacock peaks peanuts pear peeking pen pencil penguin pensive people pepper performance performing perfume
persevering person peru petri philippines philosopher phoenix phone photo photos pianist piano pick picking
pickup picnic picture pie piece pier pierre pig pile pill pills pilot pin pinched pinching pine pineapple ping
pink pipe pipes pirate pisces pistol pitcairn pitch pizza piñata placard plain plane planet plant plastic plate
platform platforms play player playground playing pleading plot plug plunger plus pocket pod podium point pointed
pointer pointing points poison poker poland polar pole police polish polka polo polynesia pong poo poodle pool
pop popcorn pope popper poppers popping portal portrait portugal position post postage postal postbox postcard
poster pot potato potted pottery poultry pound pounds pouring pouting powder power prayer precision predator
pregnant present pretzel previous price priest primitive prince princess print printer prints prism prisoner
privacy private prize pro processor profile profit prohibited projector protection príncipe public puerto pull
pump pumpkin punch purple purse push pushing pushpin puzzle pyramid qatar quarter queen quick quill rabbit
raccoon race racing racket radar radio radioactive rail railway rain rainbow raised raising ram rana ranch random
rapper rat raw ray rays razor reaching reactor read receipt receive receiver receptionist recycling red reed reel
refinery reflect register reindeer release relieved remedy reminder remove render rendered repair republic rescue
research resistance retro return reuse revolt revolving reward rex rhinoceros ribbon rica rice rickshaw rico rig
right rightwards ring ringed rings riot river road roasted robot rock rocket rocks rogue roll rolled roller
rolling roman romania room rooster root roots rope rosa rose rosette round rounded row rowing royal rubber rugby
ruins rule ruler rules run running russia rwanda réunion s sad safe safety sagittarius sahara sail sailboat
sailing sailor sake salad sales salmon salt salute saluting salvador samoa san sand sandal sandwich sandy santa
sar sari sark satellite satellites sauce saucer saudi sauropod sausage save savoring saw saxophone scale scales
scarf scene school science scientist scissors scooter scope score scorpio scorpion scotland scout screaming
screen screwdriver script scroll scuba sea seal seat seated second secret security see seed seedling seeds select
self selfie sell senegal sensor serbia sergeant servers service setting settings sewing seychelles shadow shadows
shaking shallow shamrock share shark sharp shattered shaved sheaf sheep shell shells shelter shield shine shinto
ship shirt shoe shoes shoot shooting shop shopping shortcake shorts shoulder shouting shovel shower showing
shrimp shrine shrugging shushing shut shuttle side siege sierra sight sign signal signature signs silence
silhouette silver simple sing singapore singer sink sinking sint sitting six skate skateboard ski skier skis
skull skullcap skunk sky skyline skyscrapers slalom slap slash slashed slate slavery sled sleep sleeping sleepy
slice sliced slide slider slightly slim slot sloth slovakia slovenia small smart smile smiley smiling smirking
smoke smoking smooth snail snake sneakers sneezing snow snowboarder snowflake snowman snowy soap soccer socks
sofa soft softball solar soldier solid solomon somalia song soul sound soup south space spade spaghetti spain
spark sparkler sparkles sparkling sparks speak speaker speaking spears speech speed speedboat spell sphere spider
spill spin spinning spiral spirit splayed split splitting sponge spoon sport sports spotted spouting spray spread
spring springs sprint sprout spy squad square squid squinting squirrel sri st stack stadium staff stairs stake
stakes stamp standing star starry stars start states station statue steam steaming steamy steel steering stem
stethoscope stick sticker sticks stockpiles stomach stone stop stopwatch store storm straight straw strawberry
streamer streamline street strike striking string strip striped stripes strong struck student studio stuffed
style stylized submarine subway sudan sugar suit suitcase suits summit sun sunburst sunflower sunglasses sunny
sunrise sunset sunshine superhero supervillain support surf surface surfing suriname surprised surrounded sushi
suspension suspicious svalbard swan swap sweat sweden sweep sweet swimming swimsuit swing swirl switch
switzerland sword swords symbol symbols synagogue syria syringe system são t table tabs tack taco tag tail taiwan
tajikistan takeout taking talk tall tamale tan tanabata tangerine tank tanzania tap tape target targets taurus
taxi tea teacher teacup teal team teapot tear tears tease technologist teddy tee teeth telephone telescope
television temple temporary tennis tent territories terror test texas text thailand thanksgiving the theater
thermometer thick think thinking third thong thought thread three threshold throne through thrown thrust thumb
thumbs thunder ticket tickets tide tie tiger tile tiles tilted time timer timor tiny tip tipping tire tired to
toast tobago together togo toilet tokelau tokyo tomato tomé tonga tongue toolbox tools tooth toothbrush top torch
tornado torpedo towel tower toyota trace track trackball tracked tracks tractor trade traffic trail train tram
tramway transfer transform transgender transit transparent transportation trap trash travel trawler tray treasure
tree trees triangle triangular tribal tribunal trident trigger trinidad trio trip triple tristan troll trolley
trolleybus trombone trophy tropical truce truck trumpet tube tubes tulip tumbler tumor tune tunisia tunnel turban
turkey turkmenistan turtle tuvalu tuxedo twemoji twin twitter two türkiye u ufo uganda ukraine umbrella unamused
uncertainty under underground underwater unicorn uniform union unit united unlocked up upgrade upload uprising
upside urban urn uruguay usa user utility uzbekistan vacuum valley valve vampire vane vanuatu varnish vatican
vector vegetable vehicle veil venezuela verde vertical vertically vespa vessel vest victory video videocassette
vietnam view viewer viewing village vintage vinyl violin virgin virgo virtual virus vision volcano volley
volleyball voltage volume vomiting vote vulcan waffle wagon wake wales walk walking wall wallet wallis wand
waning wanted war warehouse warlord warning washing waste wastebasket watch water watermelon wave waves waving
waxing way weapon wearing weary web webcam wedding wedge weight weights well western whale wheat wheel wheelchair
whip whistle white who wilted wind window windows wine wing wings winking winner winter wisdom witch with without
wolf woman women wood wooden woods wool woozy worker workflow world worm worried wrapped wreck wrench wrestling
writing wry x yacht yang yarn yawning yellow yemen yen yin yo you zambia zany zealand zebra zimbabwe zipper
zombie zone zzz åland
`;

export const DOODLE_WORDS: ReadonlySet<string> = new Set(WORDS.trim().split(/\s+/));
