import { useCallback, useEffect, useState } from "preact/hooks";
import type { FormProps } from "./create-view.jsx";
import { acceptedTypes, pictureIn, readInputImage } from "./input-image.js";
import { MaskPainter } from "./mask-painter.jsx";
import { Slider } from "./model-fields.jsx";

/** A picture to start from: dropped anywhere, pasted, or chosen; and a mask painted over it. */
export function ImageFields({ settings, change, active }: FormProps & { readonly active: boolean }) {
  const [problem, setProblem] = useState<string>();
  const [over, setOver] = useState(false);
  const [painting, setPainting] = useState(false);
  const { image } = settings;

  const take = useCallback(
    async (file: File | undefined): Promise<void> => {
      if (!file) return;
      try {
        change({ image: await readInputImage(file), mask: undefined });
        setProblem(undefined);
      } catch (error) {
        setProblem((error as Error).message);
      }
    },
    [change],
  );

  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    const { signal } = stop;
    const onDrop = (event: DragEvent): void => {
      event.preventDefault();
      setOver(false);
      void take(pictureIn(event.dataTransfer));
    };
    const onDrag = (event: DragEvent): void => {
      event.preventDefault();
      setOver(true);
    };
    document.addEventListener("drop", onDrop, { signal });
    document.addEventListener("dragover", onDrag, { signal });
    document.addEventListener("dragleave", () => setOver(false), { signal });
    document.addEventListener("paste", (event) => void take(pictureIn(event.clipboardData)), { signal });
    return () => stop.abort();
  }, [active, take]);

  return (
    <fieldset class={over ? "dropping" : ""}>
      <legend>Start from a picture</legend>
      {image ? (
        <>
          {painting ? (
            <MaskPainter image={image} mask={settings.mask} onChange={(mask) => change({ mask })} />
          ) : (
            <img class="input-picture" src={image.dataUrl} alt={image.name} />
          )}
          <div class="row wrap">
            <button type="button" aria-pressed={painting} onClick={() => setPainting(!painting)}>
              {painting ? "Done painting" : settings.mask ? "Edit mask" : "Paint a mask"}
            </button>
            <button
              type="button"
              onClick={() => {
                setPainting(false);
                change({ image: undefined, mask: undefined });
              }}
            >
              Remove
            </button>
          </div>
          <p class="soft">
            {settings.mask ? "Only what is painted is drawn anew." : `${image.name}, ${image.width}×${image.height}`}
          </p>
          <Slider
            label="Change"
            value={settings.strength}
            min={0}
            max={1}
            step={0.05}
            limit={1}
            onChange={(strength) => change({ strength })}
          />
        </>
      ) : (
        <label class="drop">
          Drop, paste or <u>choose</u> one
          <input
            type="file"
            accept={acceptedTypes}
            class="sr"
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
        </label>
      )}
      {problem ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : null}
    </fieldset>
  );
}
