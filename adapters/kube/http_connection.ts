/**
 * Requests and streams to an API server over `fetch`, with connections that stay open.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import { createPatience, type Patience } from "../patience.ts";
import { systemClock } from "../system_clock.ts";
import { answerError } from "./answer_error.ts";
import { createClientSlot, type Pool } from "./client_slot.ts";
import type { KubeRequest, KubeSocketRequest, OpenKubeConnection } from "./connection.ts";
import { createJSONLines } from "./json_lines.ts";
import type { Login } from "./login.ts";
import { noAnswer } from "./no_answer.ts";
import { type Connect, createReachability } from "./reachability.ts";

/** Where the server is and who asks. */
export interface HTTPConnectionOptions {
  /** For instance `https://kubernetes.default.svc`, without a slash at the end. */
  readonly server: string;
  /** Who asks; called before each request. With `refresh` a cached answer is of no use any more. */
  readonly login: (options: { readonly refresh: boolean }) => Promise<Login>;
  /**
   * Opens a pool of connections. Called again when the login's certificate has changed, and after
   * the server could not be reached: a pool may hold connections that lead nowhere.
   */
  readonly openClient: (login: Login) => Promise<Deno.HttpClient>;
  /** Tried before other requests once one was not answered. @default nothing is tried */
  readonly connect?: Connect;
  /** @default {systemClock} */
  readonly clock?: Clock;
}

const REQUEST_TIMEOUT_MS = 30_000;

/** Three times the interval of bookmarks, which come about once a minute. */
const SILENCE_TIMEOUT_MS = 180_000;

/** A request on its way, and the pool that it took; absent while it has none. */
interface Call {
  readonly request: KubeRequest;
  readonly patience: Patience;
  pool?: Pool;
  /** Whether an answer has begun. */
  answered?: true;
}

/** A connection; nothing is sent before it is asked for. */
export function createHTTPConnection(options: HTTPConnectionOptions): OpenKubeConnection {
  const { server, login, connect = () => Promise.resolve(), clock = systemClock } = options;
  const reachability = createReachability(connect);
  const slot = createClientSlot(options.openClient);

  async function fetchOnce(call: Call, refresh: boolean): Promise<Response> {
    const { request, patience } = call;
    await reachability.ensure();
    const who = await login({ refresh });
    call.pool = await slot.pool(who);
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const type = request.contentType ?? "application/json";
    const response = await fetch(addressOf(server, request), {
      method: request.method ?? "GET",
      client: call.pool.client,
      redirect: "error",
      headers: {
        ...who.headers,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": type }),
      },
      ...(body === undefined ? {} : { body }),
      signal: patience.signal,
    });
    heard(call);
    return response;
  }

  function heard(call: Call): void {
    call.answered = true;
    reachability.confirm();
    const { pool } = call;
    if (pool !== undefined) pool.heardAtMs = clock.monotonic();
  }

  /** The answer, when it is a success; a login that was refused is renewed once. */
  async function open(call: Call): Promise<Response> {
    let response = await fetchOnce(call, false);
    if (response.status === 401) {
      await response.body?.cancel();
      response = await fetchOnce(call, true);
    }
    if (response.ok) return response;
    const retryAfter = response.headers.get("retry-after");
    throw answerError(
      { status: response.status, text: await response.text(), retryAfter },
      clock.wall(),
    );
  }

  /**
   * A pool over which nothing at all came for most of a wait leads nowhere: then its streams are ended
   * as well, which would not notice for minutes. While others are answered only this request was slow.
   */
  function failure(error: unknown, call: Call): ApiError {
    if (error instanceof ApiError) return error;
    const { patience, pool } = call;
    const answer = noAnswer(error, call);
    // Also a stream that breaks: where one does, others do, and all of them ask again at once.
    if (answer.reason !== "Aborted" && answer.reason !== "BadAnswer") reachability.doubt();
    if (answer.reason === "Aborted" || pool === undefined) return answer;
    const silentMs = clock.monotonic() - pool.heardAtMs;
    const { exceededMs } = patience;
    slot.drop(pool, { dead: exceededMs !== undefined && silentMs >= exceededMs / 2 });
    return answer;
  }

  return {
    async request(request) {
      const timeoutMs = request.timeoutMs ?? REQUEST_TIMEOUT_MS;
      const patience = createPatience(request.signal);
      const call: Call = { request, patience };
      try {
        patience.start(timeoutMs);
        const response = await open(call);
        const text = await response.text();
        return text === "" ? undefined : JSON.parse(text);
      } catch (error) {
        throw failure(error, call);
      } finally {
        patience.end();
      }
    },

    async *lines(request) {
      const patience = createPatience(request.signal);
      const call: Call = { request, patience };
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      let giveUp = (): void => {};
      try {
        patience.start(Math.min(request.timeoutMs ?? REQUEST_TIMEOUT_MS, REQUEST_TIMEOUT_MS));
        const response = await open(call);
        reader = response.body?.getReader();
        // Deno 2.9 forgets a fetch's signal after some thousand reads: the reader is ended here.
        giveUp = () => void reader?.cancel().catch(() => {});
        patience.signal.addEventListener("abort", giveUp, { once: true });
        call.pool?.dead.addEventListener("abort", giveUp, { once: true });
        if (call.pool?.dead.aborted) giveUp();
        const lines = createJSONLines();
        while (reader !== undefined) {
          patience.start(request.timeoutMs ?? SILENCE_TIMEOUT_MS);
          const { done, value } = await reader.read();
          patience.stop();
          if (call.pool?.dead.aborted) {
            throw new TypeError("Cannot read the stream: its connection leads nowhere");
          }
          if (patience.signal.aborted) throw new DOMException("the wait is over", "AbortError");
          if (done) break;
          heard(call);
          yield* lines.take(value);
        }
        if (lines.pending) throw new TypeError("Cannot read the stream: it ends within a line");
      } catch (error) {
        if (request.signal?.aborted) return;
        throw failure(error, call);
      } finally {
        patience.end();
        for (const ends of [patience.signal, call.pool?.dead]) {
          ends?.removeEventListener("abort", giveUp);
        }
        // Rejects when the stream is broken already: there is nothing left to give back then.
        await reader?.cancel().catch(() => {});
      }
    },

    async socket(request) {
      const who = await login({ refresh: false });
      return new WebSocket(addressOf(server.replace(/^http/, "ws"), request), {
        protocols: [...request.protocols],
        headers: who.headers,
        client: (await slot.pool(who)).client,
      });
    },

    close: slot.close,
  };
}

function addressOf(server: string, request: KubeRequest | KubeSocketRequest): string {
  const query = new URLSearchParams(request.query ?? {}).toString();
  return `${server}${request.path}${query === "" ? "" : `?${query}`}`;
}
