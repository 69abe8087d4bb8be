export interface ServerEvent {
  readonly name: string;
  readonly data: unknown;
}

/** Server-sent events out of a fetch response (EventSource can neither POST nor send a key). */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parts: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parts.push(value);
      // A picture comes as one long line in many pieces: join only when an event has ended.
      if (!value.includes("\n")) continue;
      const blocks = parts.join("").split("\n\n");
      parts.length = 0;
      parts.push(blocks.pop()!);
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  return data === "" ? undefined : { name, data: JSON.parse(data) as unknown };
}
