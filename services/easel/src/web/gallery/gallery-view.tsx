import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { GalleryImage, GalleryPage } from "../../contract/gallery.js";
import { listGallery } from "../api.js";
import { ApiImage } from "../api-image.jsx";
import type { PictureSettings } from "../picture-settings.js";
import { go } from "../use-route.js";
import { PictureDrawer } from "./picture-drawer.jsx";

const PAGE = 60;

interface Props {
  readonly opened: string | undefined;
  /** grows when this page has drawn a picture */
  readonly finished: number;
  readonly settings: PictureSettings;
  readonly onUse: (part: Partial<PictureSettings>) => void;
}

export function GalleryView({ opened, finished, settings, onUse }: Props) {
  const [page, setPage] = useState<GalleryPage>();
  const [images, setImages] = useState<readonly GalleryImage[]>([]);
  const [problem, setProblem] = useState<string>();
  const end = useRef<HTMLDivElement>(null);
  const loading = useRef(false);

  const load = useCallback(async (offset: number): Promise<void> => {
    if (loading.current) return;
    loading.current = true;
    try {
      const answer = await listGallery(offset, PAGE);
      setPage(answer);
      setImages((before) => (offset === 0 ? answer.images : [...before, ...answer.images]));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
    loading.current = false;
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a newly drawn picture is the reason to load again
  useEffect(() => {
    void load(0);
  }, [finished, load]);

  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting && page && images.length < page.total) void load(images.length);
    });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, [images.length, page, load]);

  const index = images.findIndex((image) => image.name === opened);
  const show = (at: number): void => {
    const target = images[at];
    if (target) go("gallery", target.name);
  };
  return (
    <section class="page" aria-label="Gallery">
      <h1>Gallery</h1>
      {problem ? (
        <p class="problem" role="alert">
          {problem}
        </p>
      ) : null}
      {page && !page.enabled ? <p class="soft">The gallery is off: {page.reason}</p> : null}
      {page?.enabled && page.total === 0 ? <p class="soft">No pictures yet. What you draw is kept here.</p> : null}
      <div class="thumbs">
        {images.map((image) => (
          <a
            key={image.name}
            href={`#gallery/${encodeURIComponent(image.name)}`}
            title={image.metadata?.prompt ?? image.name}
          >
            <ApiImage
              path={`/api/gallery/${encodeURIComponent(image.name)}/thumbnail`}
              alt={image.metadata?.prompt ?? image.name}
            />
          </a>
        ))}
      </div>
      <div ref={end} />
      {index >= 0 ? (
        <PictureDrawer
          image={images[index]!}
          settings={settings}
          onUse={onUse}
          onPrevious={() => show(index - 1)}
          onNext={() => show(index + 1)}
          onClose={() => go("gallery")}
          onDeleted={() => {
            go("gallery");
            void load(0);
          }}
        />
      ) : null}
    </section>
  );
}
