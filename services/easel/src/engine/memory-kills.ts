import { readFileSync } from "node:fs";

/** Where Linux counts processes killed for want of memory: the whole machine, and this container. */
const COUNTERS = ["/proc/vmstat", "/sys/fs/cgroup/memory.events"];

/** Grows when the kernel kills a process for memory; compared before and after a death it tells why a process got SIGKILL. */
export function countMemoryKills(): number {
  let sum = 0;
  for (const file of COUNTERS) {
    try {
      sum += Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? 0);
    } catch {
      // not Linux, or not readable here
    }
  }
  return sum;
}

/** Resident bytes of a process; 0 where that cannot be told. */
export function readResidentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
