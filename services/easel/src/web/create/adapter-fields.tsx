import { useEffect, useState } from "preact/hooks";
import type { AdapterList } from "../../contract/models.js";
import { listAdapters } from "../api.js";
import type { FormProps } from "./create-view.jsx";
import { Slider } from "./model-fields.jsx";

/** Adapters the server has; nothing is shown when there are none. */
export function AdapterFields({ settings, change }: FormProps) {
  const [list, setList] = useState<AdapterList>();
  useEffect(() => {
    listAdapters().then(setList, () => setList(undefined));
  }, []);
  const adapters = list?.adapters ?? [];
  if (adapters.length === 0 && settings.adapter === "") return null;
  const known = adapters.some((adapter) => adapter.path === settings.adapter);
  return (
    <fieldset>
      <legend>Adapter</legend>
      <select
        value={settings.adapter}
        aria-label="Adapter"
        onChange={(event) => change({ adapter: event.currentTarget.value })}
      >
        <option value="">none</option>
        {settings.adapter !== "" && !known ? <option value={settings.adapter}>{settings.adapter}</option> : null}
        {adapters.map((adapter) => (
          <option key={adapter.path} value={adapter.path}>
            {adapter.path.replace(/\.safetensors$/, "")}
          </option>
        ))}
      </select>
      {settings.adapter === "" ? null : (
        <Slider
          label="Strength"
          value={settings.adapterScale}
          min={-1}
          max={2}
          step={0.1}
          limit={4}
          onChange={(adapterScale) => change({ adapterScale })}
        />
      )}
    </fieldset>
  );
}
