/**
 * Requests and streams to an API server over `fetch`.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import { chunksOf, createRequestTimeout, type RequestTimeout } from "../../bounded_fetch.ts";
import { systemClock } from "../../system_clock.ts";
import { userAgent } from "../../../shared/version.ts";
import type { KubeRequest, OpenKubeConnection } from "./connection.ts";
import {
  type Connect,
  type ConnectionPool,
  createConnectionPool,
  createReachability,
  type Pool,
} from "./connection_pool.ts";
import { type RequestObserver, verbAndResource } from "./observed_request.ts";
import { noResponseError, responseError } from "./response_errors.ts";

/** Address of the server, and credentials. */
export interface HTTPConnectionOptions {
  /** For instance `https://kubernetes.default.svc`, without a slash at the end. */
  readonly server: string;
  /**
   * Headers with credentials, never logged, read before each request; none where a client certificate is
   * enough. With `refresh` a cached login was rejected.
   */
  readonly login: (
    options: { readonly refresh: boolean },
  ) => Promise<Readonly<Record<string, string>>>;
  /**
   * Opens a pool of connections. Called again after the server could not be reached: the pool's
   * connections may be dead.
   */
  readonly openClient: () => Promise<Deno.HttpClient>;
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  /** Tests the server after a request without a response, see `createReachability`. @default no test */
  readonly connect?: Connect;
  /** @default {systemClock} */
  readonly clock?: Clock;
  /** Observes requests. @default no observer */
  readonly observe?: RequestObserver;
}

const REQUEST_TIMEOUT_MS = 30_000;

/** Three times the interval of bookmarks, which come about once a minute. */
const SILENCE_TIMEOUT_MS = 180_000;

/** A request in flight. */
interface Call {
  readonly request: KubeRequest;
  readonly timeout: RequestTimeout;
  /** Absent until it is sent. */
  pool?: Pool;
  /** Set once the response has begun. */
  responded?: true;
  /** HTTP status of the last response. */
  status?: number;
}

/** Sends requests, and keeps track of dead connections and of a server that can't be reached. */
interface Sender {
  /** Returns the response if it is a success. A rejected login is refreshed once. */
  open(call: Call): Promise<Response>;
  /** Notes that data came. */
  received(call: Call): void;
  /** Returns the error of a call, and notes what it says about the connection. */
  failure(error: unknown, call: Call): ApiError;
}

/** Creates a connection; nothing is sent before the first request. */
export function createHTTPConnection(options: HTTPConnectionOptions): OpenKubeConnection {
  const connections = createConnectionPool(options.openClient);
  const sender = createSender(options, connections);
  return {
    async request(request) {
      const timeout = createRequestTimeout(request.signal);
      const call: Call = { request, timeout };
      try {
        timeout.start(request.timeoutMs ?? REQUEST_TIMEOUT_MS);
        const response = await sender.open(call);
        const text = await response.text();
        if (request.parse !== undefined) return request.parse(text, response.headers);
        return text === "" ? undefined : JSON.parse(text);
      } catch (error) {
        throw sender.failure(error, call);
      } finally {
        timeout.end();
      }
    },

    async *lines(request) {
      const timeout = createRequestTimeout(request.signal);
      const call: Call = { request, timeout };
      try {
        timeout.start(Math.min(request.timeoutMs ?? REQUEST_TIMEOUT_MS, REQUEST_TIMEOUT_MS));
        const { body } = await sender.open(call);
        if (body !== null) yield* readLines(body, call, sender);
      } catch (error) {
        if (request.signal?.aborted) return;
        throw sender.failure(error, call);
      } finally {
        timeout.end();
      }
    },

    close: connections.close,
  };
}

