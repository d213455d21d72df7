/**
 * How long to wait for an answer, and what to call it when none came.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { KubeRequest } from "./connection.ts";

/** Aborts what takes too long. */
export interface Patience {
  /** Aborted when the wait is over, or the caller's signal is aborted. */
  readonly signal: AbortSignal;
  /** The wait that was exceeded, ms; undefined when none was. */
  readonly exceededMs: number | undefined;
  /** Waits from now on this long, in place of the wait before. */
  start(ms: number): void;
  /** Waits no longer. */
  stop(): void;
  /** Stops, and lets go of the caller's signal. */
  end(): void;
}

/** Patience that has not begun to wait. */
export function createPatience(caller?: AbortSignal): Patience {
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

/** The error for a request that has no answer, or one that can't be read. */
export function noAnswer(
  error: unknown,
  { request, patience, answered = false }: {
    readonly request: KubeRequest;
    readonly patience: Patience;
    /** Whether the answer had begun. */
    readonly answered?: boolean;
  },
): ApiError {
  const what = `${request.method ?? "GET"} ${request.path}`;
  const from = { cause: error };
  if (patience.exceededMs !== undefined) {
    return new ApiError(0, "Timeout", `${what}: nothing came for ${patience.exceededMs} ms`, from);
  }
  if (request.signal?.aborted) return new ApiError(0, "Aborted", `${what}: aborted`, from);
  const words = wordsOf(error);
  if (error instanceof SyntaxError) {
    return new ApiError(0, "BadAnswer", `${what}: the answer is no JSON: ${words}`, from);
  }
  return new ApiError(0, answered ? "Broken" : "Unreachable", `${what}: ${words}`, from);
}

/** "fetch failed" says nothing: what failed stands in its cause, after the URL. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.message === "fetch failed" && error.cause instanceof Error
    ? error.cause
    : error;
  return inner.message.replace(/^error sending request for url \([^)]*\): /, "");
}
