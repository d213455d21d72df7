/**
 * One cell of the grid on the running kernel.
 *
 * @module
 */
import { growth, type LevelCounters } from "../../../tests/host/level_counters.ts";
import type { GroupFactory, Level, OwnGroups } from "./cgroup.ts";
import type { Cell } from "./grid.ts";
import type { LoadThreads } from "./load_threads.ts";
import { machineUsageMs, tickOf, timerInterrupts } from "./tick.ts";

/** Growth of the counters over a stretch of time. */
export interface KernelRun {
  readonly wallMs: number;
  readonly pod: LevelCounters;
  readonly container: LevelCounters;
  /** Why it does not count: something else ran, too, or a look came late. */
  readonly disturbed: boolean;
}

/** With what a cell is run. */
export interface KernelTools {
  readonly factory: GroupFactory;
  readonly load: LoadThreads;
}

const PERIOD_MS = 100;
/** From the orders to the first work, ms: each process has read its order by then. */
const LEAD_MS = 20;
/** A debt of a whole tick and more is paid in as many periods as it takes; none takes longer here. */
const LONGEST_PAUSE = 9 * PERIOD_MS;
/** Of the CPUs' time, what everybody else may use. */
const OTHERS = 0.02;
/** Between two looks at the counters, when one of them is awaited, ms. */
const LATE_MS = 6;

/** Runs the cell once, in cgroups of its own: the kernel draws where in the period each begins. */
export async function runOnKernel(
  { threads, quota, levels, busyMs, cycleMs, warmUpMs, wallMs }: Cell,
  { factory, load }: KernelTools,
): Promise<KernelRun> {
  using groups = factory.make();
  groups.setQuota("pod", levels === 2 ? quota : undefined);
  groups.setQuota("container", quota);
  groups.move(load.pids.slice(0, threads), "container");
  const { clocks } = load;
  const startMs = clocks.monotonic() + LEAD_MS;
  const edgeMs = quota < 50 ? LONGEST_PAUSE : 1.1 * PERIOD_MS;
  const stopMs = startMs + warmUpMs + wallMs + 2 * edgeMs;
  // Its failure waits until it is asked for: the cgroups have to go first.
  const failure = load.run(threads, { startMs, stopMs, busyMs, cycleMs }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const before = await atRelease(groups, { clocks, fromMs: startMs + warmUpMs, edgeMs });
  const after = await atRelease(groups, { clocks, fromMs: before.atMs + wallMs, edgeMs });
  for (const level of ["pod", "container"] as const) groups.setQuota(level, undefined);
  const failed = await failure;
  if (failed !== undefined) throw failed;
  groups.move(load.pids.slice(0, threads), "outside");
  const run = {
    wallMs: after.atMs - before.atMs,
    pod: growth(before.pod, after.pod),
    container: growth(before.container, after.container),
  };
  const others = after.machineMs - before.machineMs - run.container.usageMs;
  const allowed = Math.max(30, OTHERS * navigator.hardwareConcurrency * run.wallMs);
  return { ...run, disturbed: before.late || after.late || others > allowed };
}

type Look = Readonly<Record<Level, LevelCounters>> & {
  readonly atMs: number;
  readonly machineMs: number;
  readonly late: boolean;
};

/**
 * Looks right after threads were let go, the first time from `fromMs` on: a pause is counted when it
 * ends. Where no thread is released for `edgeMs`, none was held.
 */
async function atRelease(
  groups: OwnGroups,
  { clocks, fromMs, edgeMs }: {
    clocks: LoadThreads["clocks"];
    fromMs: number;
    edgeMs: number;
  },
): Promise<Look> {
  await sleep(fromMs - clocks.monotonic());
  const { throttledMs } = groups.read("container");
  for (let last = clocks.monotonic();;) {
    await sleep(1);
    const container = groups.read("container");
    const pod = groups.read("pod");
    const atMs = clocks.monotonic();
    if (container.throttledMs !== throttledMs || atMs > fromMs + edgeMs) {
      const machineMs = machineUsageMs(await Deno.readTextFile("/proc/stat"));
      return { atMs, container, pod, machineMs, late: atMs - last > LATE_MS };
    }
    last = atMs;
  }
}

/** The kernel's tick, ms, seen on a CPU that is kept busy for half a second. */
export async function measureTick({ clocks, run }: LoadThreads): Promise<number> {
  const startMs = clocks.monotonic() + LEAD_MS;
  const interrupts = async (): Promise<number[]> =>
    timerInterrupts(await Deno.readTextFile("/proc/interrupts"));
  const before = await interrupts();
  await run(1, { startMs, stopMs: startMs + 500, busyMs: null, cycleMs: PERIOD_MS });
  return tickOf({ before, after: await interrupts(), ms: clocks.monotonic() - startMs });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
