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
import { type BodyReader, createBodyReader } from "./body_reader.ts";
import { createCertificateReader } from "./certificate_reader.ts";
import { type ConnectionLimits, createOpenConnections } from "./open_connections.ts";
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

/** Where to listen, and the timeouts. */
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
