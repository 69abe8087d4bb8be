import type { InputImage } from "../picture-settings.js";

const ACCEPTED = ["image/png", "image/jpeg", "image/webp"];
/** The server takes bodies of 64 MiB; base64 makes a file a third larger. */
const MAX_FILE_BYTES = 45 * 2 ** 20;

export const acceptedTypes = ACCEPTED.join(",");

/** Reads and measures a dropped, pasted or chosen picture; the message of a refusal is shown as it is. */
export async function readInputImage(file: File): Promise<InputImage> {
  if (!ACCEPTED.includes(file.type)) throw new Error(`${file.name} is no PNG, JPEG or WebP picture.`);
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than 45 MiB.`);
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
  const picture = new Image();
  picture.src = dataUrl;
  await picture.decode().catch(() => {
    throw new Error(`${file.name} cannot be decoded.`);
  });
  return { dataUrl, width: picture.naturalWidth, height: picture.naturalHeight, name: file.name };
}

/** The first picture in a drop or a paste. */
export function pictureIn(transfer: DataTransfer | null): File | undefined {
  return [...(transfer?.files ?? [])].find((file) => file.type.startsWith("image/"));
}
