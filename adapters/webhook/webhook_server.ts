/**
 * Serves an app over TLS, with a certificate that can be replaced while requests are under way.
 *
 * `Deno.serve` can't do that; `node:https` takes new connections with the new certificate and leaves
 * those that are open alone.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { formatAddress, parseAddress } from "../program_server.ts";
import { createCertificateReader } from "./certificates.ts";
import type { PostApp } from "./admission_routes.ts";

/** A certificate with its key, both PEM. */
export interface ServingPair {
  /** The certificate, and those between it and the authority. */
  readonly cert: string;
  readonly key: string;
}

/** A server that listens. */
export interface WebhookServer {
  /** `host:port` as bound; the port that was free when 0 was asked for. */
  readonly address: string;
  /** Takes another certificate for the connections to come. Throws as `serveWebhook` does. */
  useCertificate(pair: ServingPair): void;
  /** Takes no new connections and resolves when the answers in work are out, or were given up. */
  shutdown(): Promise<void>;
}

/** The address and the timeouts. */
export interface ServeWebhookOptions extends Partial<ConnectionLimits> {
  /** `host:port`; `:port` listens on all addresses, port 0 takes a free one. */
  readonly address: string;
  readonly certificate: ServingPair;
  /**
   * Time for answers in work at the end, ms.
   *
   * @default {5000}
   */
  readonly graceMs?: number;
  /**
   * Longest body that is read, bytes; the app may refuse shorter ones, with an answer.
   *
   * @default {4194304}
   */
  readonly mostBytes?: number;
  /**
   * Bytes of all bodies that are in work at the same time; a request beyond them gets 503. Reviews have
   * some ten kilobytes, and the program must survive any client that fills its port.
   *
   * @default {67108864}
   */
  readonly mostBytesInWork?: number;
}

/** TLS 1.2 is what API servers of all supported versions speak; those before it are broken. */
const LEAST_VERSION = "TLSv1.2";

/** An API server's headers have some hundred bytes. */
const MOST_HEADER_BYTES = 16_384;

const MIB = 1024 * 1024;

/**
 * Resolves when it listens. Throws a `TypeError` without key material for a certificate and a key that
 * can't be used, a `SyntaxError` for a bad address, and an `Error` that names the address when it can't
 * be bound. An app that throws answers 500 without the error's text.
 */
export async function serveWebhook(
  app: PostApp,
  options: ServeWebhookOptions,
): Promise<WebhookServer> {
  const { address, certificate, graceMs = 5000, ...limits } = options;
  const { mostBytes = 4 * MIB, mostBytesInWork = 64 * MIB } = options;
  const { hostname, port } = parseAddress(address);
  const connections = createOpenConnections(limits);
  const bodies = createBodyReader({ mostBytes, mostBytesInWork });
  const server = createServer({ ...secured(certificate), maxHeaderSize: MOST_HEADER_BYTES });
  // Node's own timeouts are off: an API server reuses a connection after more than five seconds.
  server.keepAliveTimeout = server.headersTimeout = server.requestTimeout = 0;
  server.on("connection", connections.opened);
  // Connections without TLS or HTTP are closed silently.
  server.on("clientError", (_error: Error, socket: Socket) => void socket.destroy());
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const end = connections.asked(request.socket);
    if (connections.closing) response.setHeader("connection", "close");
    response.once("close", end);
    void answer(app, { request, response, bodies });
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) => {
      reject(new Error(`Cannot listen on ${address}: ${cause.message}`, { cause }));
    });
    server.listen(port, hostname, resolve);
  });
  // What comes later is about single connections, and none of them ends the program.
  server.on("error", () => {});
  const bound = server.address();
  if (bound === null || typeof bound === "string") {
    throw new Error(`Cannot listen on ${address}: there is no address`);
  }

  return {
    address: formatAddress({ hostname: bound.address, port: bound.port }),
    useCertificate: (pair) => server.setSecureContext(secured(pair)),
    async shutdown() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await connections.close(graceMs);
      await closed;
    },
  };
}

/**
 * The options that a pair makes. Deno takes a key that is that of another certificate, with which no
 * handshake ends well: so the pair is read first.
 */
function secured({ cert, key }: ServingPair): ServerOptions {
  createCertificateReader().readPair({ cert, key });
  return { cert, key, minVersion: LEAST_VERSION };
}

/** Answers one request. Never rejects: a client that has disconnected gets nothing. */
async function answer(
  app: PostApp,
  { request, response, bodies }: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly bodies: BodyReader;
  },
): Promise<void> {
  // Without a listener, a connection that breaks would end the program.
  request.on("error", () => {});
  response.on("error", () => {});
  let done = (): void => {};
  try {
    const body = await bodies.read(request);
    if ("refusal" in body) {
      // The rest of this request would look like the next one.
      response.setHeader("connection", "close");
      response.writeHead(body.status, { "content-type": "text/plain" });
      response.end(`${body.refusal}\n`);
      return;
    }
    done = body.done;
    const { method = "GET", url: target = "/" } = request;
    const { status, type = "text/plain", text } = await app.answer({
      method,
      target,
      body: body.bytes,
    });
    response.writeHead(status, {
      "content-type": type,
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  } catch {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
    response.end("internal error\n");
  } finally {
    done();
  }
}

/** A body; call `done` when it is no longer needed. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  done(): void;
}

/** Why a body is not read to its end, and the status for it. */
export interface BodyRefusal {
  readonly status: 400 | 503;
  readonly refusal: string;
}

/** Reads bodies. */
export interface BodyReader {
  /** The whole body, or why not. Rejects when it breaks off. */
  read(chunks: AsyncIterable<Uint8Array>): Promise<ReadBody | BodyRefusal>;
}

/** A reader with these bounds, bytes. */
export function createBodyReader(
  { mostBytes, mostBytesInWork }: {
    readonly mostBytes: number;
    readonly mostBytesInWork: number;
  },
): BodyReader {
  let inWork = 0;
  return {
    async read(chunks) {
      const kept: Uint8Array[] = [];
      let bytes = 0;
      let held = true;
      const done = (): void => {
        if (held) inWork -= bytes;
        held = false;
      };
      try {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          inWork += chunk.length;
          if (bytes > mostBytes) {
            done();
            const refusal = `Cannot read the request: it has more than ${mostBytes} bytes`;
            return { status: 400, refusal };
          }
          if (inWork > mostBytesInWork) {
            done();
            return { status: 503, refusal: "Cannot read the request: too many are in work" };
          }
          kept.push(chunk);
        }
        return { bytes: Buffer.concat(kept), done };
      } catch (error) {
        done();
        throw error;
      }
    },
  };
}

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
