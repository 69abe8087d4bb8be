/** What of a package record the line needs. */
export interface Obtainable {
  readonly attribute_path: string;
  readonly last_commit_hash: string;
  readonly last_commit_date: string;
  readonly known_vulnerabilities: readonly string[] | null;
}

/** nixpkgs can be used as a flake from the commits of this day on. */
const FIRST_FLAKE_DATE = "2020-03-26";

/** The command that opens a shell with exactly this version, ready to be pasted. */
export function nixShellLine(record: Obtainable): string {
  const insecure = (record.known_vulnerabilities ?? []).length > 0;
  const allow = insecure ? "NIXPKGS_ALLOW_INSECURE=1 " : "";
  if (record.last_commit_date >= FIRST_FLAKE_DATE) {
    const flake = `nixpkgs/${record.last_commit_hash}#${record.attribute_path}`;
    // A flake is evaluated without the environment unless it is told otherwise.
    return `${allow}nix shell ${insecure ? "--impure " : ""}${quoteForShell(flake)}`;
  }
  const tarball = `https://github.com/NixOS/nixpkgs/archive/${record.last_commit_hash}.tar.gz`;
  return `${allow}nix-shell -p ${quoteForShell(nixExpression(record.attribute_path))} -I nixpkgs=${tarball}`;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_'-]*$/;
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./#-]+$/;

/** `nix-shell -p` takes an expression: a part such as `4ti2` is no name in Nix and must be quoted. */
function nixExpression(attributePath: string): string {
  const parts = attributePath.split(".");
  if (parts.every((part) => IDENTIFIER.test(part))) return attributePath;
  const quoted = parts.map((part) => (IDENTIFIER.test(part) ? part : `"${part.replace(/["\\$]/g, "\\$&")}"`));
  return `pkgs.${quoted.join(".")}`;
}

function quoteForShell(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
