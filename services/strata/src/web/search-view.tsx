import { useEffect, useState } from "preact/hooks";
import { ApiFailure, type Search } from "./api.js";
import { Filters } from "./filters.js";
import { formatCount, formatDay, plural } from "./format.js";
import { continueResults, type ResultGroup, type Results, startResults } from "./group-results.js";
import { InsecureBadge } from "./insecure-badge.js";
import { goTo, packageAddress, searchAddress } from "./route.js";
import { moveBetweenSteps } from "./step-keys.js";
import { useAnswer } from "./use-answer.js";

/** Long enough that a fast typist's letters become one request, short enough not to be felt. */
const TYPING_PAUSE_MS = 90;

export function SearchView({ search }: { search: Search }) {
  const key = searchAddress(search);
  const first = useAnswer(key, (signal) => startResults(search, signal), TYPING_PAUSE_MS);
  return (
    <div class="columns">
      <Filters search={search} onChange={(next) => goTo(searchAddress(next), "replace")} />
      <section class="results" aria-label="Results" aria-busy={first.isLoading}>
        {first.failure !== null && <p class="failure">{first.failure.message}</p>}
        {first.value !== null && <ResultList key={key} search={search} first={first.value} />}
        {first.value === null && first.failure === null && <p class="quiet">Searching…</p>}
      </section>
    </div>
  );
}

function ResultList({ search, first }: { search: Search; first: Results }) {
  const [results, setResults] = useState(first);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => setResults(first), [first]);
  const loadMore = () => {
    continueResults(search, results, new AbortController().signal).then(setResults, (error) =>
      setFailure(error instanceof ApiFailure ? error.message : String(error)),
    );
  };
  if (results.total === 0) {
    return <NothingFound search={search} />;
  }
  const what = search.inDescriptions ? plural(results.total, "package") : plural(results.total, "version");
  return (
    <>
      <p class="quiet" role="status">
        {what} found
      </p>
      <ol class="result-list" onKeyDown={moveBetweenSteps}>
        {results.groups.map((group) => (
          <Result key={`${group.attributePath} ${group.records[0]!.id}`} group={group} />
        ))}
      </ol>
      {failure !== null && <p class="failure">{failure}</p>}
      {results.hasMore && (
        <button type="button" class="more" onClick={loadMore}>
          Show more ({formatCount(results.total - results.loaded)} left)
        </button>
      )}
    </>
  );
}

/** Older versions shown beside the newest one. */
const SHOWN_VERSIONS = 6;

function Result({ group }: { group: ResultGroup }) {
  const [newest, ...others] = group.records as [ResultGroup["records"][number], ...ResultGroup["records"]];
  // Timestamps of one form: their order as text is their order in time.
  const first = group.records.map((record) => record.first_commit_date).sort()[0]!;
  const last = group.records
    .map((record) => record.last_commit_date)
    .sort()
    .at(-1)!;
  const isInsecure = (newest.known_vulnerabilities ?? []).length > 0;
  return (
    <li class="result">
      <a data-step class="result-link" href={packageAddress(group.attributePath)}>
        <span class="result-title">
          <AttributePath path={group.attributePath} /> <span class="version">{newest.version}</span>
          {isInsecure && <InsecureBadge />}
        </span>
        {newest.description !== null && <span class="description">{newest.description}</span>}
        <span class="facts">
          {newest.license !== null && <span>{newest.license}</span>}
          <span>
            {formatDay(first)} – {formatDay(last)}
          </span>
        </span>
      </a>
      {others.length > 0 && (
        <ul class="others" aria-label={`Other versions of ${group.attributePath}`}>
          {others.slice(0, SHOWN_VERSIONS).map((record) => (
            <li key={record.id}>
              <a href={packageAddress(group.attributePath, record.version)}>{record.version}</a>
            </li>
          ))}
          {others.length > SHOWN_VERSIONS && (
            <li>
              <a href={packageAddress(group.attributePath)}>and {formatCount(others.length - SHOWN_VERSIONS)} more</a>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** The set in front of the last dot is context; the leaf is what people look for. */
export function AttributePath({ path }: { path: string }) {
  const dot = path.lastIndexOf(".");
  return (
    <span class="path">
      {dot >= 0 && <span class="path-set">{path.slice(0, dot + 1)}</span>}
      {path.slice(dot + 1)}
    </span>
  );
}

function NothingFound({ search }: { search: Search }) {
  const isNarrowed = search.version !== "" || search.license !== "" || search.exact;
  return (
    <div class="nothing" role="status">
      <h2>Nothing found for “{search.q}”</h2>
      <p>
        {isNarrowed ? (
          <a href={searchAddress({ ...search, version: "", license: "", exact: false })}>Search without the filters</a>
        ) : search.inDescriptions ? (
          <a href={searchAddress({ ...search, inDescriptions: false })}>Search names instead</a>
        ) : (
          <a href={searchAddress({ ...search, inDescriptions: true })}>Search descriptions instead</a>
        )}
      </p>
    </div>
  );
}
