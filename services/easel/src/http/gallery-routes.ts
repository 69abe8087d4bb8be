import { bytes, file, type ImplementedRoute, implement } from "@kit/http-kernel";
import { DEFAULT_GALLERY_PAGE } from "../contract/limits.js";
import { routes } from "../contract/routes.js";
import type { EaselParts } from "./easel-parts.js";

export function galleryRoutes({ gallery }: EaselParts): ImplementedRoute[] {
  return [
    implement(routes.listGallery, ({ query: { limit = DEFAULT_GALLERY_PAGE, offset = 0 } }) =>
      gallery.list({ limit, offset }),
    ),
    implement(routes.getImage, async ({ params }) => {
      const { directory, name } = await gallery.find(params.name);
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
