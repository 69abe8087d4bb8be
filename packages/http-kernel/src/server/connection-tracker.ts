// Which connections have an answer under way. Node's own notion of "idle" leaves out connections that have not sent a
// request yet, and a shutdown would wait for those until its deadline.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

export class ConnectionTracker {
  readonly #sockets = new Set<Socket>();
  readonly #answers = new Set<ServerResponse>();
  readonly #answered: (this: ServerResponse) => void;

  constructor() {
    const answers = this.#answers;
    this.#answered = function answered() {
      answers.delete(this);
    };
  }

  opened(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  answering(response: ServerResponse): void {
    this.#answers.add(response);
    response.on("close", this.#answered);
  }

  closeIdle(): void {
    const busy = new Set<Socket | null>();
    for (const response of this.#answers) busy.add(response.req.socket);
    for (const socket of this.#sockets) {
      if (!busy.has(socket)) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
