import { Box, Text } from "ink";
import { useEffect, useState } from "react";
import type { EaselClient } from "../client/easel-client.js";
import type { GalleryImage } from "../contract/gallery.js";
import { Confirm } from "./confirm.js";
import { type FormState, formOf } from "./form-state.js";
import { clampIndex, listWindow } from "./list-window.js";
import { Picture } from "./picture.js";
import { TextField } from "./text-field.js";
import { useKeys } from "./use-keys.js";
import { usePolled } from "./use-polled.js";
import type { Screen } from "./use-screen.js";

const GALLERY_EVERY_MS = 5_000;
const SHOWN_AT_MOST = 500;
/** A thumbnail in characters: 16 columns are 16 pixels wide, 8 rows 16 pixels high. */
const TILE = { columns: 18, rows: 9 };

interface Props {
  readonly client: EaselClient;
  readonly screen: Screen;
  readonly onUse: (form: FormState) => void;
}

export function GalleryView({ client, screen, onUse }: Props) {
  const page = usePolled(() => client.listGallery({ limit: SHOWN_AT_MOST, offset: 0 }), GALLERY_EVERY_MS);
  const [selected, setSelected] = useState(0);
  const [opened, setOpened] = useState(false);
  const [deleting, setDeleting] = useState<GalleryImage>();
  const [filter, setFilter] = useState("");
  const images = (page.value?.images ?? []).filter((image) => matches(image, filter));
  const at = clampIndex(selected, images.length);
  const image = images[at];
  const perRow = Math.max(1, Math.floor(screen.columns / TILE.columns));
  const move = (by: number): void => setSelected((now) => clampIndex(now + by, images.length));
  const { editing, startEditing } = useKeys({
    scope: "gallery",
    active: deleting === undefined,
    onEdit: setFilter,
    actions: {
      left: () => move(-1),
      right: () => move(1),
      up: () => move(opened ? -1 : -perRow),
      down: () => move(opened ? 1 : perRow),
      open: () => setOpened(image !== undefined),
      close: () => (opened ? setOpened(false) : setFilter("")),
      use: () => image?.metadata && onUse(formOf(image.metadata)),
      delete: () => setDeleting(image),
      filter: () => startEditing(filter),
    },
  });
  if (page.value && !page.value.enabled) return <Text color="yellow">The gallery is off: {page.value.reason}</Text>;
  if (!page.value) return <Text dimColor>{page.error ?? "loading ..."}</Text>;
  return (
    <Box flexDirection="column" flexGrow={1}>
      {deleting ? (
        <Confirm
          question={`Delete ${deleting.name}?`}
          onAnswer={(yes) => {
            setDeleting(undefined);
            if (yes) client.deleteImage(deleting.name).then(page.refresh, page.refresh);
          }}
        />
      ) : null}
      {editing || filter !== "" ? (
        <Text>
          / <TextField field={editing ?? { text: filter, cursor: 0 }} editing={editing !== undefined} placeholder="" />
        </Text>
      ) : null}
      {images.length === 0 ? (
        <Text dimColor>{filter === "" ? "No pictures yet. What you draw is kept here." : "No picture matches."}</Text>
      ) : null}
      {image && opened ? <Opened client={client} image={image} screen={screen} /> : null}
      {image && !opened ? (
        <Tiles client={client} images={images} at={at} perRow={perRow} room={Math.max(TILE.rows, screen.rows - 7)} />
      ) : null}
      {image && !opened ? (
        <Text dimColor wrap="truncate">
          {at + 1} of {images.length} {image.name} {image.metadata?.prompt ?? ""}
        </Text>
      ) : null}
    </Box>
  );
}

const matches = (image: GalleryImage, filter: string): boolean =>
  filter === "" ||
  `${image.name} ${image.metadata?.prompt ?? ""} ${image.metadata?.model ?? ""}`
    .toLowerCase()
    .includes(filter.toLowerCase());

interface TilesProps {
  readonly client: EaselClient;
  readonly images: readonly GalleryImage[];
  readonly at: number;
  readonly perRow: number;
  readonly room: number;
}

function Tiles({ client, images, at, perRow, room }: TilesProps) {
  const lines = Math.ceil(images.length / perRow);
  const { start, end } = listWindow(lines, Math.floor(at / perRow), Math.max(1, Math.floor(room / TILE.rows)));
  return (
    <Box flexWrap="wrap">
      {images.slice(start * perRow, end * perRow).map((image, i) => {
        const chosen = start * perRow + i === at;
        return (
          <Box
            key={image.name}
            width={TILE.columns}
            height={TILE.rows}
            borderStyle={chosen ? "bold" : "single"}
            borderColor={chosen ? "cyan" : "gray"}
          >
            <RemotePicture
              fetch={() => client.fetchThumbnail(image.name)}
              id={image.name}
              columns={TILE.columns - 2}
              rows={TILE.rows - 2}
            />
          </Box>
        );
      })}
    </Box>
  );
}

function Opened({ client, image, screen }: { client: EaselClient; image: GalleryImage; screen: Screen }) {
  const columns = Math.max(10, Math.floor(screen.columns * 0.6));
  const facts = Object.entries(image.metadata ?? { note: "This file carries no settings." });
  return (
    <Box>
      <RemotePicture
        fetch={() => client.fetchImage(image.name)}
        id={image.name}
        columns={columns}
        rows={Math.max(4, screen.rows - 7)}
      />
      <Box flexDirection="column" paddingLeft={1} flexGrow={1}>
        <Text bold wrap="truncate">
          {image.name}
        </Text>
        {facts.map(([name, value]) => (
          <Text key={name}>
            <Text dimColor>{name}:</Text> {String(value)}
          </Text>
        ))}
      </Box>
    </Box>
  );
}

/** Fetched once per picture, not at each redraw. */
function RemotePicture({
  fetch,
  id,
  columns,
  rows,
}: {
  fetch: () => Promise<Uint8Array>;
  id: string;
  columns: number;
  rows: number;
}) {
  const [bytes, setBytes] = useState<Uint8Array>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id stands for the picture, `fetch` is a new function each time
  useEffect(() => {
    let current = true;
    setBytes(undefined);
    fetch().then(
      (answer) => current && setBytes(answer),
      () => {},
    );
    return () => {
      current = false;
    };
  }, [id]);
  return <Picture bytes={bytes} columns={columns} rows={rows} />;
}
