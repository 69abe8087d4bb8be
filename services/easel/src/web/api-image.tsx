import { useEffect, useRef, useState } from "preact/hooks";
import { address, apiKey, call } from "./api.js";

interface Props {
  readonly path: string;
  readonly alt: string;
  readonly width?: number;
  readonly height?: number;
}

/** A picture of the API. With a key the browser cannot load it by address, so it is fetched, once it comes into view. */
export function ApiImage({ path, alt, width, height }: Props) {
  if (apiKey() === "")
    return <img src={address(path)} alt={alt} width={width} height={height} loading="lazy" decoding="async" />;
  return <FetchedImage path={path} alt={alt} {...(width ? { width } : {})} {...(height ? { height } : {})} />;
}

function FetchedImage({ path, alt, width, height }: Props) {
  const image = useRef<HTMLImageElement>(null);
  const [source, setSource] = useState<string>();
  useEffect(() => {
    let url: string | undefined;
    const stop = new AbortController();
    const observer = new IntersectionObserver(async ([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      try {
        const response = await call(path, { signal: stop.signal });
        url = URL.createObjectURL(await response.blob());
        setSource(url);
      } catch {
        // The alt text stays; the list around it reports a server that is away.
      }
    });
    observer.observe(image.current!);
    return () => {
      observer.disconnect();
      stop.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [path]);
  return <img ref={image} src={source} alt={alt} width={width} height={height} />;
}

/** A link target for a picture: a plain address, or with a key a blob made when it is clicked. */
export async function downloadImage(path: string, name: string): Promise<void> {
  const response = await call(path);
  saveBlob(await response.blob(), name);
}

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
