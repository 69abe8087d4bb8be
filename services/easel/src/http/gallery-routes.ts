import { bytes, file, type ImplementedRoute, implement } from "@kit/http-kernel";
import { DEFAULT_GALLERY_PAGE } from "../contract/limits.js";
import { routes } from "../contract/routes.js";
import type { EaselParts } from "./easel-parts.js";

export function galleryRoutes({ gallery }: EaselParts): ImplementedRoute[] {
  return [
    implement(routes.listGallery, ({ query: { limit = DEFAULT_GALLERY_PAGE, offset = 0 } }) =>
      gallery.list({ limit, offset }),
    ),
    implement(routes.getImage, async ({ params, rawHeaders }) => {
      const { directory, name, version } = await gallery.find(params.name);
      // The file sender ignores If-None-Match beside Cache-Control: no-cache, which fetch adds by itself.
      if (knows(rawHeaders["if-none-match"], version)) {
        return bytes(Buffer.alloc(0), { status: 304, contentType: "", headers: { etag: `W/"${version}"` } });
      }
      return file(directory, name);
    }),
    implement(routes.getThumbnail, async ({ params }) => {
      const thumbnail = await gallery.thumbnail(params.name);
      return bytes(thumbnail.bytes, { contentType: "image/webp", etag: thumbnail.etag });
    }),
    implement(routes.deleteImage, async ({ params }) => {
      await gallery.remove(params.name);
      return { deleted: params.name };
    }),
  ];
}

/** The tag the file sender gives: size and time of the file. */
const knows = (ifNoneMatch: string | undefined, version: string) => ifNoneMatch?.includes(`"${version}"`) ?? false;
