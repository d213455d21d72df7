/**
 * Serves an app over TLS, with a certificate that can be replaced while requests are in flight.
 *
 * `Deno.serve` can't do that; `node:https` uses the new certificate for new connections and leaves open
 * ones alone.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import type { Socket } from "node:net";
import { listenAt } from "../program_server.ts";
import { createCertificateReader, type KeyedCertificate } from "./certificates.ts";
import type { PostApp } from "./admission_routes.ts";

/** A server that listens. */
export interface WebhookServer {
  /** `host:port` as bound; the port that was free when 0 was asked for. */
  readonly address: string;
  /** Uses the certificate for new connections. Throws as `serveWebhook` does. */
  useCertificate(pair: KeyedCertificate): void;
  /** Takes no new connections and resolves when requests in flight are answered, or after `graceMs`. */
  shutdown(): Promise<void>;
}

const MIB = 1024 * 1024;

/** Interval at which connections are checked for timeouts, ms. */
const CHECK_MS = 5000;

/** Limits of a server; times in ms, sizes in bytes. */
const LIMITS = {
  /** Time for requests in flight at shutdown. */
  graceMs: 5000,
  /** Time for the handshake, and for a request's headers. */
  openingMs: 5000,
  /** Time for a request with its body. */
  requestMs: 10_000,
  /**
   * Time between two requests, and for an answer that is not read. An API server closes idle connections
   * after 90 s (Go's `http.DefaultTransport`). If the webhook closed them first, a request could meet a
   * closed connection.
   */
  idleMs: 120_000,
  /** Connections at the same time; more are closed at once. */
  maxConnections: 1000,
  /** Longest body that is read; the app may refuse shorter ones. */
  maxBytes: 4 * MIB,
  /**
   * Bytes of all bodies in flight; a request beyond them gets 503. Reviews have some ten kilobytes, and the
   * program must survive any client that fills its port.
   */
  maxBytesInFlight: 64 * MIB,
};

/** The address, and limits other than the default ones. */
export interface ServeWebhookOptions extends Partial<Readonly<typeof LIMITS>> {
  /** `host:port`; `:port` listens on all addresses, port 0 takes a free one. */
  readonly address: string;
  readonly certificate: KeyedCertificate;
}

/**
 * Resolves when it listens. Throws a `TypeError` without key material for a certificate and a key that
 * can't be used, a `SyntaxError` for a bad address, and an `Error` that names the address when it can't
 * be bound. An app that throws answers 500 without the error's text.
 */
export async function serveWebhook(
  app: PostApp,
  options: ServeWebhookOptions,
): Promise<WebhookServer> {
  const { address, certificate } = options;
  const { graceMs, openingMs, requestMs, idleMs, maxConnections, ...bodyLimits } = {
    ...LIMITS,
    ...options,
  };
  const bodies = createBodyReader(bodyLimits);
  let closing = false;
  const server = createServer({
    ...tlsOptions(certificate),
    // An API server's headers have some hundred bytes.
    maxHeaderSize: 16_384,
    handshakeTimeout: openingMs,
    headersTimeout: openingMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, openingMs, requestMs),
  });
  server.maxConnections = maxConnections;
  server.timeout = idleMs;
  // Connections without TLS or HTTP are closed silently.
  server.on("clientError", (_error: Error, socket: Socket) => void socket.destroy());
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (closing) response.setHeader("connection", "close");
    void answer(app, { request, response, bodies });
  });

  const bound = await listenAt(server, address);
  return {
    address: bound,
    useCertificate: (pair) => server.setSecureContext(tlsOptions(pair)),
    async shutdown() {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * TLS options for a pair. Reads the pair first, as Deno accepts the key of another certificate, with which
 * every handshake fails.
 */
function tlsOptions({ cert, key }: KeyedCertificate): ServerOptions {
  createCertificateReader().readPair({ cert, key });
  // API servers of all supported versions speak TLS 1.2.
  return { cert, key, minVersion: "TLSv1.2" };
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
  try {
    using body = await bodies.read(request);
    if ("refusal" in body) {
      // The rest of this request would look like the next one.
      response.setHeader("connection", "close");
      response.writeHead(body.status, { "content-type": "text/plain" });
      response.end(`${body.refusal}\n`);
      return;
    }
    const { method = "GET", url: target = "/" } = request;
    const { bytes } = body;
    const { status, type = "text/plain", text } = await app.answer({ method, target, body: bytes });
    const length = Buffer.byteLength(text);
    response.writeHead(status, { "content-type": type, "content-length": length });
    response.end(text);
  } catch {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
    response.end("internal error\n");
  }
}

/** A body, or the status and the reason of a refusal. It counts as in flight until it is disposed of. */
export type ReadBody =
  & Disposable
  & ({ readonly bytes: Uint8Array } | { readonly status: 400 | 503; readonly refusal: string });

/** Reads bodies. */
export interface BodyReader {
  /** Reads a body to its end. Rejects when the connection breaks. */
  read(chunks: AsyncIterable<Uint8Array>): Promise<ReadBody>;
}

/** A reader with these bounds, bytes. */
export function createBodyReader(
  { maxBytes, maxBytesInFlight }: {
    readonly maxBytes: number;
    readonly maxBytesInFlight: number;
  },
): BodyReader {
  let bytesInFlight = 0;
  return {
    async read(chunks) {
      let bytes = 0;
      using reading = new DisposableStack();
      reading.defer(() => bytesInFlight -= bytes);
      const parts: Uint8Array[] = [];
      const refused = (status: 400 | 503, why: string): ReadBody => {
        return { status, refusal: `Cannot read the request: ${why}`, [Symbol.dispose]: () => {} };
      };
      for await (const chunk of chunks) {
        bytes += chunk.length;
        bytesInFlight += chunk.length;
        if (bytes > maxBytes) return refused(400, `it has more than ${maxBytes} bytes`);
        if (bytesInFlight > maxBytesInFlight) return refused(503, "too many are in work");
        parts.push(chunk);
      }
      const whole = reading.move();
      return { bytes: Buffer.concat(parts), [Symbol.dispose]: () => whole.dispose() };
    },
  };
}
