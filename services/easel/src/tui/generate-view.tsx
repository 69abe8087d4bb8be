import { formatDuration } from "@kit/command-line";
import { Box, Text } from "ink";
import { useEffect, useState } from "react";
import type { EaselClient } from "../client/easel-client.js";
import { LANGUAGE_FAMILY, type ModelDetails, type ModelRow } from "../contract/models.js";
import { type FieldName, type FormState, placeholderOf, requestOf, stepValue, visibleFields } from "./form-state.js";
import { clampIndex } from "./list-window.js";
import { Picture } from "./picture.js";
import { type FieldText, TextField } from "./text-field.js";
import type { Drawing, DrawingControl } from "./use-drawing.js";
import { useKeys } from "./use-keys.js";
import type { Screen } from "./use-screen.js";

interface Props {
  readonly client: EaselClient;
  readonly models: readonly ModelRow[];
  readonly form: FormState;
  readonly setForm: (form: FormState) => void;
  readonly control: DrawingControl;
  readonly screen: Screen;
}

const FORM_WIDTH = 44;

export function GenerateView({ client, models, form, setForm, control, screen }: Props) {
  const [selected, setSelected] = useState<FieldName>("prompt");
  const [notice, setNotice] = useState<string>();
  const chosen = form.model || models.find((model) => model.default)?.name || "";
  const details = useDetails(client, chosen);
  const fields = visibleFields(form, details);
  const ready = models
    .filter((model) => model.downloaded && model.family !== LANGUAGE_FAMILY)
    .map((model) => model.name);
  const move = (by: number): void =>
    setSelected((now) => fields[clampIndex(fields.indexOf(now) + by, fields.length)] ?? "prompt");
  const draw = (from: FormState): void => {
    const request = requestOf(from);
    setNotice(typeof request === "string" ? request : undefined);
    if (typeof request !== "string") control.start(request);
  };
  const expand = async (): Promise<void> => {
    if (form.prompt.trim() === "") return setNotice("Type a prompt first.");
    setNotice("thinking of more detail ...");
    try {
      const answer = await client.expand({ prompt: form.prompt, ...(form.model === "" ? {} : { model: form.model }) });
      setForm({ ...form, prompt: answer.expanded[0] ?? form.prompt });
      setNotice("The prompt was expanded; press d to draw it.");
    } catch (error) {
      setNotice((error as Error).message);
    }
  };
  const { editing, startEditing } = useKeys({
    scope: "generate",
    startInEditing: form.prompt === "" ? form.prompt : undefined,
    actions: {
      up: () => move(-1),
      down: () => move(1),
      less: () => setForm(stepValue(form, selected, -1, details, ready)),
      more: () => setForm(stepValue(form, selected, 1, details, ready)),
      edit: () => startEditing(form[selected]),
      draw: () => draw(form),
      cancel: control.cancel,
      expand: () => void expand(),
      reset: () => setForm({ ...form, size: "", steps: "", guidance: "", seed: "", batch: "1" }),
    },
    onEdit: (text) => setForm({ ...form, [selected]: text }),
    onSubmit: (text) => {
      if (selected === "prompt") draw({ ...form, prompt: text });
    },
  });
  const stageColumns = Math.max(10, screen.columns - FORM_WIDTH - 3);
  return (
    <Box flexGrow={1}>
      <Box width={FORM_WIDTH} flexDirection="column" paddingRight={1}>
        {fields.map((name) => (
          <Field
            key={name}
            name={name}
            value={name === "model" ? chosen : form[name]}
            placeholder={placeholderOf(name, details)}
            selected={name === selected}
            editing={name === selected ? editing : undefined}
          />
        ))}
        {notice ? (
          <Box marginTop={1}>
            <Text color="yellow">{notice}</Text>
          </Box>
        ) : null}
      </Box>
      <Stage drawing={control.drawing} columns={stageColumns} rows={Math.max(4, screen.rows - 6)} />
    </Box>
  );
}

function useDetails(client: EaselClient, name: string): ModelDetails | undefined {
  const [details, setDetails] = useState<ModelDetails>();
  useEffect(() => {
    let current = true;
    if (name !== "") {
      client.describeModel(name).then(
        (answer) => current && setDetails(answer),
        () => current && setDetails(undefined),
      );
    }
    return () => {
      current = false;
    };
  }, [client, name]);
  return details;
}

interface FieldProps {
  readonly name: FieldName;
  readonly value: string;
  readonly placeholder: string;
  readonly selected: boolean;
  readonly editing: FieldText | undefined;
}

function Field({ name, value, placeholder, selected, editing }: FieldProps) {
  return (
    <Box>
      <Box width={11} flexShrink={0}>
        <Text bold={selected} {...(selected ? { color: "cyan" } : {})}>
          {selected ? "› " : "  "}
          {name}
        </Text>
      </Box>
      <Box flexGrow={1}>
        <TextField
          field={editing ?? { text: value, cursor: 0 }}
          editing={editing !== undefined}
          placeholder={placeholder}
        />
      </Box>
    </Box>
  );
}

function Stage({ drawing, columns, rows }: { drawing: Drawing; columns: number; rows: number }) {
  return (
    <Box flexDirection="column" width={columns}>
      <Picture bytes={drawing.picture} columns={columns} rows={rows - 2} />
      <Text>{statusOf(drawing)}</Text>
      {drawing.message ? <Text color={drawing.state === "failed" ? "red" : "yellow"}>{drawing.message}</Text> : null}
    </Box>
  );
}

const BAR = 20;

function statusOf({ state, stage, step, total, msPerStep, drawn }: Drawing): string {
  if (state === "cancelled") return "cancelled";
  if (state === "done" && drawn)
    return `${drawn.model}, seed ${drawn.seedUsed}, ${formatDuration(drawn.generationTimeMs)}`;
  if (state !== "working") return "";
  if (total === 0) return `${stage} ...`;
  const full = Math.round((step / total) * BAR);
  const pace =
    msPerStep === undefined
      ? ""
      : `  ${formatDuration(msPerStep)}/step, ${formatDuration(msPerStep * (total - step))} left`;
  return `${stage} ${"█".repeat(full)}${"░".repeat(BAR - full)} ${step}/${total}${pace}`;
}
