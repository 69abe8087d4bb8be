import { useState } from "preact/hooks";
import type { Month } from "./api.js";
import { formatCount } from "./format.js";

/** A plot over months: an area or bars, a scale of round numbers, and the figure under the pointer. */

const WIDTH = 640;
const HEIGHT = 200;
const LEFT = 52;
const BOTTOM = 24;
const TOP = 12;
const RIGHT = 8;
const PLOT_WIDTH = WIDTH - LEFT - RIGHT;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

interface MonthPlotProps {
  title: string;
  about: string;
  months: readonly Month[];
  value: (month: Month) => number;
  shape: "area" | "bars";
}

export function MonthPlot({ title, about, months, value, shape }: MonthPlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const values = months.map(value);
  const ticks = roundTicks(Math.max(...values));
  const top = ticks.at(-1)!;
  const x = (at: number) => LEFT + ((at + 0.5) / months.length) * PLOT_WIDTH;
  const y = (amount: number) => TOP + PLOT_HEIGHT - (amount / top) * PLOT_HEIGHT;
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const inside = ((event.clientX - box.left) / box.width) * WIDTH - LEFT;
    const at = Math.floor((inside / PLOT_WIDTH) * months.length);
    setPointed(at >= 0 && at < months.length ? at : null);
  };
  const shown = pointed === null ? null : months[pointed]!;
  return (
    <figure class="plot">
      <figcaption>
        <strong>{title}</strong>{" "}
        <span class="quiet">{shown === null ? about : `${shown.month}: ${formatCount(value(shown))}`}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${about}, from ${formatCount(values[0]!)} in ${months[0]!.month} to ${formatCount(values.at(-1)!)} in ${months.at(-1)!.month}`}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
              {shortCount(tick)}
            </text>
          </g>
        ))}
        {yearLabels(months).map(({ year, at }) => (
          <text key={year} x={x(at)} y={HEIGHT - 6} text-anchor="middle">
            {year}
          </text>
        ))}
        {shape === "area" ? (
          <Area values={values} x={x} y={y} />
        ) : (
          values.map((amount, at) => (
            <rect
              key={at}
              class="bar"
              x={x(at) - (PLOT_WIDTH / months.length) * 0.4}
              width={(PLOT_WIDTH / months.length) * 0.8}
              y={y(amount)}
              height={Math.max(0, y(0) - y(amount))}
            />
          ))
        )}
        {pointed !== null && <line class="pointer" x1={x(pointed)} x2={x(pointed)} y1={TOP} y2={y(0)} />}
      </svg>
    </figure>
  );
}

function Area({ values, x, y }: { values: number[]; x: (at: number) => number; y: (amount: number) => number }) {
  const line = values.map((amount, at) => `${x(at).toFixed(1)},${y(amount).toFixed(1)}`).join(" L");
  return (
    <>
      <path class="area" d={`M${x(0)},${y(0)} L${line} L${x(values.length - 1)},${y(0)} Z`} />
      <path class="line" d={`M${line}`} />
    </>
  );
}

/** The plots once more in numbers, for those who cannot see them or want them exactly. */
export function YearTable({ months }: { months: readonly Month[] }) {
  const years = new Map<string, { packages: number; newVersions: number; total: number }>();
  for (const month of months) {
    const year = month.month.slice(0, 4);
    const before = years.get(year);
    const newVersions = (before?.newVersions ?? 0) + month.new_versions;
    years.set(year, { packages: month.packages, newVersions, total: month.total_versions });
  }
  return (
    <details class="numbers">
      <summary>The numbers, year by year</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Year</th>
            <th scope="col">Packages at its end</th>
            <th scope="col">New versions</th>
            <th scope="col">Versions so far</th>
          </tr>
        </thead>
        <tbody>
          {[...years].map(([year, { packages, newVersions, total }]) => (
            <tr key={year}>
              <th scope="row">{year}</th>
              <td>{formatCount(packages)}</td>
              <td>{formatCount(newVersions)}</td>
              <td>{formatCount(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Zero, a round number above the largest value, and some between. */
function roundTicks(largest: number): number[] {
  const rough = Math.max(1, largest) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10,
  );
  const ticks = [0];
  while (ticks.at(-1)! < largest) {
    ticks.push(ticks.at(-1)! + step);
  }
  return ticks;
}

/** At most so many years are written below a plot. */
const MOST_YEAR_LABELS = 8;

function yearLabels(months: readonly Month[]): { year: string; at: number }[] {
  const januaries = months.map(({ month }, at) => ({ year: month.slice(0, 4), at, isFirst: month.endsWith("-01") }));
  const starts = januaries.filter(({ isFirst }) => isFirst);
  const step = Math.max(1, Math.ceil(starts.length / MOST_YEAR_LABELS));
  return starts.filter((_, at) => at % step === 0);
}

function shortCount(count: number): string {
  if (count >= 1_000_000) {
    return `${Math.round(count / 100_000) / 10}M`;
  }
  return count >= 1000 ? `${Math.round(count / 100) / 10}k` : formatCount(count);
}
