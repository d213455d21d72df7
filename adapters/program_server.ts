/**
 * The HTTP server of a program: `/healthz`, `/readyz` and `/metrics`, and routes that it adds.
 *
 * @module
 */
import type { Server } from "node:net";
import { Hono } from "hono";
import { cpuUsage } from "node:process";
import type { Registry } from "prom-client";
import { PROGRAM_METRICS } from "../shared/metrics/program_metrics.ts";
import { formatAddress, parseAddress } from "../shared/config/kinds.ts";
import { within } from "../shared/control/time_limit.ts";
import { VERSION } from "../shared/version.ts";
import type { RequestObserver } from "./kube/client/observed_request.ts";
import { registerMetrics, registerScraped } from "./registered_metrics.ts";
import { systemClock } from "./system_clock.ts";

/**
 * Binds a server of Node and returns where it listens. Throws a `SyntaxError` for a bad address and an
 * `Error` that names the address when it can't be bound.
 */
export async function listenAt(server: Server, address: string): Promise<string> {
  const { hostname, port } = parseAddress(address);
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
  return formatAddress({ hostname: bound.address, port: bound.port });
}

/** A handler of requests: a Hono app, for instance. */
export interface HTTPApp {
  fetch(request: Request): Response | Promise<Response>;
}

/** A server that listens. */
export interface HTTPServer {
  /** `host:port` as bound; the port that was free when 0 was asked for. */
  readonly address: string;
  /**
   * Accepts no new connections and resolves when responses in flight are sent, or after a second: a client
   * that does not read its response keeps the program no longer.
   */
  shutdown(): Promise<void>;
}

/** Where to listen. */
export interface ServeOptions {
  /** `host:port`; `:port` listens on all addresses, port 0 takes a free one. */
  readonly address: string;
}

/** Time at the end for responses in flight, ms. */
export const CLOSING_MS = 1000;

/**
 * Listens at once. Throws a `SyntaxError` for a bad address and an `Error` that names the address
 * when it can't be bound. An app that throws answers 500 without the error's text.
 *
 * Clients may hold their connections forever: `serveTimed()` closes those of slow clients, but costs the
 * process 66 MB.
 */
export function serveHTTP(app: HTTPApp, { address }: ServeOptions): HTTPServer {
  const { hostname, port } = parseAddress(address);
  try {
    const server = Deno.serve({
      hostname,
      port,
      onListen: () => {},
      onError: () => new Response("internal error\n", { status: 500 }),
    }, (request) => app.fetch(request));
    return {
      address: formatAddress(server.addr),
      shutdown: () =>
        within(() => server.shutdown(), {
          clock: systemClock,
          ms: CLOSING_MS,
          onTimeout: () => {},
        }),
    };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot listen on ${address}: ${message}`, { cause });
  }
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
