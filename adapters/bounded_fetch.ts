/**
 * Bounds of HTTP requests: a timeout that can be renewed, no redirects, and a bound on the response's
 * length.
 *
 * @module
 */
import { userAgent } from "../shared/version.ts";
import type { HTTPLogin } from "./http_login.ts";

/** A timeout of a request. */
export interface RequestTimeout {
  /** Aborted on timeout, or when the caller's signal is aborted. */
  readonly signal: AbortSignal;
  /** The wait that was exceeded, ms; undefined before a timeout. */
  readonly exceededMs: number | undefined;
  /** Starts a wait, in place of the one before. */
  start(ms: number): void;
  stop(): void;
  /** Stops, and removes the listener on the caller's signal. */
  end(): void;
}

/** Creates a timeout that does not run yet. */
export function createRequestTimeout(caller?: AbortSignal): RequestTimeout {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let exceededMs: number | undefined;
  if (caller?.aborted) abort();
  else caller?.addEventListener("abort", abort, { once: true });

  function stop(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  return {
    signal: controller.signal,
    get exceededMs() {
      return exceededMs;
    },
    start(ms) {
      stop();
      timer = setTimeout(() => {
        exceededMs = ms;
        abort();
      }, ms);
    },
    stop,
    end() {
      stop();
      caller?.removeEventListener("abort", abort);
    },
  };
}

/**
 * The message of a failed request. "fetch failed" alone is no reason: the reason is in its cause,
 * after the URL, which is left out.
 */
export function failureMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.message === "fetch failed" && error.cause instanceof Error
    ? error.cause
    : error;
  return inner.message.replace(/^error sending request for url \([^)]*\): /, "");
}

/** A request and its bounds. */
export interface BoundedRequest {
  /** The program, for the header `User-Agent`. */
  readonly program: string;
  readonly url: string;
  /** Sent as JSON with POST; absent: GET. */
  readonly body?: unknown;
  /** Absent: anonymous. */
  readonly login?: HTTPLogin;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The response, or why there is none, in a sentence. */
export type BoundedResponse = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when the body has more than `maxBytes`. */
  readonly text: string | undefined;
} | { readonly failed: string };

/** Sends the request, and again with a fresh login on a 401. Never rejects. */
export async function boundedFetch(
  request: BoundedRequest,
  signal: AbortSignal,
): Promise<BoundedResponse> {
  const { login, timeoutMs, maxBytes } = request;
  const timeout = createRequestTimeout(signal);
  timeout.start(timeoutMs);
  try {
    let response = await send(request, { refresh: false, signal: timeout.signal });
    if (response.status === 401 && login !== undefined) {
      await response.body?.cancel();
      response = await send(request, { refresh: true, signal: timeout.signal });
    }
    const { status, headers } = response;
    const text = await readText(decompressed(response), { maxBytes, signal: timeout.signal });
    return { status, headers, text };
  } catch (error) {
    return {
      failed: timeout.exceededMs === undefined
        ? failureMessage(error)
        : `nothing came for ${timeout.exceededMs} ms`,
    };
  } finally {
    timeout.end();
  }
}

/** The text's value; undefined for text that `parse` can't read. */
export function jsonOrUndefined(
  text: string | undefined,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return parse(text ?? "");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function send(
  { program, url, body, login }: BoundedRequest,
  { refresh, signal }: { readonly refresh: boolean; readonly signal: AbortSignal },
): Promise<Response> {
  const { headers = {}, client } = await login?.parts({ refresh }) ?? {};
  const sent = new Headers({
    "user-agent": userAgent(program),
    accept: "application/json",
    // Compressing 3,600 points takes twice as long as Prometheus needs to find them: 10 ms and 5 ms.
    "accept-encoding": "identity",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  });
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  return await fetch(url, {
    redirect: "manual",
    headers: sent,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    ...(client === undefined ? {} : { client }),
    signal,
  });
}

/** Deno does not decompress responses to a request that asks for `identity`. */
function decompressed({ body, headers }: Response): ReadableStream<Uint8Array> | null {
  if (body === null || headers.get("content-encoding") !== "gzip") return body;
  return body.pipeThrough(new DecompressionStream("gzip"));
}

/**
 * The body as text; undefined, and the rest is not read, when it has more than `maxBytes`. Rejects
 * when the connection breaks, or `signal` is aborted first.
 */
async function readText(
  body: ReadableStream<Uint8Array> | null,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of chunksOf(body, [signal])) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  if (signal.aborted) throw new DOMException("the wait is over", "AbortError");
  return text + decoder.decode();
}

/** The chunks of a body until it ends or one of the signals is aborted; then releases the body. */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signals: readonly AbortSignal[],
): AsyncGenerator<Uint8Array, void, void> {
  const reader = body.getReader();
  // Deno 2.9 ignores a fetch's signal after some thousand reads, so the reader is cancelled. That rejects
  // for a broken body, which needs no release.
  const cancel = (): Promise<void> => reader.cancel().catch(() => {});
  for (const signal of signals) signal.addEventListener("abort", cancel, { once: true });
  try {
    while (!signals.some(({ aborted }) => aborted)) {
      const { done, value } = await reader.read();
      if (done || signals.some(({ aborted }) => aborted)) return;
      yield value;
    }
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", cancel);
    await cancel();
  }
}
