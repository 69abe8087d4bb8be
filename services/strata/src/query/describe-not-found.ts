import type { NotFound } from "./package-index.js";

/** The sentence of a 404, the same over HTTP and on the command line. */
export function describeNotFound(found: NotFound, attributePath: string, version: string | undefined): string {
  const isPackage = found.missing === "package";
  const what = isPackage
    ? `Package '${attributePath}' not found`
    : `Version '${version}' of package '${attributePath}' not found`;
  if (found.near.length === 0) return what;
  const near = found.near.map((name) => `'${name}'`).join(", ");
  return `${what}. ${isPackage ? "Near names" : "Near versions"}: ${near}`;
}
