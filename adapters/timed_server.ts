/**
 * An HTTP server that bounds the time of its clients.
 *
 * `Deno.serve` waits forever for a client that sends its request slowly, or not at all, or that does not
 * read the response, so that connections and their memory would add up. `node:http` has timeouts, but
 * costs 66 MB more after some thousand requests, and four times the CPU of each: a program with little
 * memory and frequent probes uses `serveHTTP()`.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  CLOSING_MS,
  type HTTPApp,
  type HTTPServer,
  listenAt,
  type ServeOptions,
} from "./program_server.ts";

/** How long to wait for a client. */
export interface TimedOptions extends ServeOptions {
  /** Time for the headers of a request, ms. @default {10000} */
  readonly headersMs?: number;
  /** Time for a whole request, with its body, ms. @default {30000} */
  readonly requestMs?: number;
  /**
   * Time after which a silent connection is closed, ms: longer than browsers wait between two requests, and
   * than a stream is silent.
   *
   * @default {75000}
   */
  readonly idleMs?: number;
}

/** Interval at which connections are checked for timeouts, ms. */
const CHECK_MS = 5000;

/** Connections at the same time; more are closed at once. */
const MAX_CONNECTIONS = 1000;

/**
 * Resolves when it listens. Throws a `SyntaxError` for a bad address and an `Error` that names the address
 * when it can't be bound. An app that throws answers 500 without the error's text.
 */
export async function serveTimed(
  app: HTTPApp,
  { address, headersMs = 10_000, requestMs = 30_000, idleMs = 75_000 }: TimedOptions,
): Promise<HTTPServer> {
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: idleMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
  }, (incoming, outgoing) => void answer(app, { incoming, outgoing }));
  server.timeout = idleMs;
  server.maxConnections = MAX_CONNECTIONS;
  const bound = await listenAt(server, address);
  return {
    address: bound,
    async shutdown() {
      // Without this, a connection without a request, or with a slow reader, would stay open.
      const timer = setTimeout(() => server.closeAllConnections(), CLOSING_MS);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(timer);
    },
  };
}

/** Answers one request. Never rejects: a client that has disconnected gets nothing. */
async function answer(
  app: HTTPApp,
  { incoming, outgoing }: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
  },
): Promise<void> {
  // Without a listener, a connection that breaks would end the program.
  incoming.on("error", () => {});
  outgoing.on("error", () => {});
  const disconnected = new AbortController();
  outgoing.once("close", () => disconnected.abort());
  try {
    const request = requestOf(incoming, disconnected.signal);
    if (request === undefined) return void outgoing.writeHead(400).end("bad request\n");
    const response = await app.fetch(request);
    outgoing.writeHead(response.status, [...response.headers].flat());
    if (response.body === null) return void outgoing.end();
    if (request.method === "HEAD") {
      outgoing.end();
      return await response.body.cancel();
    }
    await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch {
    if (outgoing.headersSent) return void outgoing.destroy();
    outgoing.writeHead(500, { "content-type": "text/plain" }).end("internal error\n");
  }
}

/** Undefined where host and path make no URL, or one with another path. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url: target = "/", headersDistinct } = incoming;
  const host = headersDistinct.host?.[0] ?? "localhost";
  if (/[/?#@\\]/.test(host)) return undefined;
  const url = target.startsWith("/") ? `http://${host}${target}` : target;
  if (!URL.canParse(url)) return undefined;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value])
  );
  const body = method === "GET" || method === "HEAD" ? null : ReadableStream.from(incoming);
  return new Request(url, { method, headers, body, signal });
}
