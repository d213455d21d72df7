/**
 * How busy the machine's CPUs are: whether a run had them for itself.
 *
 * @module
 */

/** Columns of the first line of `/proc/stat` after its name: idle, and waiting for a disk. */
const IDLE: readonly number[] = [3, 4];
/** The first eight are time of its own; guests' time is counted in them once more. */
const COLUMNS = 8;
/** The kernel's unit in this file, on every architecture: 1/100 s. */
const TICK_MS = 10;

/** Column of the time in which the machine wanted to run and others on its host ran. */
const STOLEN = 7;

/** CPU time that all programs used since the machine's start, ms, from the text of `/proc/stat`. */
export function busyTime(stat: string): number {
  return ticksOf(stat).reduce(
    (sum, value, column) => IDLE.includes(column) ? sum : sum + value,
    0,
  ) * TICK_MS;
}

/**
 * Of the time in which it wanted to run since the first text, the share that others on its host had.
 */
export function stolenShare(before: string, after: string): number {
  const wantedMs = busyTime(after) - busyTime(before);
  return wantedMs === 0 ? 0 : (stolenTime(after) - stolenTime(before)) / wantedMs;
}

function stolenTime(stat: string): number {
  return (ticksOf(stat)[STOLEN] ?? 0) * TICK_MS;
}

function ticksOf(stat: string): readonly number[] {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(" ").slice(0, COLUMNS).map(Number) ?? [];
  if (ticks.length < COLUMNS || ticks.some(Number.isNaN)) {
    throw new SyntaxError(`Cannot read the CPUs' times: ${JSON.stringify(stat.slice(0, 60))}`);
  }
  return ticks;
}

/** Begins to count; the result reports {@linkcode stolenShare} since. */
export function measureStolen(): () => number {
  const before = readStat();
  return () => stolenShare(before, readStat());
}

/** Begins to count; the result reports the CPUs that were busy since, in the mean. */
export function measureMachine(): () => number {
  const busy = (): number => busyTime(readStat());
  const [busyMs, atMs] = [busy(), performance.now()];
  return () => (busy() - busyMs) / (performance.now() - atMs);
}

function readStat(): string {
  return Deno.readTextFileSync("/proc/stat");
}
