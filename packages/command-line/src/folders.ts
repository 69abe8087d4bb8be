import { homedir } from "node:os";
import { join } from "node:path";

export interface Folders {
  readonly config: string;
  readonly data: string;
  readonly cache: string;
  readonly state: string;
}

/** The program's per-user folders by the XDG base directory rules: a variable that is empty or relative counts as not set. */
export function userFolders(program: string, env: Readonly<Record<string, string | undefined>>): Folders {
  const home = env["HOME"] || homedir();
  const base = (variable: string, fallback: string): string => {
    const given = env[variable];
    return join(given?.startsWith("/") ? given : join(home, fallback), program);
  };
  return {
    config: base("XDG_CONFIG_HOME", ".config"),
    data: base("XDG_DATA_HOME", ".local/share"),
    cache: base("XDG_CACHE_HOME", ".cache"),
    state: base("XDG_STATE_HOME", ".local/state"),
  };
}
