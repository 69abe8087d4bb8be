import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CommandError, defineCommand, formatBytes, integer, list, text, toggle } from "@kit/command-line";
import { MANIFEST_NAME } from "../publish/manifest.js";
import { KeyError, parseSecretKey, type SecretKey } from "../publish/minisign-keys.js";
import { PublishError, publishIndex } from "../publish/publish-index.js";
import { IndexFileError } from "../store/index.js";
import { indexPath, indexSetting } from "./index-location.js";
import { passwordSetting } from "./keygen.js";

export const publishCommand = defineCommand({
  name: "publish",
  summary: "write a compressed, signed copy of the index for others to sync",
  arguments: [{ name: "folder", doc: "folder that a web server serves" }],
  settings: {
    index: indexSetting,
    secretKey: text({
      flag: "--secret-key <file>",
      env: "STRATA_SECRET_KEY",
      key: "publish.secret_key",
      doc: "key that signs the manifest",
      default: undefined,
      defaultText: "strata.key in the user's configuration folder",
    }),
    password: passwordSetting,
    unsigned: toggle({ flag: "--unsigned", doc: "publish without a signature", default: false }),
    since: list({
      flag: "--since <file>",
      doc: "older index file to publish the difference from (repeatable)",
      default: [],
    }),
    quality: integer({ flag: "--quality <number>", doc: "brotli quality", default: 6, min: 0, max: 11 }),
  },
  examples: ["strata publish /srv/strata", "strata publish /srv/strata --since yesterday.strata"],
  run: async ({ args, settings, folders, output, progress, signal }) => {
    const secretKey = settings.unsigned
      ? null
      : readSecretKey(settings.secretKey ?? join(folders.config, "strata.key"), settings.password ?? null);
    const bar = progress();
    try {
      const manifest = await publishIndex({
        indexPath: indexPath(settings.index, folders),
        folder: args.folder,
        secretKey,
        since: settings.since,
        quality: settings.quality,
        signal,
        onProgress: (state) => bar.update(state),
      });
      bar.finish();
      const path = resolve(args.folder, MANIFEST_NAME);
      output.fields(
        [
          ["manifest", `${path}${secretKey === null ? " (not signed)" : ""}`],
          ["commit", `${manifest.commit} of ${manifest.date}`],
          ["index", `${formatBytes(manifest.size)}, ${formatBytes(manifest.full.size)} compressed`],
          ...manifest.deltas.map((delta) => ["difference", `${formatBytes(delta.size)} from ${delta.from}`] as const),
        ],
        { manifest_file: path, signed: secretKey !== null, ...manifest },
      );
    } catch (error) {
      bar.finish();
      throw explain(error);
    }
  },
});

function readSecretKey(path: string, password: string | null): SecretKey {
  if (!existsSync(path)) {
    throw new CommandError("failed", `there is no secret key at ${path}`, {
      remedy: "Make one with 'strata keygen', give --secret-key FILE, or publish --unsigned.",
    });
  }
  try {
    return parseSecretKey(readFileSync(path, "utf8"), password);
  } catch (error) {
    throw explain(error);
  }
}

function explain(error: unknown): unknown {
  if (error instanceof KeyError || error instanceof PublishError || error instanceof IndexFileError) {
    return new CommandError("failed", error.message, { cause: error });
  }
  return error;
}
