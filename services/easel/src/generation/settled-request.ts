/** A generate request in which nothing is left to decide: what the queue holds and the worker draws. */
import type { OutputFormat } from "../contract/generate.js";

export interface SettledRequest {
  /** canonical name; the files are looked up again when it runs */
  readonly model: string;
  readonly prompt: string;
  readonly negativePrompt: string;
  readonly width: number;
  readonly height: number;
  readonly steps: number;
  readonly guidance: number;
  readonly seed: number;
  readonly batch: number;
  readonly image?: SettledImage;
  readonly mask?: SettledImage;
  readonly strength?: number;
  readonly adapter?: SettledAdapter;
  readonly expand: boolean;
  readonly outputFormat: OutputFormat;
  readonly preview: boolean;
  /** the job goes on when its client leaves */
  readonly detached: boolean;
  /** what the client should know before anything was drawn */
  readonly warnings: readonly string[];
}

/** An input decoded and resized: three bytes a pixel for an image, one for a mask. */
export interface SettledImage {
  readonly bytes: Uint8Array;
  /** of the file as it was sent */
  readonly sha256: string;
}

export interface SettledAdapter {
  /** as the client named it */
  readonly asked: string;
  /** real path */
  readonly path: string;
  readonly scale: number;
}

/** Denoising steps of one image: with an input image only the last part of the schedule runs. */
export function stepsToRun({
  steps,
  image,
  strength = 1,
}: Pick<SettledRequest, "steps" | "image" | "strength">): number {
  if (!image) return steps;
  return strength > 0 ? Math.max(1, Math.floor(steps * strength)) : 0;
}

/** How a durable queue writes requests down. */
export const settledRequestCodec = {
  encode: (request: SettledRequest): unknown => ({
    ...request,
    ...(request.image && { image: encodeImage(request.image) }),
    ...(request.mask && { mask: encodeImage(request.mask) }),
  }),
  decode: (json: unknown): SettledRequest => {
    const request = json as SettledRequest & { image?: StoredImage; mask?: StoredImage };
    if (typeof request?.prompt !== "string" || typeof request.model !== "string") throw new Error("it is no request");
    const { image, mask, ...rest } = request;
    return {
      ...(rest as SettledRequest),
      ...(image && { image: decodeImage(image) }),
      ...(mask && { mask: decodeImage(mask) }),
    };
  },
};

type StoredImage = { readonly base64: string; readonly sha256: string } & SettledImage;
const encodeImage = ({ bytes, sha256 }: SettledImage) => ({ base64: Buffer.from(bytes).toString("base64"), sha256 });
const decodeImage = ({ base64, sha256 }: StoredImage) => ({ bytes: Buffer.from(base64, "base64"), sha256 });
