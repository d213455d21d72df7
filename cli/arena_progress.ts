/**
 * How far the arena is, and how long it will still take.
 *
 * @module
 */

/** What is known at a moment. */
export interface ArenaProgress {
  /** Share of the work that is done, 0 to 1. */
  readonly share: number;
  /** Real seconds since the beginning. */
  readonly elapsedS: number;
}

/** `42 % · 1:30 gone · about 2:04 left`; no estimate before a hundredth is done. */
export function arenaProgressLine({ share, elapsedS }: ArenaProgress): string {
  const percent = Math.floor(100 * share);
  const parts = [`${percent} %`, `${clock(elapsedS)} gone`];
  if (share >= 0.01 && share < 1) parts.push(`about ${clock(elapsedS / share - elapsedS)} left`);
  return parts.join(" · ");
}

/**
 * What to write for new progress: on a terminal the line in place of the last, elsewhere a line for
 * each tenth. Empty where nothing would change.
 */
export function nextArenaProgress(
  before: number,
  { now, isTerminal }: { readonly now: ArenaProgress; readonly isTerminal: boolean },
): string {
  const per = isTerminal ? 100 : 10;
  if (Math.floor(now.share * per) <= Math.floor(before * per)) return "";
  return isTerminal ? `\r\x1b[K${arenaProgressLine(now)}` : `${arenaProgressLine(now)}\n`;
}

function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
