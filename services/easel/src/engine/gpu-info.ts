/** The graphics card's name and memory, from nvidia-smi where it exists. Asking takes up to a second, so answers are kept for a while. */
import { execFile } from "node:child_process";
import type { GpuInfo } from "./engine-api.js";

const REFRESH_MS = 5_000;
const QUERY_LIMIT_MS = 10_000;

/** The first card; null where there is none or nvidia-smi is missing. */
export function queryGpu(): Promise<GpuInfo | null> {
  const query = ["--query-gpu=name,memory.total,memory.used", "--format=csv,noheader,nounits"];
  return new Promise((resolve) => {
    execFile("nvidia-smi", query, { timeout: QUERY_LIMIT_MS }, (error, output) => {
      resolve(error ? null : parseGpuLine(output.split("\n")[0] ?? ""));
    });
  });
}

/** The latest known answer at once; a stale one is renewed in the background. */
export function createGpuWatch(first: GpuInfo | null): () => GpuInfo | null {
  let latest = first;
  let askedAt = performance.now();
  return () => {
    if (performance.now() - askedAt > REFRESH_MS) {
      askedAt = performance.now();
      void queryGpu().then((answer) => {
        latest = answer;
      });
    }
    return latest;
  };
}

/** "NVIDIA H200, 143771, 1024": the numbers are MiB. */
export function parseGpuLine(line: string): GpuInfo | null {
  const [, name, total, used] = /^(.*), (\d+), (\d+)\s*$/.exec(line) ?? [];
  if (name === undefined) return null;
  return { name, vramTotalMb: Number(total), vramUsedMb: Number(used) };
}
