// Bytes straight onto a socket, for requests no HTTP client would send.
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** All bytes received, as text. */
  readonly all: string;
}

const GIVE_UP_MS = 15_000;

/** Sends, reads until one answer is complete or the server closes, and parses it. */
export function rawRequest(port: number, content: string | Buffer, giveUpMs = GIVE_UP_MS): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1");
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      if (received === "") reject(new Error("The server closed the connection without an answer"));
      else resolve(parseAnswer(received));
    };
    const timer = setTimeout(finish, giveUpMs);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (isComplete(received)) finish();
    });
    socket.on("close", finish);
    // A reset after the answer is what a server does that was sent megabytes it refused.
    socket.on("error", () => undefined);
    socket.write(content);
  });
}

function isComplete(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /content-length: (\d+)/i.exec(received.slice(0, end))?.[1];
  return length !== undefined && received.length >= end + 4 + Number(length);
}

function parseAnswer(received: string): RawAnswer {
  const end = received.indexOf("\r\n\r\n");
  const [first = "", ...lines] = received.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return {
    status: Number(first.split(" ")[1]),
    headers,
    body: Buffer.from(received.slice(end + 4), "latin1").toString(),
    all: received,
  };
}
