/**
 * One HTTP request that ends in time, follows nobody, and takes no endless answer.
 *
 * @module
 */
import { boundedText } from "./bounded_text.ts";
import { failureWords } from "./failure_words.ts";
import type { HTTPLogin } from "./http_login.ts";
import { createPatience } from "./patience.ts";

/** What is asked, by whom, and how long it may take. */
export interface BoundedRequest {
  readonly url: string;
  /** Sent as JSON with POST; absent: GET. */
  readonly body?: unknown;
  /** Absent: nobody in particular asks. */
  readonly login?: HTTPLogin;
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

/** What came, or why nothing did, in a sentence. */
export type BoundedAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when it has more bytes than it may have. */
  readonly text: string | undefined;
} | { readonly failed: string };

/** Asks once, and once more where a login was refused that may be out of date. Never rejects. */
export async function boundedExchange(
  request: BoundedRequest,
  signal: AbortSignal,
): Promise<BoundedAnswer> {
  const { login, timeoutMs, mostBytes } = request;
  const patience = createPatience(signal);
  patience.start(timeoutMs);
  try {
    let response = await send(request, { refresh: false, signal: patience.signal });
    if (response.status === 401 && login !== undefined) {
      await response.body?.cancel();
      response = await send(request, { refresh: true, signal: patience.signal });
    }
    const { status, headers } = response;
    const text = await boundedText(unpacked(response), { mostBytes, signal: patience.signal });
    return { status, headers, text };
  } catch (error) {
    return {
      failed: patience.exceededMs === undefined
        ? failureWords(error)
        : `nothing came for ${patience.exceededMs} ms`,
    };
  } finally {
    patience.end();
  }
}

/** The runtime leaves packed answers as they are once a request says that it wants none. */
function unpacked(response: Response): Response {
  const { body, headers } = response;
  if (body === null || headers.get("content-encoding") !== "gzip") return response;
  return new Response(body.pipeThrough(new DecompressionStream("gzip")));
}

async function send(
  { url, body, login }: BoundedRequest,
  { refresh, signal }: { readonly refresh: boolean; readonly signal: AbortSignal },
): Promise<Response> {
  const { headers = {}, client } = await login?.parts({ refresh }) ?? {};
  return await fetch(url, {
    redirect: "manual",
    headers: {
      ...headers,
      accept: "application/json",
      // Packing 3,600 points takes twice as long as Prometheus needs to find them: 10 ms and 5 ms.
      "accept-encoding": "identity",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    ...(client === undefined ? {} : { client }),
    signal,
  });
}
