/**
 * What the running machine is like, as far as quotas go: the kernel's name and its tick.
 *
 * @module
 */

/** What CONFIG_HZ can be. */
const RATES = [100, 250, 300, 1000];

/** Interrupts of each CPU's own timer so far, from the text of /proc/interrupts. */
export function timerInterrupts(text: string): number[] {
  const line = text.split("\n").find((one) => /^\s*LOC:|arch_timer/.test(one)) ?? "";
  const numbers = line.replace(/^[^:]*:/, "").trim().split(/\s+/);
  const end = numbers.findIndex((number) => !/^\d+$/.test(number));
  return numbers.slice(0, end < 0 ? undefined : end).map(Number);
}

/**
 * The time between two ticks, ms, by what the busiest CPU's timer did in `ms` of work: other timers'
 * interrupts come on top, so the rate next to it counts. Throws an `Error` without any interrupts.
 */
export function tickOf(
  { before, after, ms }: { before: readonly number[]; after: readonly number[]; ms: number },
): number {
  const perSecond = Math.max(...after.map((count, cpu) => count - (before[cpu] ?? 0))) / ms * 1000;
  if (!(perSecond > 0)) {
    throw new Error(`Cannot measure the tick: ${perSecond} interrupts a second`);
  }
  const distance = (rate: number): number => Math.abs(Math.log(rate / perSecond));
  return 1000 / RATES.reduce((best, rate) => distance(rate) < distance(best) ? rate : best);
}

/** CPU time of everybody since the start, ms, from the text of /proc/stat (proc_stat(5)). */
export function machineUsageMs(text: string): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] =
    text.split("\n", 1)[0]?.split(/\s+/).map(Number) ?? [];
  return (user + nice + system + irq + softirq + steal) * 10;
}
