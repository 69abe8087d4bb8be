/** A real HTTP server that speaks the chat completions protocol, for tests: each request is answered by the next step of a script. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SeenRequest {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly model: string;
    readonly seed: number;
    readonly stream: boolean;
    readonly max_tokens: number;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
  /** set when the client hung up before the answer ended */
  aborted: boolean;
}

export type Step = (response: ServerResponse, seen: SeenRequest) => void | Promise<void>;

export interface ChatServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** The last step answers all further requests. */
export async function startChatServer(...steps: Step[]): Promise<ChatServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const record: SeenRequest = {
      url: request.url ?? "",
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
      aborted: false,
    };
    response.on("close", () => {
      record.aborted = !response.writableEnded;
    });
    const step = steps[Math.min(seen.length, steps.length - 1)]!;
    seen.push(record);
    await step(response, record);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

/** A whole answer. */
export const answer =
  (text: string | ((seen: SeenRequest) => string)): Step =>
  (response, seen) =>
    json(response, 200, {
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: typeof text === "string" ? text : text(seen) },
          finish_reason: "stop",
        },
      ],
    });

export const refuse =
  (status: number, message: string, headers: Record<string, string> = {}): Step =>
  (response) =>
    json(response, status, { error: { message } }, headers);

/** An answer in pieces, with thoughts in their own field as reasoning models send them; `end: false` breaks off. */
export const stream =
  (pieces: readonly string[], { end = true } = {}): Step =>
  async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`data: {"choices":[{"delta":{"role":"assistant","reasoning_content":"hm"}}]}\r\n\r\n`);
    for (const piece of pieces) {
      const event = `data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`;
      // In two writes, so that a line arrives torn.
      response.write(event.slice(0, 9));
      await new Promise((resolve) => setTimeout(resolve, 2));
      response.write(event.slice(9));
    }
    if (end) response.end("data: [DONE]\n\n");
    else response.destroy();
  };

/** More than anyone would read; stops when the client hangs up. */
export const flood: Step = async (response) => {
  const gone = once(response, "close");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: "very ".repeat(2000) } }] })}\n\n`;
  for (let sent = 0; sent < 64 * 2 ** 20 && !response.destroyed; sent += event.length) {
    if (!response.write(event)) await Promise.race([once(response, "drain"), gone]);
  }
  response.end();
};

/** Never answers. */
export const silence: Step = () => {};
