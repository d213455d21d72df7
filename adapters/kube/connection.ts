/**
 * The way to an API server: what every list-watch and writer of this folder is built on.
 *
 * @module
 */

/** One HTTP request. */
export interface KubeRequest {
  /** From the root of the API, for instance `/api/v1/nodes/node-1`; parts are encoded already. */
  readonly path: string;
  /** @default {"GET"} */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** @default {"application/json"} */
  readonly contentType?: string;
  /**
   * Of a request: how long its answer may take, ms. Of a stream: how long it may be silent.
   *
   * @default {30000 for a request, 180000 for a stream}
   */
  readonly timeoutMs?: number;
  /** Ends the request with an error, and a stream without one. */
  readonly signal?: AbortSignal;
}

/** Requests with somebody's rights. */
export interface KubeConnection {
  /**
   * Sends one request; resolves with the parsed body. Throws an `ApiError`: the server's refusal, or
   * status 0 without an answer (reason `Timeout`, `Aborted`, `Unreachable` or `BadAnswer`).
   */
  request(request: KubeRequest): Promise<unknown>;
  /**
   * Opens a stream of JSON lines, as a watch is one. Ends when the server closes it or the signal is
   * aborted; throws an `ApiError` as `request` does, also when nothing came for too long.
   */
  lines(request: KubeRequest): AsyncIterable<unknown>;
}

/** What to open a WebSocket to. */
export interface KubeSocketRequest {
  /** From the root of the API; parts are encoded already. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sub-protocols in the order of preference. */
  readonly protocols: readonly string[];
}

/** A connection that was opened here, and that its owner closes. */
export interface OpenKubeConnection extends KubeConnection {
  /** A WebSocket that is about to open, with the rights of this connection. */
  socket(request: KubeSocketRequest): Promise<WebSocket>;
  /** Lets go of idle connections. What is under way goes on to its end. */
  close(): void;
}

/** Encodes a name, a namespace or the like for a path. */
export function pathPart(name: string): string {
  return encodeURIComponent(name);
}
