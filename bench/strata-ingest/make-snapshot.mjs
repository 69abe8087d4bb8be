// Package lists of the size and shape of a channel's, seeded: the same number of the day gives the same bytes.
import { brotliCompressSync, constants } from "node:zlib";

/** Attribute paths of a channel today. */
export const PACKAGES = 144_000;
/** Packages whose entry changes between two releases, a day apart. */
export const CHANGES_A_DAY = 350;

const SETS = [
  "",
  "python312Packages.",
  "python313Packages.",
  "haskellPackages.",
  "rPackages.",
  "perl538Packages.",
  "vimPlugins.",
];
const PLATFORMS = [
  "aarch64-linux armv5tel-linux armv6l-linux armv7a-linux armv7l-linux i686-linux loongarch64-linux m68k-linux microblaze-linux mips-linux mips64-linux mips64el-linux mipsel-linux powerpc64-linux powerpc64le-linux riscv32-linux riscv64-linux s390-linux s390x-linux x86_64-linux",
  "x86_64-darwin i686-darwin aarch64-darwin armv7a-darwin aarch64-linux i686-linux x86_64-linux x86_64-freebsd i686-freebsd",
  "x86_64-linux",
].map((line) => line.split(" "));
const WORDS =
  "fast small library parser server client tool for data network text image python command line interface bindings simple protocol".split(
    " ",
  );

function random(seed) {
  let state = seed | 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

function entry(number, revision) {
  const pick = random(number * 7919 + 13);
  const set = SETS[pick(SETS.length)];
  const name = `${WORDS[pick(WORDS.length)]}-${number}`;
  const version = `${pick(9)}.${pick(30)}.${revision}`;
  const words = (count) => Array.from({ length: count }, () => WORDS[pick(WORDS.length)]).join(" ");
  const meta = {
    available: true,
    broken: false,
    description: words(4 + pick(8)),
    homepage: `https://example.org/${name}/`,
    insecure: false,
    license: {
      deprecated: false,
      free: true,
      fullName: "MIT License",
      redistributable: true,
      shortName: "mit",
      spdxId: "MIT",
      url: "https://spdx.org/licenses/MIT.html",
    },
    maintainers: Array.from({ length: 1 + pick(3) }, () => {
      const who = pick(3000);
      return {
        email: `person${who}@example.org`,
        github: `person${who}`,
        githubId: 1000 + who,
        name: `Person Number ${who}`,
      };
    }),
    name: `${name}-${version}`,
    outputsToInstall: ["out"],
    platforms: PLATFORMS[pick(PLATFORMS.length)],
    position: `pkgs/development/${name}/default.nix:${10 + pick(90)}`,
    unfree: false,
    unsupported: false,
    ...(pick(4) === 0 ? { longDescription: words(60 + pick(150)) } : {}),
  };
  return `"${set}${name}":${JSON.stringify({ meta, name: `${name}-${version}`, outputName: "out", outputs: { out: null }, pname: name, system: "x86_64-linux", version })}`;
}

/** Makes the lists of one day after the other; entries that do not change are made once. */
export function snapshotSeries(packages = PACKAGES, changes = CHANGES_A_DAY) {
  const sentinels = ["bash", "coreutils", "curl", "git", "hello", "vim"].map(
    (name) => `"${name}":{"name":"${name}-1.0","pname":"${name}","version":"1.0","meta":{}}`,
  );
  const revisions = new Uint32Array(packages);
  const entries = Array.from({ length: packages }, (_, number) => entry(number, 0));
  let day = 0;
  return {
    /** The JSON of the next day. */
    next() {
      const pick = random(day++ * 104_729 + 7);
      for (let change = 0; day > 1 && change < changes; change++) {
        const number = pick(packages);
        entries[number] = entry(number, ++revisions[number]);
      }
      return Buffer.from(`{"version":2,"packages":{${sentinels.join(",")},${entries.join(",")}}}`);
    },
  };
}

export function compress(json) {
  return brotliCompressSync(json, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 22 },
  });
}
