/** Words that names and descriptions of generated packages are made of; the first ones are used most. */
const words = (text) => text.trim().split(/\s+/);

export const stems = words(`
  lib core py json http test data utils client server async parser cli tools git web api auth cache config crypto date db
  debug dev docker email event file font format fs graph grpc gtk hash html image index input io java jwt key kit lang
  linux list log mail map markdown math media mem menu message meta mock model mongo mpi mqtt music net node notify oauth
  open pack page password path pdf perl pg pixel plot plugin pool port print proc proto proxy qt query queue random react
  redis regex render request resolve rest router ruby rust scan schema scss search secure serial session sftp shell signal
  simple smart snap socket sort sound spec speed spell sql ssh ssl stat state storage stream string style svg sync syntax
  sys table tag tar task tcp tech template term text theme thread time tiny token tor trace tree tty type ui unicode unit
  update url user uuid validate vector video view vim virt vue wasm watch weather wiki window wire word xml yaml zip zlib
  zone zoom aws azure backup badge base batch beam binary bio bit blob block blue board boot bridge browser buffer build
  bundle byte calc camera canvas card chart chat check chess clock cloud cluster code color compiler complex compress
`);

export const endings = words(`
  s er ify kit lib py js rs go box hub lab base flow cast craft desk drive forge gate grid ware works wise ly io x 2 3 ng
`);

export const descriptionOpenings = words(`
  Library Tool Command-line Python Simple Fast Lightweight Modern Haskell R Utilities Framework Client Implementation
  Bindings Collection Plugin Extension Support Wrapper Parser Interface Parallel Statistical Functions
`);

export const descriptionWords = words(`
  for the and of a to with in library command line tool python data using based files from framework an on interface
  parser implementation support client server json web simple text functions network system package utilities analysis
  manager language models fast file http api editor bindings terminal application write read generic types type statistical
  image video audio database query configuration management testing development programming time series visualization
  graphics user open source generator compiler protocol encryption security parallel distributed regression bayesian
  estimation matrix genome sequence plotting format conversion streaming asynchronous event logging monitoring cloud
  container virtual machine kernel driver hardware module theme font icons desktop environment browser mail calendar
  résumé naïve café Gödel Übersetzung
`);

export const licenses = [
  "MIT",
  "BSD-3-Clause",
  "Apache-2.0",
  "GPL-3.0-or-later",
  "GPL-2.0-or-later",
  "GPL-3.0-only",
  "LGPL-2.1-or-later",
  "BSD-2-Clause",
  "MPL-2.0",
  "ISC",
  "GPL-2.0-only",
  "LGPL-3.0-or-later",
  "Artistic-1.0, GPL-1.0-or-later",
  "unfree",
  "AGPL-3.0-or-later",
  "Unlicense",
  "CC0-1.0",
  "Zlib",
  "LGPL-2.1-only",
  "BSL-1.0",
  "CC-BY-4.0",
  "EPL-2.0",
  "PSF-2.0",
  "free",
  "WTFPL",
  "OFL-1.1",
  "X11",
  "NCSA",
  "Ruby",
  "PostgreSQL",
  "EUPL-1.2",
  "MS-PL",
  "CECILL-2.0",
  "Python-2.0",
];

export const platformLists = [
  ["aarch64-linux", "x86_64-linux"],
  ["x86_64-linux"],
  ["aarch64-darwin", "aarch64-linux", "x86_64-darwin", "x86_64-linux"],
  [
    "aarch64-darwin",
    "aarch64-linux",
    "armv6l-linux",
    "armv7l-linux",
    "i686-linux",
    "powerpc64le-linux",
    "riscv64-linux",
    "x86_64-darwin",
    "x86_64-linux",
  ],
  ["aarch64-linux", "armv7l-linux", "i686-linux", "riscv64-linux", "x86_64-linux"],
];
