/**
 * Ends of a request to a server: a timeout that can be renewed, and the reason of a failure.
 *
 * @module
 */

/** Aborts what takes too long. */
export interface RequestTimeout {
  /** Aborted on timeout, or when the caller's signal is aborted. */
  readonly signal: AbortSignal;
  /** The wait that was exceeded, ms; undefined when none was. */
  readonly exceededMs: number | undefined;
  /** Waits this long from now on, in place of the wait before. */
  start(ms: number): void;
  /** Stops waiting. */
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
