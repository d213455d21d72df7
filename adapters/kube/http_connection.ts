/**
 * Requests and streams to an API server over `fetch`, with connections that stay open.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Clock } from "../../shared/clock.ts";
import { systemClock } from "../system_clock.ts";
import { answerError } from "./answer_error.ts";
import { createClientSlot } from "./client_slot.ts";
import type { KubeRequest, KubeSocketRequest, OpenKubeConnection } from "./connection.ts";
import { createJSONLines } from "./json_lines.ts";
import type { Login } from "./login.ts";
import { createPatience, noAnswer, type Patience } from "./patience.ts";

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
  /** @default {systemClock} */
  readonly clock?: Clock;
}

const REQUEST_TIMEOUT_MS = 30_000;

/** Three times the interval of bookmarks, which come about once a minute. */
const SILENCE_TIMEOUT_MS = 180_000;

/** A connection; nothing is sent before it is asked for. */
export function createHTTPConnection(options: HTTPConnectionOptions): OpenKubeConnection {
  const { server, login, clock = systemClock } = options;
  const slot = createClientSlot(options.openClient);

  async function fetchOnce(request: KubeRequest, refresh: boolean): Promise<Response> {
    const who = await login({ refresh });
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const type = request.contentType ?? "application/json";
    return await fetch(addressOf(server, request), {
      method: request.method ?? "GET",
      client: await slot.client(who),
      redirect: "error",
      headers: {
        ...who.headers,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": type }),
      },
      ...(body === undefined ? {} : { body }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
  }

  /** The answer, when it is a success; a login that was refused is renewed once. */
  async function open(request: KubeRequest): Promise<Response> {
    let response = await fetchOnce(request, false);
    if (response.status === 401) {
      await response.body?.cancel();
      response = await fetchOnce(request, true);
    }
    if (response.ok) return response;
    const retryAfter = response.headers.get("retry-after");
    throw answerError(
      { status: response.status, text: await response.text(), retryAfter },
      clock.wall(),
    );
  }

  function failure(error: unknown, request: KubeRequest, patience: Patience): ApiError {
    if (error instanceof ApiError) return error;
    const answer = noAnswer(error, { request, patience });
    if (answer.reason !== "Aborted") slot.drop();
    return answer;
  }

  return {
    async request(request) {
      const timeoutMs = request.timeoutMs ?? REQUEST_TIMEOUT_MS;
      const patience = createPatience(request.signal);
      try {
        patience.start(timeoutMs);
        const response = await open({ ...request, signal: patience.signal });
        const text = await response.text();
        return text === "" ? undefined : JSON.parse(text);
      } catch (error) {
        throw failure(error, request, patience);
      } finally {
        patience.end();
      }
    },

    async *lines(request) {
      const patience = createPatience(request.signal);
      let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
      let giveUp = (): void => {};
      try {
        patience.start(Math.min(request.timeoutMs ?? REQUEST_TIMEOUT_MS, REQUEST_TIMEOUT_MS));
        const response = await open({ ...request, signal: patience.signal });
        reader = response.body?.getReader();
        // Deno 2.9 forgets a fetch's signal after some thousand reads: the reader is ended here.
        giveUp = () => void reader?.cancel().catch(() => {});
        patience.signal.addEventListener("abort", giveUp, { once: true });
        const lines = createJSONLines();
        while (reader !== undefined) {
          patience.start(request.timeoutMs ?? SILENCE_TIMEOUT_MS);
          const { done, value } = await reader.read();
          patience.stop();
          if (patience.signal.aborted) throw new DOMException("the wait is over", "AbortError");
          if (done) break;
          yield* lines.take(value);
        }
        if (lines.pending) throw new TypeError("Cannot read the stream: it ends within a line");
      } catch (error) {
        if (request.signal?.aborted) return;
        throw failure(error, request, patience);
      } finally {
        patience.end();
        patience.signal.removeEventListener("abort", giveUp);
        // Rejects when the stream is broken already: there is nothing left to give back then.
        await reader?.cancel().catch(() => {});
      }
    },

    async socket(request) {
      const who = await login({ refresh: false });
      return new WebSocket(addressOf(server.replace(/^http/, "ws"), request), {
        protocols: [...request.protocols],
        headers: who.headers,
        client: await slot.client(who),
      });
    },

    close: slot.drop,
  };
}

function addressOf(server: string, request: KubeRequest | KubeSocketRequest): string {
  const query = new URLSearchParams(request.query ?? {}).toString();
  return `${server}${request.path}${query === "" ? "" : `?${query}`}`;
}
