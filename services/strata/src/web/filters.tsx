import type { Search } from "./api.js";

/** What narrows and orders a search. Filters that a search in descriptions does not know are switched off, not hidden. */
export function Filters({ search, onChange }: { search: Search; onChange: (search: Search) => void }) {
  const change = (part: Partial<Search>) => onChange({ ...search, ...part });
  const isOff = search.inDescriptions;
  return (
    <form class="filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="choice">
        <legend>Look in</legend>
        <Choice
          name="in"
          label="Names"
          checked={!search.inDescriptions}
          onChoose={() => change({ inDescriptions: false })}
        />
        <Choice
          name="in"
          label="Descriptions"
          checked={search.inDescriptions}
          onChoose={() => change({ inDescriptions: true })}
        />
      </fieldset>
      <label>
        Version
        <input
          name="version"
          value={search.version}
          placeholder="starts with, e.g. 3.1"
          disabled={isOff}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => change({ version: event.currentTarget.value.trim() })}
        />
      </label>
      <label>
        Licence
        <input
          name="license"
          value={search.license}
          placeholder="contains, e.g. GPL"
          disabled={isOff}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => change({ license: event.currentTarget.value.trim() })}
        />
      </label>
      <label>
        Order
        <select
          name="sort"
          value={search.sort}
          disabled={isOff}
          onChange={(event) => change({ sort: event.currentTarget.value as Search["sort"] })}
        >
          <option value="relevance">Best match</option>
          <option value="date">Last seen</option>
          <option value="version">Version</option>
          <option value="name">Name</option>
        </select>
      </label>
      <div class="checks">
        <label class="check">
          <input
            type="checkbox"
            name="exact"
            checked={search.exact}
            disabled={isOff}
            onChange={(event) => change({ exact: event.currentTarget.checked })}
          />
          Exact name
        </label>
        <label class="check">
          <input
            type="checkbox"
            name="reverse"
            checked={search.reverse}
            disabled={isOff}
            onChange={(event) => change({ reverse: event.currentTarget.checked })}
          />
          Reverse
        </label>
      </div>
    </form>
  );
}

function Choice({
  name,
  label,
  checked,
  onChoose,
}: {
  name: string;
  label: string;
  checked: boolean;
  onChoose: () => void;
}) {
  return (
    <label>
      <input type="radio" name={name} checked={checked} onChange={onChoose} />
      <span>{label}</span>
    </label>
  );
}
