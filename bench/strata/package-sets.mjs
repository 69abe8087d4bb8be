/**
 * Which package sets a generated tree has: how many projects each family has, and when each of its sets lived (years).
 * Sizes are those of nixpkgs; projects of one family share their releases between its sets.
 */
export const families = [
  { projects: 24_000, releases: 11, sets: [{ prefix: "", from: 2016, to: 2026.9 }] },
  {
    projects: 5200,
    releases: 14,
    nameOf: (leaf) => leaf.toLowerCase(),
    sets: [
      { prefix: "python27Packages.", from: 2016, to: 2022.5, share: 0.5 },
      { prefix: "python35Packages.", from: 2016, to: 2020.2, share: 0.5 },
      { prefix: "python36Packages.", from: 2017, to: 2021.5, share: 0.6 },
      { prefix: "python37Packages.", from: 2018.5, to: 2022.5, share: 0.7 },
      { prefix: "python38Packages.", from: 2019.8, to: 2023.4, share: 0.7 },
      { prefix: "python39Packages.", from: 2020.8, to: 2024, share: 0.8 },
      { prefix: "python310Packages.", from: 2021.8, to: 2024.9, share: 0.9 },
      { prefix: "python311Packages.", from: 2022.8, to: 2026.9 },
      { prefix: "python312Packages.", from: 2023.8, to: 2026.9 },
      { prefix: "python313Packages.", from: 2024.8, to: 2026.9 },
      { prefix: "python314Packages.", from: 2025.8, to: 2026.9 },
    ],
  },
  {
    projects: 22_000,
    releases: 5,
    nameOf: (leaf) => `r-${leaf}`,
    sets: [{ prefix: "rPackages.", from: 2016, to: 2026.9 }],
  },
  { projects: 17_000, releases: 9, sets: [{ prefix: "haskellPackages.", from: 2016, to: 2026.9 }] },
  {
    projects: 2800,
    releases: 5,
    nameOf: (leaf, set) => `${set.prefix.slice(0, 5)}.${set.prefix.slice(5, 7)}.0-${leaf}`,
    sets: [
      { prefix: "perl528Packages.", from: 2018.8, to: 2020.2 },
      { prefix: "perl530Packages.", from: 2019.8, to: 2021.5 },
      { prefix: "perl534Packages.", from: 2021.8, to: 2023.4 },
      { prefix: "perl536Packages.", from: 2022.8, to: 2024.5 },
      { prefix: "perl538Packages.", from: 2023.8, to: 2026 },
      { prefix: "perl540Packages.", from: 2024.8, to: 2026.9 },
    ],
  },
  { projects: 6000, releases: 13, sets: [{ prefix: "emacsPackages.", from: 2016, to: 2026.9 }] },
  { projects: 2200, releases: 18, sets: [{ prefix: "vimPlugins.", from: 2016, to: 2026.9 }] },
  { projects: 3800, releases: 9, sets: [{ prefix: "nodePackages.", from: 2016, to: 2025.5 }] },
  { projects: 1600, releases: 8, sets: [{ prefix: "ocamlPackages.", from: 2016, to: 2026.9 }] },
  { projects: 1300, releases: 6, sets: [{ prefix: "gnomeExtensions.", from: 2021, to: 2026.9 }] },
  {
    projects: 60,
    releases: 15,
    sets: ["4_14", "4_19", "5_4", "5_10", "5_15", "6_1", "6_6", "6_12"].map((kernel, i) => ({
      prefix: `linuxKernel.packages.linux_${kernel}.`,
      from: 2018 + i,
      to: 2026.9,
    })),
  },
];
