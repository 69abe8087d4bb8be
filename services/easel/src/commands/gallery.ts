import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, choice, defineCommand, formatBytes, integer, pictureProtocols, text } from "@kit/command-line";
import type { EaselClient } from "../client/easel-client.js";
import { withClient } from "../client/open-client.js";
import type { GalleryImage, GalleryPage } from "../contract/gallery.js";
import { MAX_GALLERY_PAGE } from "../contract/limits.js";
import { showPicture } from "../terminal/show-picture.js";
import { connectionSettings } from "./connection-settings.js";

const nameArgument = { name: "name", doc: "name of the picture, as 'gallery list' shows it" } as const;

const listCommand = defineCommand({
  name: "list",
  summary: "list saved pictures, newest first",
  settings: {
    limit: integer({ flag: "--limit <number>", doc: "how many", default: 20, min: 1, max: MAX_GALLERY_PAGE }),
    offset: integer({ flag: "--offset <number>", doc: "how many to skip", default: 0, min: 0 }),
    ...connectionSettings,
  },
  run: async (context) =>
    withClient(context, async (client) => {
      const page = await client.listGallery({ limit: context.settings.limit, offset: context.settings.offset });
      refuseClosedGallery(page);
      context.output.table<GalleryImage>(
        [
          { title: "NAME", value: (image) => image.name },
          { title: "MADE", value: (image) => image.created_at.slice(0, 16).replace("T", " ") },
          { title: "SIZE", value: (image) => `${image.width}x${image.height}` },
          { title: "BYTES", value: (image) => formatBytes(image.size_bytes), align: "right" },
          { title: "MODEL", value: (image) => image.metadata?.model },
          { title: "SEED", value: (image) => image.metadata?.seed, align: "right" },
          { title: "PROMPT", value: (image) => image.metadata?.prompt, flexible: true },
        ],
        page.images,
        page,
      );
      const shown = context.settings.offset + page.images.length;
      if (context.output.mode === "table" && shown < page.total)
        context.output.note(`${page.total - shown} more: --offset ${shown}`);
    }),
});

const showCommand = defineCommand({
  name: "show",
  summary: "show a picture in the terminal, with how it was made",
  arguments: [nameArgument],
  settings: {
    show: choice({
      flag: "--show <how>",
      env: "EASEL_SHOW",
      key: "run.show",
      doc: "how to show it",
      default: "auto",
      choices: ["auto", ...pictureProtocols],
    }),
    output: text({ flag: "-o, --output <file>", doc: "also save it here", default: undefined }),
    ...connectionSettings,
  },
  run: async (context) =>
    withClient(context, async (client) => {
      const image = await findImage(client, context.args.name);
      const bytes = await client.fetchImage(image.name);
      if (context.settings.output !== undefined) await writeFile(context.settings.output, bytes);
      if (context.output.mode === "table") await showPicture(bytes, context.terminal, context.settings.show);
      const facts = Object.entries(image.metadata ?? {}).map(([name, value]) => [name, value] as const);
      context.output.fields([["name", image.name], ["made", image.created_at], ...facts], image);
    }),
});

const openCommand = defineCommand({
  name: "open",
  summary: "open a picture with the desktop's viewer (needs the server on this machine)",
  arguments: [nameArgument],
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const page = await client.listGallery({ limit: 1, offset: 0 });
      refuseClosedGallery(page);
      const image = await findImage(client, context.args.name);
      const path = join(page.directory ?? "", image.name);
      await openWithDesktop(path);
      context.output.line(path);
    }),
});

const removeCommand = defineCommand({
  name: "rm",
  summary: "delete saved pictures",
  arguments: [{ name: "names", doc: "names of pictures", variadic: true }],
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      for (const name of context.args.names) await client.deleteImage(name);
      if (context.output.mode === "json") context.output.json({ deleted: context.args.names });
      else context.output.line(`deleted ${context.args.names.join(", ")}`);
    }),
});

function refuseClosedGallery(page: GalleryPage): void {
  if (!page.enabled) throw new CommandError("failed", `the gallery is off: ${page.reason}`);
}

async function findImage(client: EaselClient, name: string): Promise<GalleryImage> {
  for (let offset = 0; ; offset += MAX_GALLERY_PAGE) {
    const page = await client.listGallery({ limit: MAX_GALLERY_PAGE, offset });
    refuseClosedGallery(page);
    const found = page.images.find((image) => image.name === name);
    if (found) return found;
    if (offset + page.images.length >= page.total) break;
  }
  throw new CommandError("notFound", `no picture '${name}' in the gallery`, { remedy: "Run 'easel gallery list'." });
}

function openWithDesktop(path: string): Promise<void> {
  const opener = process.platform === "darwin" ? "open" : "xdg-open";
  return new Promise((resolve, reject) => {
    const child = spawn(opener, [path], { stdio: "ignore", detached: true });
    child.once("error", () =>
      reject(
        new CommandError("failed", `cannot open ${path}: ${opener} is not installed`, {
          remedy: `Use 'easel gallery show'.`,
        }),
      ),
    );
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}

export const galleryCommand = defineCommand({
  name: "gallery",
  summary: "list, show, open and delete saved pictures",
  subcommands: [listCommand, showCommand, openCommand, removeCommand],
});
