import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CommandError, defineCommand, text, toggle } from "@kit/command-line";
import { formatPublicKey, formatPublicKeyLine, formatSecretKey, generateKeys } from "../publish/minisign-keys.js";

/** Only its owner may read a secret key. */
const SECRET_MODE = 0o600;

/** The password comes by the environment only: command lines are seen by everyone on the machine. */
export const passwordSetting = text({
  env: "STRATA_KEY_PASSWORD",
  doc: "password of the secret key",
  default: undefined,
});

export const keygenCommand = defineCommand({
  name: "keygen",
  summary: "make a pair of keys for signing published indexes",
  arguments: [{ name: "file", doc: "name of the secret key file; the public key gets .pub", optional: true }],
  settings: {
    password: passwordSetting,
    force: toggle({ flag: "--force", doc: "write over keys that exist", default: false }),
  },
  examples: ["strata keygen", "STRATA_KEY_PASSWORD=… strata keygen /secrets/strata.key"],
  run: async ({ args, settings, folders, output }) => {
    const secretPath = resolve(args.file ?? join(folders.config, "strata.key"));
    const publicPath = `${secretPath.replace(/\.key$/, "")}.pub`;
    for (const path of [secretPath, publicPath]) {
      if (existsSync(path) && !settings.force) {
        throw new CommandError("failed", `${path} exists`, {
          remedy: "Give another name, or --force to write over it (what it signed can then not be renewed).",
        });
      }
    }
    const keys = generateKeys();
    mkdirSync(dirname(secretPath), { recursive: true, mode: 0o700 });
    writeFileSync(secretPath, formatSecretKey(keys, settings.password ?? null), { mode: SECRET_MODE });
    writeFileSync(publicPath, formatPublicKey(keys.publicKey));
    const line = formatPublicKeyLine(keys.publicKey);
    output.fields(
      [
        [
          "secret key",
          `${secretPath}${settings.password === undefined ? " (not encrypted: keep it safe)" : " (encrypted)"}`,
        ],
        ["public key", publicPath],
        ["for clients", `strata sync --public-key ${line}`],
      ],
      { secret_key_file: secretPath, public_key_file: publicPath, public_key: line },
    );
  },
});
