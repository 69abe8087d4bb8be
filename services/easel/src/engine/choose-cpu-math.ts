/** Whether products of bytes pay on this machine: they are asked for by a setting, and done where the processor has instructions for them. */
import { readFileSync } from "node:fs";
import type { Backend, CpuMath } from "./engine-options.js";

/** As Linux calls them. Without one of them onnxruntime's integer kernels are slower than float32's, and those of AVX2 also let sums overflow. */
const NEEDED_FLAGS = ["amx_int8", "avx512_vnni"] as const;

export interface CpuMathChoice {
  readonly math: CpuMath;
  /** why it is not what was asked for */
  readonly notice?: string;
}

export function chooseCpuMath(
  wanted: CpuMath,
  backend: Backend,
  { arch, flags }: Processor = readProcessor(),
): CpuMathChoice {
  if (wanted === "float32") return { math: wanted };
  const instead = (reason: string): CpuMathChoice => ({
    math: "float32",
    notice: `cpu-math int8 has no effect: ${reason}`,
  });
  if (backend !== "cpu") return instead(`it is a setting of the cpu backend, and ${backend} computes`);
  if (arch !== "x64")
    return instead(`it needs an x64 processor, and this one is ${arch}; pictures are computed in float32`);
  if (flags === undefined) {
    return instead(
      "what this processor can do is only known on Linux (/proc/cpuinfo); pictures are computed in float32",
    );
  }
  if (!NEEDED_FLAGS.some((flag) => flags.has(flag))) {
    const reason = `it needs a processor with ${NEEDED_FLAGS.join(" or ")}, which this one lacks`;
    return instead(`${reason}; pictures are computed in float32`);
  }
  return { math: wanted };
}

interface Processor {
  readonly arch: string;
  /** undefined where the system does not tell */
  readonly flags: ReadonlySet<string> | undefined;
}

function readProcessor(): Processor {
  return { arch: process.arch, flags: readFlags() };
}

function readFlags(): ReadonlySet<string> | undefined {
  try {
    const found = /^flags\s*:(.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"));
    return found ? new Set(found[1]!.trim().split(/\s+/)) : undefined;
  } catch {
    return undefined;
  }
}
