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
  const busy = ticksOf(stat).filter((_ticks, column) => !IDLE.includes(column));
  return sum(busy) * TICK_MS;
}

/** Of the time in which it wanted to run since the first text, the share that others on its host had. */
export function stolenShare(before: string, after: string): number {
  const earlier = ticksOf(before);
  const ticks = ticksOf(after).map((value, column) => value - (earlier[column] ?? 0));
  const wanted = sum(ticks.filter((_ticks, column) => !IDLE.includes(column)));
  return wanted === 0 ? 0 : (ticks[STOLEN] ?? 0) / wanted;
}

function ticksOf(stat: string): readonly number[] {
  const ticks = /^cpu +(.*)$/m.exec(stat)?.[1]?.split(" ").slice(0, COLUMNS).map(Number) ?? [];
  if (ticks.length < COLUMNS || ticks.some(Number.isNaN)) {
    throw new SyntaxError(`Cannot read the CPUs' times: ${JSON.stringify(stat.slice(0, 60))}`);
  }
  return ticks;
}

function sum(ticks: readonly number[]): number {
  return ticks.reduce((all, one) => all + one, 0);
}

/** Begins to count; the result tells {@linkcode stolenShare} since. */
export function measureStolen(): () => number {
  const stat = (): string => Deno.readTextFileSync("/proc/stat");
  const before = stat();
  return () => stolenShare(before, stat());
}

/** Begins to count; the result tells the CPUs that were busy since, in the mean. */
export function measureMachine(): () => number {
  const busy = (): number => busyTime(Deno.readTextFileSync("/proc/stat"));
  const [busyMs, atMs] = [busy(), performance.now()];
  return () => (busy() - busyMs) / (performance.now() - atMs);
}
