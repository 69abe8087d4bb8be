import type { ComponentChildren } from "preact";
import { getPackage, type Package } from "./api.js";
import { formatCount, formatDay } from "./format.js";
import { goTo, NO_SEARCH, packageAddress, searchAddress } from "./route.js";
import { AttributePath } from "./search-view.js";
import { ShellLines } from "./shell-lines.js";
import { useAnswer } from "./use-answer.js";
import { VersionTimeline } from "./version-timeline.js";

export function PackageView({ attributePath, version }: { attributePath: string; version: string | null }) {
  const answer = useAnswer(attributePath, (signal) => getPackage(attributePath, signal));
  if (answer.failure !== null) {
    return <NotThere attributePath={attributePath} message={answer.failure.message} />;
  }
  if (answer.value === null) {
    return <p class="quiet">Loading…</p>;
  }
  const records = answer.value;
  // Several stays of one version: the last one is the one to get it from.
  const chosen = (version === null ? undefined : records.find((record) => record.version === version)) ?? records[0]!;
  const isUnknown = version !== null && chosen.version !== version;
  return (
    <article class="package-page">
      <PackageHead records={records} />
      {isUnknown && (
        <p class="failure" role="status">
          There is no version {version} of this package; {chosen.version} is shown.
        </p>
      )}
      <section class="chosen" aria-label={`Version ${chosen.version}`} aria-live="polite">
        <h2>
          Get version <span class="version">{chosen.version}</span>
        </h2>
        <Warnings record={chosen} />
        <ShellLines record={chosen} />
        <Facts record={chosen} />
      </section>
      <VersionTimeline
        records={records}
        chosen={chosen.version}
        onChoose={(next) => goTo(packageAddress(attributePath, next), "replace")}
      />
    </article>
  );
}

function PackageHead({ records }: { records: Package[] }) {
  const newest = records[0]!;
  const versions = new Set(records.map((record) => record.version)).size;
  return (
    <header class="package-head">
      <h1>
        <AttributePath path={newest.attribute_path} />
      </h1>
      {newest.description !== null && <p class="lead">{newest.description}</p>}
      <p class="facts">
        {newest.license !== null && <span>{newest.license}</span>}
        <span>
          {formatCount(versions)} {versions === 1 ? "version" : "versions"}
        </span>
        {newest.name !== newest.attribute_path && <span>name: {newest.name}</span>}
        {newest.homepage !== null && <OutsideLink href={newest.homepage}>{hostOf(newest.homepage)}</OutsideLink>}
      </p>
    </header>
  );
}

function Warnings({ record }: { record: Package }) {
  const reasons = record.known_vulnerabilities ?? [];
  if (reasons.length === 0) {
    return null;
  }
  return (
    <div class="warning" role="note">
      <strong>Marked insecure.</strong>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </div>
  );
}

function Facts({ record }: { record: Package }) {
  return (
    <dl class="fact-list">
      <Fact name="First seen">
        {formatDay(record.first_commit_date)} <Commit hash={record.first_commit_hash} />
      </Fact>
      <Fact name="Last seen">
        {formatDay(record.last_commit_date)} <Commit hash={record.last_commit_hash} />
      </Fact>
      {record.source_path !== null && (
        <Fact name="Defined in">
          <code>{record.source_path}</code>
        </Fact>
      )}
      {record.maintainers !== null && <Fact name="Maintainers">{record.maintainers.join(", ")}</Fact>}
      {record.platforms !== null && <Platforms platforms={record.platforms} />}
    </dl>
  );
}

/** More than this and the list is folded. */
const SHOWN_PLATFORMS = 8;

function Platforms({ platforms }: { platforms: readonly string[] }) {
  return (
    <Fact name="Platforms">
      {platforms.length <= SHOWN_PLATFORMS ? (
        platforms.join(", ")
      ) : (
        <details>
          <summary>{platforms.length} platforms</summary>
          {platforms.join(", ")}
        </details>
      )}
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Commit({ hash }: { hash: string }) {
  return (
    <OutsideLink href={`https://github.com/NixOS/nixpkgs/commit/${hash}`}>
      <code title={hash}>{hash.slice(0, 10)}</code>
    </OutsideLink>
  );
}

/** Links out of the page are only followed when the visitor clicks; addresses that are no web addresses stay text. */
function OutsideLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(href)) {
    return <span>{children}</span>;
  }
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  );
}

function hostOf(address: string): string {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

function NotThere({ attributePath, message }: { attributePath: string; message: string }) {
  const leaf = attributePath.slice(attributePath.lastIndexOf(".") + 1);
  return (
    <div class="nothing" role="status">
      <h1>{message}</h1>
      <p>
        <a href={searchAddress({ ...NO_SEARCH, q: leaf })}>Search for “{leaf}”</a>
      </p>
    </div>
  );
}
