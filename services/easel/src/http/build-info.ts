import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BuildInfo } from "./easel-parts.js";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Version from the package, commit from the checkout the program was built in, date from the built file itself. */
export function readBuildInfo(): BuildInfo {
  const manifest = JSON.parse(readFileSync(here("../../package.json"), "utf8")) as { version: string };
  return {
    version: manifest.version,
    gitSha: readCommit(),
    buildDate: statSync(here(import.meta.url))
      .mtime.toISOString()
      .slice(0, 10),
  };
}

function readCommit(): string {
  try {
    const git = here("../../../../.git");
    const head = readFileSync(`${git}/HEAD`, "utf8").trim();
    const reference = /^ref: (.+)$/.exec(head)?.[1];
    if (!reference) return head;
    return readReference(git, reference) ?? "unknown";
  } catch {
    // Installed without its history.
    return "unknown";
  }
}

function readReference(git: string, reference: string): string | undefined {
  try {
    return readFileSync(`${git}/${reference}`, "utf8").trim();
  } catch {
    const packed = readFileSync(`${git}/packed-refs`, "utf8");
    return packed
      .split("\n")
      .find((line) => line.endsWith(` ${reference}`))
      ?.split(" ")[0];
  }
}
