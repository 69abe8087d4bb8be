/** How AssemblyScript is compiled everywhere in this repository: for speed, and with memory that the host lays out. */
export const ASSEMBLY_OPTIONS = [
  "--optimizeLevel",
  "3",
  "--shrinkLevel",
  "0",
  "--noAssert",
  // No garbage collector, no allocator.
  "--runtime",
  "stub",
  "--importMemory",
  "--initialMemory",
  "1",
  "--maximumMemory",
  "65536",
  "--enable",
  "simd",
];