function createSender(
  options: HTTPConnectionOptions,
  connections: ConnectionPool,
): Sender {
  const { server, login, program, clock = systemClock, observe } = options;
  const { connect = () => Promise.resolve() } = options;
  const reachability = createReachability(connect);

  function received(call: Call): void {
    call.responded = true;
    reachability.confirm();
    if (call.pool !== undefined) call.pool.receivedAtMs = clock.monotonic();
  }

  async function send(call: Call, refresh: boolean): Promise<Response> {
    const { request, timeout } = call;
    await reachability.ensure();
    const credentials = await login({ refresh });
    call.pool = await connections.pool();
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const response = await fetch(addressOf(server, request), {
      method: request.method ?? "GET",
      client: call.pool.client,
      redirect: "error",
      headers: {
        "user-agent": userAgent(program),
        ...credentials,
        accept: "application/json",
        ...(request.auditID === undefined ? {} : { "audit-id": request.auditID }),
        ...(body === undefined
          ? {}
          : { "content-type": request.contentType ?? "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
      signal: timeout.signal,
    });
    received(call);
    call.status = response.status;
    return response;
  }

  async function open(call: Call): Promise<Response> {
    let response = await send(call, false);
    if (response.status === 401) {
      await response.body?.cancel();
      response = await send(call, true);
    }
    if (response.ok) return response;
    const retryAfter = response.headers.get("retry-after");
    const text = await response.text();
    throw responseError({ status: response.status, text, retryAfter }, clock.wall());
  }

  return {
    received,
    async open(call) {
      const startedMs = clock.monotonic();
      try {
        return await open(call);
      } finally {
        const tookMs = clock.monotonic() - startedMs;
        observe?.({ ...verbAndResource(call.request), status: call.status ?? 0, tookMs });
      }
    },
    failure(error, call) {
      if (error instanceof ApiError) return error;
      const { timeout: { exceededMs }, pool } = call;
      const failed = noResponseError(error, call);
      // A broken stream counts, too: others break with it, and all retry at once.
      if (failed.reason !== "Aborted" && failed.reason !== "BadAnswer") reachability.doubt();
      if (failed.reason === "Aborted" || pool === undefined) return failed;
      // A pool without data for half of the timeout is dead: its streams, which would wait for minutes, are
      // ended. If data came, only this request was slow.
      const silentMs = clock.monotonic() - pool.receivedAtMs;
      connections.drop(pool);
      if (exceededMs !== undefined && silentMs >= exceededMs / 2) pool.dead.abort();
      return failed;
    },
  };
}

/** The values of a stream of JSON lines, until it ends or its connection is dead. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  call: Call,
  sender: Sender,
): AsyncIterable<unknown> {
  const { request, timeout, pool } = call;
  const startTimeout = (): void => timeout.start(request.timeoutMs ?? SILENCE_TIMEOUT_MS);
  const ends = [timeout.signal, ...(pool === undefined ? [] : [pool.dead.signal])];
  const lines = createJSONLines();
  startTimeout();
  for await (const chunk of chunksOf(body, ends)) {
    timeout.stop();
    sender.received(call);
    yield* lines.take(chunk);
    startTimeout();
  }
  if (pool?.dead.signal.aborted) {
    throw new TypeError("Cannot read the stream: its connection is dead");
  }
  if (timeout.signal.aborted) throw new DOMException("the wait is over", "AbortError");
  if (lines.pending) throw new TypeError("Cannot read the stream: it ends within a line");
}

/** The URL of a request to this server. */
export function addressOf(server: string, request: KubeRequest): string {
  const query = new URLSearchParams(request.query ?? {}).toString();
  return `${server}${request.path}${query === "" ? "" : `?${query}`}`;
}

/** A parser of JSON lines. */
export interface JSONLines {
  /** The values of lines that end in this chunk. Throws a `SyntaxError` for a line that is no JSON. */
  take(chunk: Uint8Array): unknown[];
  /** True when the last line has not ended yet: a stream that ends here was cut off. */
  readonly pending: boolean;
}

/** Parses a stream from its start. Chunks may end within a character; empty lines are skipped. */
function createJSONLines(): JSONLines {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  return {
    take(chunk) {
      const lines = decoder.decode(chunk, { stream: true }).split("\n");
      const values: unknown[] = [];
      for (const [index, line] of lines.entries()) {
        // Parts are joined once a line has ended: a large object comes in many small chunks.
        if (line !== "") parts.push(line);
        if (index === lines.length - 1) break;
        const text = parts.join("");
        parts = [];
        if (text.trim() !== "") values.push(JSON.parse(text));
      }
      return values;
    },
    get pending() {
      return parts.length > 0;
    },
  };
}
