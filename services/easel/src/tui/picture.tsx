import { Box, Text } from "ink";
import { useEffect, useState } from "react";
import { renderPicture } from "../terminal/show-picture.js";

interface Props {
  /** encoded picture; the same bytes are drawn once */
  readonly bytes: Uint8Array | undefined;
  readonly columns: number;
  readonly rows: number;
}

/**
 * A picture made of half-block characters. Graphics protocols are not used here: the UI redraws lines of text, and pictures
 * that the terminal keeps on its own layer would stay behind.
 */
export function Picture({ bytes, columns, rows }: Props) {
  const [drawn, setDrawn] = useState("");
  useEffect(() => {
    let current = true;
    if (!bytes || columns < 2 || rows < 1) setDrawn("");
    else {
      renderPicture(bytes, "half-blocks", { columns, rows }).then(
        (text) => current && setDrawn(text),
        () => current && setDrawn(""),
      );
    }
    return () => {
      current = false;
    };
  }, [bytes, columns, rows]);
  return (
    <Box width={columns} height={rows} overflow="hidden">
      <Text>{drawn}</Text>
    </Box>
  );
}
