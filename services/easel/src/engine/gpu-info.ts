/** The graphics card's name and memory, from nvidia-smi where it exists. Asking takes up to a second, so answers are kept for a while. */
import { execFile } from "node:child_process";
import type { GpuInfo } from "./engine-api.js";

const REFRESH_MS = 5_000;
const QUERY_LIMIT_MS = 10_000;

/** The latest known answer at once, null before the first; a stale answer is renewed in the background. */
export function createGpuWatch(): () => GpuInfo | null {
  let latest: GpuInfo | null = null;
  let askedAt = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    askedAt = performance.now();
    const query = ["--query-gpu=name,memory.total,memory.used", "--format=csv,noheader,nounits"];
    execFile("nvidia-smi", query, { timeout: QUERY_LIMIT_MS }, (error, output) => {
      if (!error) latest = parseGpuLine(output.split("\n")[0] ?? "");
    }).unref();
  };
  refresh();
  return () => {
    if (performance.now() - askedAt > REFRESH_MS) refresh();
    return latest;
  };
}

/** "NVIDIA H200, 143771, 1024": the numbers are MiB. */
export function parseGpuLine(line: string): GpuInfo | null {
  const [, name, total, used] = /^(.*), (\d+), (\d+)\s*$/.exec(line) ?? [];
  if (name === undefined) return null;
  return { name, vramTotalMb: Number(total), vramUsedMb: Number(used) };
}
