import { useMemo, useState } from "preact/hooks";
import type { GenerateResponse } from "../../contract/generate.js";
import { saveBlob } from "../api-image.jsx";
import type { PictureSettings } from "../picture-settings.js";
import type { Drawing } from "../use-generation.js";
import { BeforeAfter } from "./before-after.jsx";

interface Props {
  readonly drawing: Drawing;
  readonly change: (part: Partial<PictureSettings>) => void;
}

export function PictureStage({ drawing, change }: Props) {
  return (
    <section class="stage" aria-live="polite" aria-label="Picture">
      {drawing.state === "idle" ? <p class="empty">Say what to draw, then press Draw.</p> : null}
      {drawing.state === "working" ? <Working drawing={drawing} /> : null}
      {drawing.state === "cancelled" ? <p class="empty">Cancelled.</p> : null}
      {drawing.state === "failed" ? (
        <p class="problem large" role="alert">
          {drawing.error}
        </p>
      ) : null}
      {drawing.state === "done" ? <Done drawing={drawing} change={change} /> : null}
    </section>
  );
}

function Working({ drawing }: { drawing: Drawing }) {
  const { stage, step, total, msPerStep, preview, position } = drawing;
  const left = msPerStep === undefined || total === 0 ? undefined : (msPerStep * (total - step)) / 1000;
  return (
    <div class="working">
      {preview ? (
        <img class="picture preview" src={preview} alt="Preview of what is being drawn" />
      ) : (
        <div class="picture placeholder" />
      )}
      <div class="status">
        <span>{position !== undefined && position > 0 ? `Waiting, ${position} ahead` : stage}</span>
        {total > 0 ? (
          <span class="soft">
            step {step} of {total}
            {msPerStep === undefined ? "" : ` · ${formatMs(msPerStep)} a step`}
            {left !== undefined && left >= 1 ? ` · ${Math.ceil(left)} s left` : ""}
          </span>
        ) : null}
      </div>
      {total > 0 ? <progress value={step} max={total} aria-label="Steps" /> : <progress aria-label={stage} />}
    </div>
  );
}

const formatMs = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

function Done({ drawing, change }: { drawing: Drawing; change: Props["change"] }) {
  const response = drawing.response!;
  const [shown, setShown] = useState(0);
  const [comparing, setComparing] = useState(false);
  const sources = useMemo(() => response.images.map(sourceOf), [response]);
  const image = response.images[Math.min(shown, response.images.length - 1)]!;
  const source = sources[image.index] ?? sources[0]!;
  const seed = response.seed_used + image.index;
  const prompt = response.expanded_prompt ?? drawing.request?.prompt ?? "";
  const save = async (): Promise<void> => saveBlob(await (await fetch(source)).blob(), `easel-${seed}.${image.format}`);
  return (
    <div class="done">
      {comparing && drawing.before ? (
        <BeforeAfter before={drawing.before} after={source} alt={prompt} />
      ) : (
        <img class="picture" src={source} alt={prompt} />
      )}
      {response.images.length > 1 ? (
        <div class="strip">
          {sources.map((thumb, index) => (
            <button
              key={thumb.slice(-40)}
              type="button"
              aria-pressed={index === shown}
              onClick={() => setShown(index)}
              aria-label={`Picture ${index + 1}`}
            >
              <img src={thumb} alt="" />
            </button>
          ))}
        </div>
      ) : null}
      <p class="soft">
        {response.model} · seed {seed} · {image.width}×{image.height} · {formatMs(response.generation_time_ms)}
      </p>
      {drawing.notes.map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
      <div class="row wrap center">
        <button type="button" onClick={() => void save()}>
          Save
        </button>
        <button type="button" onClick={() => change({ seed: String(seed) })}>
          Keep this seed
        </button>
        <button
          type="button"
          onClick={() =>
            change({
              image: { dataUrl: source, width: image.width, height: image.height, name: "last picture" },
              mask: undefined,
            })
          }
        >
          Start from this
        </button>
        {drawing.before ? (
          <button type="button" aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
            Before and after
          </button>
        ) : null}
        <a class="button" href="#gallery">
          Gallery
        </a>
      </div>
    </div>
  );
}

/** The page asks for base64; an array of integers is what a server without that would send. */
function sourceOf(image: GenerateResponse["images"][number]): string {
  const base64 =
    typeof image.data === "string" ? image.data : btoa(image.data.map((byte) => String.fromCharCode(byte)).join(""));
  return `data:image/${image.format};base64,${base64}`;
}
