import { useEffect, useRef, useState } from "preact/hooks";
import type { InputImage } from "../picture-settings.js";

interface Props {
  readonly image: InputImage;
  readonly mask: string | undefined;
  readonly onChange: (mask: string | undefined) => void;
}

const SMALLEST_BRUSH = 0.01;
const LARGEST_BRUSH = 0.25;

/** Paint over what is to be drawn anew. The canvas has the picture's own size, so strokes land where they are seen at any zoom. */
export function MaskPainter({ image, mask, onChange }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const last = useRef<{ x: number; y: number } | undefined>(undefined);
  const [brush, setBrush] = useState(0.08);
  const [erasing, setErasing] = useState(false);

  // The painted layer is the truth while it is open; `mask` only restores it when the painter comes back.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new mask from our own strokes must not redraw the canvas
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    context.clearRect(0, 0, image.width, image.height);
    if (mask === undefined) return;
    const stored = new Image();
    stored.onload = () => drawStoredMask(context, stored);
    stored.src = mask;
  }, [image]);

  const paint = (event: PointerEvent, from: { x: number; y: number } | undefined): void => {
    const context = canvas.current!.getContext("2d")!;
    const to = placeOf(canvas.current!, event);
    const start = from ?? to;
    context.globalCompositeOperation = erasing ? "destination-out" : "source-over";
    context.strokeStyle = "#fff";
    context.lineCap = context.lineJoin = "round";
    context.lineWidth = brush * Math.max(image.width, image.height);
    context.beginPath();
    context.moveTo(start.x, start.y);
    context.lineTo(to.x, to.y + 0.01);
    context.stroke();
    last.current = to;
  };
  const finish = (): void => {
    if (!last.current) return;
    last.current = undefined;
    onChange(maskOf(canvas.current!));
  };
  const clear = (): void => {
    canvas.current!.getContext("2d")!.clearRect(0, 0, image.width, image.height);
    onChange(undefined);
  };
  return (
    <div class="painter">
      <div class="painter-stage">
        <img src={image.dataUrl} alt={image.name} />
        <canvas
          ref={canvas}
          width={image.width}
          height={image.height}
          aria-label="Paint what is to be drawn anew"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            paint(event, undefined);
          }}
          onPointerMove={(event) => {
            if (last.current) paint(event, last.current);
          }}
          onPointerUp={finish}
          onPointerCancel={finish}
        />
      </div>
      <div class="row wrap">
        <label class="inline">
          Brush
          <input
            type="range"
            min={SMALLEST_BRUSH}
            max={LARGEST_BRUSH}
            step={0.01}
            value={brush}
            onInput={(event) => setBrush(Number(event.currentTarget.value))}
          />
        </label>
        <button type="button" aria-pressed={erasing} onClick={() => setErasing(!erasing)}>
          Erase
        </button>
        <button type="button" onClick={clear}>
          Clear
        </button>
      </div>
    </div>
  );
}

function placeOf(canvas: HTMLCanvasElement, event: PointerEvent): { x: number; y: number } {
  const box = canvas.getBoundingClientRect();
  return {
    x: ((event.clientX - box.left) / box.width) * canvas.width,
    y: ((event.clientY - box.top) / box.height) * canvas.height,
  };
}

/** White strokes on black, as the server wants it; undefined when nothing is painted. */
function maskOf(painted: HTMLCanvasElement): string | undefined {
  const flat = document.createElement("canvas");
  flat.width = painted.width;
  flat.height = painted.height;
  const context = flat.getContext("2d")!;
  context.fillStyle = "#000";
  context.fillRect(0, 0, flat.width, flat.height);
  context.drawImage(painted, 0, 0);
  const { data } = context.getImageData(0, 0, flat.width, flat.height);
  for (let i = 0; i < data.length; i += 4) if (data[i]! > 127) return flat.toDataURL("image/png");
  return undefined;
}

function drawStoredMask(context: CanvasRenderingContext2D, stored: HTMLImageElement): void {
  context.drawImage(stored, 0, 0);
  const picture = context.getImageData(0, 0, context.canvas.width, context.canvas.height);
  for (let i = 0; i < picture.data.length; i += 4) picture.data[i + 3] = picture.data[i]!;
  context.putImageData(picture, 0, 0);
}
