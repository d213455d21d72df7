/**
 * Ctrl-C as an abort signal.
 *
 * @module
 */

/** Listens for Ctrl-C. */
export interface Interrupt {
  /** Aborted by the first Ctrl-C. The second one ends the program at once. */
  readonly signal: AbortSignal;
  /**
   * Runs a job that blocks the event loop, such as a prompt, without a listener: it could not run meanwhile,
   * so that Ctrl-C would have no effect. Without a listener Ctrl-C ends the program.
   */
  runBlocking<T>(job: () => T): T;
  end(): void;
}

/** Where signals come from. */
export type SignalSource = Pick<typeof Deno, "addSignalListener" | "removeSignalListener">;

/** Begins to listen; `Deno` is the source outside of tests. */
export function listenForInterrupt(source: SignalSource): Interrupt {
  const stopping = new AbortController();
  let listening = false;
  const stop = (): void => {
    stopping.abort();
    end();
  };
  const begin = (): void => {
    if (listening || stopping.signal.aborted) return;
    source.addSignalListener("SIGINT", stop);
    listening = true;
  };
  const end = (): void => {
    if (listening) source.removeSignalListener("SIGINT", stop);
    listening = false;
  };
  begin();
  return {
    signal: stopping.signal,
    runBlocking(job) {
      end();
      try {
        return job();
      } finally {
        begin();
      }
    },
    end,
  };
}
