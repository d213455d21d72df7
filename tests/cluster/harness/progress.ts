/**
 * Says what is waited for, and for how long.
 *
 * @module
 */

/** Where lines go, and how time is reported. */
export interface Progress {
  readonly say: (line: string) => void;
  /** Milliseconds, never going back. */
  readonly now: () => number;
}

/** Between two lines about the same wait, in ms. */
const REPEAT_MS = 30_000;

/** Says that an action begins, every half minute that it still runs, and how long it took. */
export async function withProgress<T>(
  { say, now }: Progress,
  about: string,
  action: () => Promise<T>,
): Promise<T> {
  const began = now();
  say(`${about} …`);
  const timer = setInterval(() => say(`still ${about}: ${seconds(now() - began)}`), REPEAT_MS);
  try {
    const result = await action();
    say(`done ${about.split(",")[0]}: ${seconds(now() - began)}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}

/** `0.4 s`, `12 s`, `3 min 20 s`. */
export function seconds(ms: number): string {
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
