// Parses `text/event-stream`. Written here because the browser's EventSource cannot POST and Node 20 has none.

export interface RawEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

export async function* readEvents(response: Response): AsyncGenerator<RawEvent, void, undefined> {
  let event = "message";
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of readLines(response)) {
    if (line === "") {
      if (data.length > 0) yield { event, data: data.join("\n"), id };
      [event, data] = ["message", []];
      continue;
    }
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
}

/** Pieces of a line are joined once, at its end: a line may be a picture of megabytes. */
async function* readLines(response: Response): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  let pieces: string[] = [];
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      let start = 0;
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        pieces.push(text.slice(start, end));
        const line = pieces.join("");
        yield line.endsWith("\r") ? line.slice(0, -1) : line;
        pieces = [];
        start = end + 1;
      }
      pieces.push(text.slice(start));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
