// Which connections have an answer under way. Node's own notion of "idle" leaves out connections that have not sent a
// request yet, and a shutdown would wait for those until its deadline.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Node keeps the answer under way on its socket. Looking there costs a request nothing, unlike counting ourselves. */
export interface AnsweringSocket {
  readonly _httpMessage?: ServerResponse | null;
}

export class ConnectionTracker {
  readonly #sockets = new Set<Socket>();

  opened(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  closeIdle(): void {
    for (const socket of this.#sockets) {
      if (((socket as AnsweringSocket)._httpMessage ?? null) === null) socket.destroy();
    }
  }

  closeAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
