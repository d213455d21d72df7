/**
 * SIGTERM and SIGINT as an abort signal, with a deadline for the shutdown.
 *
 * @module
 */

/** Signals that shut a program down. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Options of the shutdown. */
export interface ProgramSignalsOptions {
  /** Time for a clean shutdown after the first signal, ms. */
  readonly graceMs: number;
  /** Called when the grace is over, or at the second signal: ends the program. */
  readonly onDeadline: () => void;
}

/** The program's shutdown. */
export interface ProgramSignals extends Disposable {
  /** Aborted by the first SIGTERM or SIGINT; the signal's name is the reason. */
  readonly signal: AbortSignal;
}

/** Listens until disposed. */
export function programSignals({ graceMs, onDeadline }: ProgramSignalsOptions): ProgramSignals {
  const stop = new AbortController();
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const listeners = SIGNALS.map((name) => {
    const listener = (): void => {
      if (stop.signal.aborted) return onDeadline();
      deadline = setTimeout(onDeadline, graceMs);
      stop.abort(name);
    };
    Deno.addSignalListener(name, listener);
    return { name, listener };
  });
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      clearTimeout(deadline);
      for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
    },
  };
}
