/**
 * The connections of a server: how many there are, and how long each may keep it waiting.
 *
 * @module
 */
import type { Socket } from "node:net";

/** How long, and how many. */
export interface ConnectionLimits {
  /**
   * Time for the handshake and the first request's headers, ms.
   *
   * @default {10000}
   */
  readonly openingMs: number;
  /**
   * Time for a request's body and its answer, ms.
   *
   * @default {10000}
   */
  readonly requestMs: number;
  /**
   * Time between two requests, ms. An API server lets idle connections go after 90 s (Go's
   * `http.DefaultTransport`): it should be the first to do so, or a request may meet a closed door.
   *
   * @default {120000}
   */
  readonly idleMs: number;
  /**
   * Connections at the same time; more are closed at once. Each API server has one or a few.
   *
   * @default {1000}
   */
  readonly mostConnections: number;
}

/** Keeps count of them. */
export interface OpenConnections {
  /** True once `close` was called. */
  readonly closing: boolean;
  /** Takes a new connection. */
  opened(socket: Socket): void;
  /** Notes that a request begins on it; the returned function notes its end. */
  asked(socket: Socket): () => void;
  /** Ends idle connections at once and the others after their answer, or after this time, ms. */
  close(graceMs: number): Promise<void>;
}

interface Connection {
  readonly socket: Socket;
  /** With TLS, once the first request has come over it. */
  spoken: Socket | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  asking: boolean;
}

/** No connections yet. */
export function createOpenConnections(limits: Partial<ConnectionLimits> = {}): OpenConnections {
  const { openingMs = 10_000, requestMs = 10_000, idleMs = 120_000, mostConnections = 1000 } =
    limits;
  const open = new Map<string, Connection>();
  let closing = false;
  let onEmpty = (): void => {};

  function wait(connection: Connection, ms: number): void {
    clearTimeout(connection.timer);
    connection.timer = setTimeout(() => connection.socket.destroy(), ms);
  }

  return {
    get closing() {
      return closing;
    },
    opened(socket) {
      if (closing || open.size >= mostConnections) return void socket.destroy();
      // A connection with TLS has another socket: only the remote address identifies it.
      const peer = peerOf(socket);
      const connection: Connection = {
        socket,
        spoken: undefined,
        timer: undefined,
        asking: false,
      };
      open.set(peer, connection);
      wait(connection, openingMs);
      socket.once("close", () => {
        clearTimeout(connection.timer);
        open.delete(peer);
        if (open.size === 0) onEmpty();
      });
    },
    asked(socket) {
      const connection = open.get(peerOf(socket));
      if (connection === undefined) return () => {};
      connection.asking = true;
      connection.spoken = socket;
      wait(connection, requestMs);
      return () => {
        connection.asking = false;
        if (connection.socket.destroyed) return;
        if (closing) connection.spoken?.end();
        wait(connection, closing ? 1000 : idleMs);
      };
    },
    async close(graceMs) {
      closing = true;
      const empty = new Promise<void>((resolve) => onEmpty = resolve);
      for (const connection of open.values()) {
        if (!connection.asking) connection.socket.destroy();
      }
      if (open.size === 0) return;
      const timer = setTimeout(() => {
        for (const { socket } of open.values()) socket.destroy();
      }, graceMs);
      await empty;
      clearTimeout(timer);
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
