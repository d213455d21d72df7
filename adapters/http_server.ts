/**
 * Serves a program's few HTTP routes.
 *
 * @module
 */
import { parseAddress } from "./listen_address.ts";

/** What answers requests: a Hono app, for instance. */
export interface HTTPApp {
  fetch(request: Request): Response | Promise<Response>;
}

/** A server that listens. */
export interface HTTPServer {
  /** `host:port` as bound; the port that was free when 0 was asked for. */
  readonly address: string;
  /** Takes no new connections and resolves when the answers in work are out. */
  shutdown(): Promise<void>;
}

/** Where to listen. */
export interface ServeOptions {
  /** `host:port`; `:port` listens on all addresses, port 0 takes a free one. */
  readonly address: string;
}

/**
 * Listens at once. Throws a `SyntaxError` for a bad address and an `Error` that names the address
 * when it can't be bound. An app that throws answers 500 without the error's text.
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
    const bound = server.addr;
    return {
      address: `${
        bound.hostname.includes(":") ? `[${bound.hostname}]` : bound.hostname
      }:${bound.port}`,
      shutdown: () => server.shutdown(),
    };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot listen on ${address}: ${message}`, { cause });
  }
}
