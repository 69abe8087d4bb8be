import { existsSync, readFileSync } from "node:fs";
import { CommandError, defineCommand, formatBytes, text, toggle, usageError } from "@kit/command-line";
import { ManifestError } from "../publish/manifest.js";
import { KeyError, type PublicKey, parsePublicKey } from "../publish/minisign-keys.js";
import { IndexFileError } from "../store/index.js";
import { DownloadError } from "../sync/download-file.js";
import { HttpStatusError, UnreachableError } from "../sync/fetch-with-retry.js";
import { ResourceError } from "../sync/resource.js";
import { SyncError, syncIndex } from "../sync/sync-index.js";
import { indexPath, indexSetting } from "./index-location.js";

/** Where an index comes from and whom to believe: shared by `sync` and by `serve --sync-every`. */
export const syncSettings = {
  manifest: text({
    flag: "--manifest <url>",
    env: "STRATA_MANIFEST",
    key: "sync.manifest",
    doc: "address or path of the published manifest.json",
    default: undefined,
  }),
  publicKey: text({
    flag: "--public-key <key>",
    env: "STRATA_PUBLIC_KEY",
    key: "sync.public_key",
    doc: "the publisher's public key: its base64 line, or a file",
    default: undefined,
  }),
  unsigned: toggle({
    flag: "--unsigned",
    env: "STRATA_UNSIGNED",
    key: "sync.unsigned",
    doc: "take an index without looking at its signature",
    default: false,
  }),
};

export const syncCommand = defineCommand({
  name: "sync",
  summary: "fetch the newest published index",
  settings: {
    ...syncSettings,
    index: indexSetting,
    allowOlder: toggle({ flag: "--allow-older", doc: "take an index older than the one in use", default: false }),
  },
  examples: ["strata sync --manifest https://example.org/strata/manifest.json --public-key RWQ…"],
  run: async ({ settings, folders, output, progress, signal }) => {
    const { manifest: location, publicKey } = checkSyncSettings(settings);
    const bar = progress();
    try {
      const { kind, manifest, downloaded } = await syncIndex({
        manifest: location,
        indexPath: indexPath(settings.index, folders),
        publicKey,
        allowOlder: settings.allowOlder,
        signal,
        log: (line) => output.note(line),
        onProgress: (state) => bar.update(state),
      });
      bar.finish();
      output.fields(
        [
          ["result", describeKind(kind)],
          ["commit", `${manifest.commit} of ${manifest.date}`],
          ["ranges", manifest.ranges],
          ["fetched", formatBytes(downloaded)],
        ],
        { kind, commit: manifest.commit, date: manifest.date, ranges: manifest.ranges, downloaded },
      );
    } catch (error) {
      bar.finish();
      throw explain(error);
    }
  },
});

/** Checks what the settings say about trust, with a message that names the remedy. */
export function checkSyncSettings(settings: {
  manifest: string | undefined;
  publicKey: string | undefined;
  unsigned: boolean;
}): { manifest: string; publicKey: PublicKey | null } {
  if (settings.manifest === undefined) {
    throw usageError(
      "no manifest was given",
      'Give --manifest URL, set STRATA_MANIFEST, or put manifest = "…" under [sync] in the configuration file.',
    );
  }
  if (settings.unsigned) {
    return { manifest: settings.manifest, publicKey: null };
  }
  if (settings.publicKey === undefined) {
    throw usageError(
      "no public key was given, so nobody could tell whose index this is",
      "Give the publisher's --public-key KEY, or --unsigned to take the index anyway.",
    );
  }
  const given = settings.publicKey;
  try {
    return {
      manifest: settings.manifest,
      publicKey: parsePublicKey(existsSync(given) ? readFileSync(given, "utf8") : given),
    };
  } catch (error) {
    throw error instanceof KeyError ? usageError(`--public-key: ${error.message}`) : error;
  }
}

function describeKind(kind: "up-to-date" | "delta" | "full"): string {
  return { "up-to-date": "the index is up to date", delta: "updated by the difference", full: "fetched" }[kind];
}

function explain(error: unknown): unknown {
  if (error instanceof UnreachableError) {
    return new CommandError("unreachable", error.message, { cause: error });
  }
  const isOurs =
    error instanceof SyncError ||
    error instanceof DownloadError ||
    error instanceof ManifestError ||
    error instanceof HttpStatusError ||
    error instanceof ResourceError ||
    error instanceof IndexFileError;
  return isOurs ? new CommandError("failed", (error as Error).message, { cause: error }) : error;
}
