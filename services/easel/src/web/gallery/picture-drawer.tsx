import { useState } from "preact/hooks";
import type { GalleryImage } from "../../contract/gallery.js";
import { call, deleteImage } from "../api.js";
import { ApiImage, downloadImage } from "../api-image.jsx";
import { readInputImage } from "../create/input-image.js";
import { ConfirmDialog } from "../dialogs.jsx";
import { type PictureSettings, settingsOf } from "../picture-settings.js";
import { useShortcuts } from "../shortcuts.js";
import { go } from "../use-route.js";

interface Props {
  readonly image: GalleryImage;
  readonly settings: PictureSettings;
  readonly onUse: (part: Partial<PictureSettings>) => void;
  readonly onPrevious: () => void;
  readonly onNext: () => void;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

export function PictureDrawer({ image, settings, onUse, onPrevious, onNext, onClose, onDeleted }: Props) {
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string>();
  const path = `/api/gallery/${encodeURIComponent(image.name)}`;
  const { metadata } = image;
  useShortcuts({ ArrowLeft: onPrevious, ArrowRight: onNext, Escape: onClose });
  const attempt = (action: () => Promise<void>): void =>
    void action().catch((error: Error) => setProblem(error.message));
  const startFrom = async (): Promise<void> => {
    const blob = await (await call(path)).blob();
    onUse({ image: await readInputImage(new File([blob], image.name, { type: blob.type })), mask: undefined });
    go("create");
  };
  return (
    <aside class="drawer" aria-label={`Picture ${image.name}`}>
      <div class="row between">
        <button type="button" class="quiet" onClick={onPrevious} aria-label="Newer picture">
          ←
        </button>
        <span class="soft one-line">{image.name}</span>
        <button type="button" class="quiet" onClick={onNext} aria-label="Older picture">
          →
        </button>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </div>
      <ApiImage path={path} alt={metadata?.prompt ?? image.name} width={image.width} height={image.height} />
      <div class="row wrap">
        {metadata ? (
          <button
            type="button"
            class="primary"
            onClick={() => {
              onUse(settingsOf(metadata, settings));
              go("create");
            }}
          >
            Use these settings
          </button>
        ) : null}
        <button type="button" onClick={() => attempt(startFrom)}>
          Start from this
        </button>
        <button type="button" onClick={() => attempt(() => downloadImage(path, image.name))}>
          Save
        </button>
        <button type="button" class="danger" onClick={() => setAsking(true)}>
          Delete
        </button>
      </div>
      {problem ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : null}
      <dl class="facts">
        {factsOf(image).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {asking ? (
        <ConfirmDialog
          title="Delete picture"
          text={`${image.name} will be deleted from the server's disk.`}
          action="Delete"
          onYes={() =>
            attempt(async () => {
              await deleteImage(image.name);
              onDeleted();
            })
          }
          onClose={() => setAsking(false)}
        />
      ) : null}
    </aside>
  );
}

function factsOf(image: GalleryImage): (readonly [string, string])[] {
  const { metadata } = image;
  const made = new Date(image.created_at).toLocaleString();
  if (!metadata)
    return [
      ["Made", made],
      ["Size", `${image.width}×${image.height}`],
      ["Note", "This file carries no settings."],
    ];
  const facts: [string, string | undefined][] = [
    ["Prompt", metadata.prompt],
    ["Asked for", metadata.original_prompt],
    ["Without", metadata.negative_prompt || undefined],
    ["Model", metadata.model],
    ["Seed", String(metadata.seed)],
    ["Steps", String(metadata.steps)],
    ["Guidance", String(metadata.guidance)],
    ["Size", `${metadata.width}×${metadata.height}`],
    ["Strength", metadata.strength === undefined ? undefined : String(metadata.strength)],
    ["Adapter", metadata.lora === undefined ? undefined : `${metadata.lora} at ${metadata.lora_scale ?? 1}`],
    ["Made", made],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined);
}
