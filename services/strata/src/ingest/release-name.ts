/**
 * Names of release folders: `nixos-20.09pre243018.c59ea8b8a0e`, `nixos-20.03.3324.929768261a3`, `nixpkgs-21.11pre300000.abcdef0`,
 * `nixos-19.09beta512.…`. The count of commits orders the releases of a channel; the names themselves do not (`9…` comes after `10…`).
 */
export interface ReleaseName {
  name: string;
  count: number;
  shortRevision: string;
}

const RELEASE = /^[a-z][a-z0-9-]*-\d{2}\.\d{2}(?:-[a-z0-9]+)?(?:pre|beta|\.)(\d+)\.([0-9a-f]{7,40})$/;

/** The parts of a release's name, or null for a folder that is none. */
export function parseReleaseName(name: string): ReleaseName | null {
  const match = RELEASE.exec(name);
  return match === null ? null : { name, count: Number(match[1]), shortRevision: match[2]! };
}

/** Newest first. */
export function compareReleases(a: ReleaseName, b: ReleaseName): number {
  return b.count - a.count || (a.name < b.name ? -1 : 1);
}
