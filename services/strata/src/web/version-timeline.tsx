import { useState } from "preact/hooks";
import type { Package } from "./api.js";
import { formatCount, formatDay } from "./format.js";
import { InsecureBadge } from "./insecure-badge.js";
import { moveBetweenSteps } from "./step-keys.js";

/** The history of a package: a row for each version, newest on top, a bar from first to last seen for each of its stays. */

interface VersionRow {
  version: string;
  stays: { first: string; last: string }[];
  isInsecure: boolean;
}

/** Rows shown before the visitor asks for all: more than a screen is no overview. */
const SHOWN_ROWS = 40;
/** A stay of a day among ten years would be invisible. */
const NARROWEST_BAR_PERCENT = 0.6;

export function VersionTimeline(props: { records: Package[]; chosen: string; onChoose: (version: string) => void }) {
  const { records, chosen, onChoose } = props;
  const [showsAll, setShowsAll] = useState(false);
  const rows = collectRows(records);
  const scale = makeScale(rows);
  const chosenAt = rows.findIndex((row) => row.version === chosen);
  const visible = showsAll || chosenAt >= SHOWN_ROWS ? rows : rows.slice(0, SHOWN_ROWS);
  return (
    <section class="timeline" aria-label="Version history">
      <h2>Version history</h2>
      <div class="timeline-axis" aria-hidden="true">
        <span />
        <div>
          {scale.years.map(({ year, at }) => (
            <span key={year} style={{ left: `${at}%` }}>
              {year}
            </span>
          ))}
        </div>
      </div>
      <ol class="timeline-rows" onKeyDown={moveBetweenSteps}>
        {visible.map((row) => (
          <Row key={row.version} row={row} scale={scale} isChosen={row.version === chosen} onChoose={onChoose} />
        ))}
      </ol>
      {visible.length < rows.length && (
        <button type="button" class="more" onClick={() => setShowsAll(true)}>
          Show all {formatCount(rows.length)} versions
        </button>
      )}
    </section>
  );
}

interface Scale {
  years: { year: number; at: number }[];
  place: (timestamp: string) => number;
}

function Row(props: { row: VersionRow; scale: Scale; isChosen: boolean; onChoose: (version: string) => void }) {
  const { row, scale, isChosen, onChoose } = props;
  const seen = row.stays.map(({ first, last }) => `${formatDay(first)} – ${formatDay(last)}`).join("; ");
  return (
    <li>
      <button
        type="button"
        data-step
        class="timeline-row"
        aria-pressed={isChosen}
        title={`${row.version}: ${seen}`}
        onClick={() => onChoose(row.version)}
      >
        <span class="timeline-label">
          <span class="version">{row.version}</span>
          {row.isInsecure && <InsecureBadge />}
          <span class="visually-hidden">, seen {seen}</span>
        </span>
        <svg class="timeline-bars" width="100%" height="26" aria-hidden="true">
          {scale.years.map(({ year, at }) => (
            <line key={year} class="grid" x1={`${at}%`} x2={`${at}%`} y1="0" y2="26" />
          ))}
          {row.stays.map(({ first, last }) => {
            const start = scale.place(first);
            const width = Math.max(NARROWEST_BAR_PERCENT, scale.place(last) - start);
            return (
              <rect
                key={first}
                class={row.isInsecure ? "bar insecure" : "bar"}
                x={`${Math.min(start, 100 - NARROWEST_BAR_PERCENT)}%`}
                width={`${width}%`}
                y="8"
                height="10"
                rx="3"
              />
            );
          })}
        </svg>
      </button>
    </li>
  );
}

/** Versions in the order of their latest appearance; the records come newest last commit first. */
function collectRows(records: readonly Package[]): VersionRow[] {
  const rows = new Map<string, VersionRow>();
  for (const record of records) {
    const row = rows.get(record.version) ?? { version: record.version, stays: [], isInsecure: false };
    row.stays.push({ first: record.first_commit_date, last: record.last_commit_date });
    row.isInsecure ||= (record.known_vulnerabilities ?? []).length > 0;
    rows.set(record.version, row);
  }
  return [...rows.values()];
}

/** At most so many labels fit beside each other on a phone. */
const MOST_YEAR_LABELS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;

function makeScale(rows: readonly VersionRow[]): Scale {
  const times = rows.flatMap(({ stays }) => stays.flatMap(({ first, last }) => [Date.parse(first), Date.parse(last)]));
  const start = Math.min(...times);
  const end = Math.max(Math.max(...times), start + 30 * DAY_MS);
  const place = (time: number) => ((time - start) / (end - start)) * 100;
  const firstYear = new Date(start).getUTCFullYear() + 1;
  const lastYear = new Date(end).getUTCFullYear();
  const step = Math.max(1, Math.ceil((lastYear - firstYear + 1) / MOST_YEAR_LABELS));
  const years = [];
  for (let year = firstYear; year <= lastYear; year += step) {
    years.push({ year, at: place(Date.UTC(year, 0, 1)) });
  }
  return { years, place: (timestamp) => place(Date.parse(timestamp)) };
}
