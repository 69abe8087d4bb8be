import { rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import {
  type CommandContext,
  CommandError,
  formatDuration,
  type PictureProtocol,
  type ProgressState,
} from "@kit/command-line";
import type { DrawnPicture, DrawnPictures, EaselClient } from "../client/easel-client.js";
import type { GenerateProgress, GenerateRequest } from "../contract/generate.js";
import { showPicture } from "../terminal/show-picture.js";

export interface Delivery extends Pick<CommandContext, "output" | "terminal" | "signal" | "progress"> {
  /** file name, `-` for standard output, or nothing */
  readonly file: string | undefined;
  readonly show: PictureProtocol | "auto";
}

/** Draws, with progress on stderr, and puts the pictures where they belong: files, or standard output when it is piped. */
export async function drawAndDeliver(client: EaselClient, request: GenerateRequest, delivery: Delivery): Promise<void> {
  const toStdout =
    delivery.file === "-" ||
    (delivery.file === undefined && !delivery.terminal.stdout.isTTY && delivery.output.mode !== "json");
  if (toStdout && delivery.output.mode === "json")
    throw new CommandError("usage", "--json and pictures on standard output cannot be combined", {
      remedy: "Name a file with -o.",
    });
  const drawn = await drawWithProgress(client, request, delivery);
  if (toStdout) {
    await writeAll(delivery.terminal.stdout, drawn.images[0]!.bytes);
    if (drawn.images.length > 1)
      delivery.output.note(
        `${drawn.images.length} pictures were drawn, the first was written; name a file with -o to get all.`,
      );
    delivery.output.note(summaryOf(drawn));
    return;
  }
  const files: string[] = [];
  for (const picture of drawn.images) {
    const name = fileNameFor(picture, drawn, delivery.file);
    await writeAtomically(name, picture.bytes);
    files.push(name);
    if (delivery.output.mode === "table") await showPicture(picture.bytes, delivery.terminal, delivery.show);
  }
  report(drawn, files, delivery);
}

async function drawWithProgress(
  client: EaselClient,
  request: GenerateRequest,
  delivery: Delivery,
): Promise<DrawnPictures> {
  const progress = delivery.progress();
  try {
    return await client.generate(request, {
      signal: delivery.signal,
      onProgress: (event) => showProgress(progress, event, delivery),
    });
  } finally {
    progress.finish();
  }
}

function showProgress(progress: ReturnType<Delivery["progress"]>, event: GenerateProgress, delivery: Delivery): void {
  if (event.type === "info") {
    progress.finish();
    delivery.output.note(event.message);
  }
  const state = progressState(event);
  if (state) progress.update(state);
}

function progressState(event: GenerateProgress): ProgressState | undefined {
  switch (event.type) {
    case "queued":
      return { label: event.position > 0 ? `waiting, ${event.position} ahead` : "starting" };
    case "stage_start":
      return { label: event.name };
    case "weight_load":
      return { label: `loading ${event.component}`, done: event.bytes_loaded, total: event.bytes_total };
    case "denoise_step":
      return {
        label: "drawing",
        done: event.step,
        total: event.total,
        detail: `${formatDuration(event.elapsed_ms / event.step)}/step`,
      };
    default:
      return undefined;
  }
}

const summaryOf = (drawn: DrawnPictures): string =>
  `${drawn.model}, seed ${drawn.seedUsed}, ${formatDuration(drawn.generationTimeMs)}`;

function report(drawn: DrawnPictures, files: readonly string[], { output }: Delivery): void {
  if (output.mode === "json") {
    const images = drawn.images.map((picture, i) => ({
      file: files[i],
      seed: drawn.seedUsed + picture.index,
      format: picture.format,
      width: picture.width,
      height: picture.height,
    }));
    output.json({
      model: drawn.model,
      seed_used: drawn.seedUsed,
      generation_time_ms: drawn.generationTimeMs,
      ...(drawn.expandedPrompt === undefined ? {} : { expanded_prompt: drawn.expandedPrompt }),
      images,
    });
    return;
  }
  if (drawn.expandedPrompt !== undefined) output.note(`expanded to: ${drawn.expandedPrompt}`);
  for (const file of files) output.line(file);
  output.note(output.paint.dim(summaryOf(drawn)));
}

/** `fox.png`, and for a batch `fox-1.png`, `fox-2.png`, ... */
function fileNameFor(picture: DrawnPicture, drawn: DrawnPictures, wanted: string | undefined): string {
  const extension = picture.format === "jpeg" ? ".jpg" : `.${picture.format}`;
  if (wanted === undefined) return `easel-${drawn.seedUsed + picture.index}${extension}`;
  if (drawn.images.length === 1) return wanted;
  const ending = extname(wanted);
  return join(dirname(wanted), `${basename(wanted, ending)}-${picture.index + 1}${ending || extension}`);
}

async function writeAtomically(path: string, bytes: Uint8Array): Promise<void> {
  const partial = `${path}.part-${process.pid}`;
  try {
    await writeFile(partial, bytes);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw new CommandError("failed", `cannot write ${path}: ${(error as Error).message}`, {
      remedy: "Choose another place with -o.",
    });
  }
}

function writeAll(stream: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => stream.write(bytes, (error) => (error ? reject(error) : resolve())));
}
