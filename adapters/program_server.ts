/**
 * The HTTP server of a program: `/healthz`, `/readyz` and `/metrics`, and routes that it adds.
 *
 * @module
 */
import { Hono } from "hono";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { cpuUsage } from "node:process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Registry } from "prom-client";
import { PROGRAM_METRICS } from "../shared/metrics/program_metrics.ts";
import { VERSION } from "../shared/version.ts";
import type { RequestObserver } from "./kube/client/observed_request.ts";
import { registerMetrics, registerScraped } from "./registered_metrics.ts";

/** An address in its parts. */
export interface ListenAddress {
  /** `0.0.0.0` where none was given. */
  readonly hostname: string;
  readonly port: number;
}

/** The parts of `host:port` or `:port`. Throws a `SyntaxError` that names any other text. */
export function parseAddress(address: string): ListenAddress {
  const [, host, digits] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || Number(digits) > 65_535) {
    throw new SyntaxError(
      `Cannot listen on "${address}": it is not an address, expected for instance :8080`,
    );
  }
  return { hostname: host.replace(/^\[(.*)\]$/, "$1") || "0.0.0.0", port: Number(digits) };
}

/** The address as `parseAddress()` reads it. */
export function formatAddress({ hostname, port }: ListenAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** A handler of requests: a Hono app, for instance. */
export interface HTTPApp {
  fetch(request: Request): Response | Promise<Response>;
}

/** A server that listens. */
export interface HTTPServer {
  /** `host:port` as bound; the port that was free when 0 was asked for. */
  readonly address: string;
  /** Accepts no new connections and resolves when responses in flight are sent. */
  shutdown(): Promise<void>;
}

/** Where to listen, and how long to wait for a client. */
export interface ServeOptions {
  /** `host:port`; `:port` listens on all addresses, port 0 takes a free one. */
  readonly address: string;
  /** Time for the headers of a request, ms. @default {10000} */
  readonly headersMs?: number;
  /** Time for a whole request, with its body, ms. @default {30000} */
  readonly requestMs?: number;
}

/** Between two searches for connections that are late, ms. */
const CHECK_MS = 5000;

/** A connection without a request ends after this time, ms: longer than scrapers wait between two. */
const IDLE_MS = 75_000;

/**
 * Resolves when it listens. Throws a `SyntaxError` for a bad address and an `Error` that names the address
 * when it can't be bound. An app that throws answers 500 without the error's text.
 *
 * `Deno.serve` waits forever for a client that sends its request slowly, or not at all: connections, and
 * what each one holds, would add up. So this is `node:http`, which answers 408 and closes them. A client
 * that reads slowly is not bounded: a stream of updates has no end.
 */
export async function serveHTTP(
  app: HTTPApp,
  { address, headersMs = 10_000, requestMs = 30_000 }: ServeOptions,
): Promise<HTTPServer> {
  const { hostname, port } = parseAddress(address);
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    keepAliveTimeout: IDLE_MS,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersMs),
  }, (incoming, outgoing) => void answer(app, { incoming, outgoing }));
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: Error) => {
      reject(new Error(`Cannot listen on ${address}: ${cause.message}`, { cause }));
    });
    server.listen(port, hostname, resolve);
  });
  // A later error is about a single connection, and must not end the program.
  server.on("error", () => {});
  const bound = server.address();
  if (bound === null || typeof bound === "string") {
    throw new Error(`Cannot listen on ${address}: the server has no port`);
  }
  return {
    address: formatAddress({ hostname: bound.address, port: bound.port }),
    shutdown: () => new Promise((resolve) => server.close(() => resolve())),
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
    if (response.body === null || request.method === "HEAD") return void outgoing.end();
    await pipeline(Readable.fromWeb(response.body), outgoing);
  } catch {
    if (outgoing.headersSent) return void outgoing.destroy();
    outgoing.writeHead(500, { "content-type": "text/plain" }).end("internal error\n");
  }
}

/** Undefined where the host and the path make no address. */
function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url: target = "/", headersDistinct } = incoming;
  const host = headersDistinct.host?.[0] ?? "localhost";
  const url = target.startsWith("/") ? `http://${host}${target}` : target;
  if (!URL.canParse(url)) return undefined;
  const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value])
  );
  const body = method === "GET" || method === "HEAD" ? null : ReadableStream.from(incoming);
  return new Request(url, { method, headers, body, signal });
}

/** State that the health routes show. */
export interface HealthOptions {
  /** Why the program is stuck and should be restarted; undefined while it works. */
  readonly unhealthy: () => string | undefined;
  /** Why the program can't do its work yet; undefined when it can. */
  readonly unready: () => string | undefined;
  /** The registry of prom-client that keeps the metrics. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
}

/** An app with the three routes; others may be added to it. Answers 503 with the reason. */
export function healthRoutes({ unhealthy, unready, registry }: HealthOptions): Hono {
  const app = new Hono();
  for (const [path, fault] of [["/healthz", unhealthy], ["/readyz", unready]] as const) {
    app.get(path, (context) => {
      const reason = fault();
      return reason === undefined ? context.text("ok\n") : context.text(`${reason}\n`, 503);
    });
  }
  app.get("/metrics", async () => {
    const text = await registry.metrics();
    return new Response(text, { headers: { "content-type": registry.contentType } });
  });
  return app;
}

/**
 * Registers the metrics of a program, and returns the observer of its requests to the API server.
 * prom-client's own defaults read `/proc` and the host's figures, for which the programs have no
 * permission.
 */
export function registerProgramMetrics(
  registry: Registry,
  { program, startedAtMs }: { readonly program: string; readonly startedAtMs: number },
): RequestObserver {
  const { cpu, memory, ...others } = PROGRAM_METRICS;
  const cpuSeconds = (): number => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  };
  registerScraped(registry, { metric: cpu, series: () => [[{}, cpuSeconds()]] });
  registerScraped(registry, { metric: memory, series: () => [[{}, Deno.memoryUsage().rss]] });
  const { startTime, buildInfo, apiRequests, apiDurations } = registerMetrics(registry, others);
  startTime.set(startedAtMs / 1000);
  buildInfo.set({ program, version: VERSION, deno: Deno.version.deno }, 1);
  return ({ verb, resource, status, tookMs }) => {
    apiRequests.inc({ verb, resource, code: status === 0 ? "error" : String(status) });
    if (verb !== "watch") apiDurations.observe({ verb }, tookMs / 1000);
  };
}
