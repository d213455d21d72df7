/**
 * Progress of work and the time left: on a terminal one line that is rewritten in place, elsewhere a line for
 * each tenth, so that a log stays short.
 *
 * @module
 */

/** The progress at a moment. */
export interface Progress {
  /** Share of the work that is done, 0 to 1. */
  readonly share: number;
  /** Real seconds since the beginning. */
  readonly elapsedS: number;
}

/** `42 % · 1:30 gone · about 2:04 left`; no estimate before a hundredth is done. */
function progressLine({ share, elapsedS }: Progress): string {
  const percent = Math.floor(100 * share);
  const parts = [`${percent} %`, `${clock(elapsedS)} gone`];
  if (share >= 0.01 && share < 1) parts.push(`about ${clock(elapsedS / share - elapsedS)} left`);
  return parts.join(" · ");
}

function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** Shows progress from now on. */
export interface ProgressDisplay {
  /** Receives the share that is done. */
  report(share: number): void;
  /** Leaves the line as it is. */
  end(): void;
}

/** A display with `now` in ms. Writes nothing where nothing would change. */
export function showProgress(
  { write, now, isTerminal }: {
    readonly write: (text: string) => void;
    readonly now: () => number;
    readonly isTerminal: boolean;
  },
): ProgressDisplay {
  const since = now();
  const steps = isTerminal ? 100 : 10;
  let before = 0;
  return {
    report(share) {
      const isShown = Math.floor(share * steps) > Math.floor(before * steps);
      before = share;
      if (!isShown) return;
      const line = progressLine({ share, elapsedS: (now() - since) / 1000 });
      write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    },
    end() {
      if (isTerminal && before > 0) write("\n");
    },
  };
}
