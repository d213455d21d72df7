/**
 * How long to wait for an answer.
 *
 * @module
 */

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
