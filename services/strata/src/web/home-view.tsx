import { getTimeline, type Statistics } from "./api.js";
import { formatCount, formatMonth } from "./format.js";
import { MonthPlot, YearTable } from "./month-plot.js";
import { NO_SEARCH, packageAddress, searchAddress } from "./route.js";
import { type Answer, useAnswer } from "./use-answer.js";

/** The start page: what this is, what it holds, and how it grew. */
export function HomeView({ statistics }: { statistics: Answer<Statistics> }) {
  const timeline = useAnswer("timeline", getTimeline);
  return (
    <div class="home-view">
      <section class="intro">
        <h1>Every version of every package, and the commit that has it</h1>
        <p>
          Try <a href={searchAddress({ ...NO_SEARCH, q: "python", version: "3.8" })}>python 3.8</a>,{" "}
          <a href={packageAddress("firefox")}>the history of firefox</a> or{" "}
          <a href={searchAddress({ ...NO_SEARCH, q: "web server", inDescriptions: true })}>a web server</a>.
        </p>
      </section>
      {statistics.failure !== null && <p class="failure">{statistics.failure.message}</p>}
      {statistics.value !== null && <Figures statistics={statistics.value} />}
      {timeline.value !== null && timeline.value.length > 1 && (
        <section class="plots" aria-label="How the index grew">
          <MonthPlot
            title="Packages"
            about="attribute paths in the tree, month by month"
            months={timeline.value}
            value={(month) => month.packages}
            shape="area"
          />
          <MonthPlot
            title="New versions"
            about="versions first seen, month by month"
            // In the first month everything is new; it would dwarf all others.
            months={timeline.value.slice(1)}
            value={(month) => month.new_versions}
            shape="bars"
          />
          <YearTable months={timeline.value} />
        </section>
      )}
    </div>
  );
}

function Figures({ statistics }: { statistics: Statistics }) {
  const { oldest_commit_date: oldest, newest_commit_date: newest } = statistics;
  return (
    <dl class="figures">
      <div>
        <dt>Version ranges</dt>
        <dd>{formatCount(statistics.total_ranges)}</dd>
      </div>
      <div>
        <dt>Package names</dt>
        <dd>{formatCount(statistics.unique_names)}</dd>
      </div>
      <div>
        <dt>Distinct versions</dt>
        <dd>{formatCount(statistics.unique_versions)}</dd>
      </div>
      {oldest !== null && newest !== null && (
        <div>
          <dt>Observed</dt>
          <dd class="small">
            {formatMonth(oldest)} – {formatMonth(newest)}
          </dd>
        </div>
      )}
    </dl>
  );
}
