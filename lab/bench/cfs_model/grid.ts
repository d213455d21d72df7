/**
 * The grid of `bench:cfs-model`: quotas from the smallest to more than a CPU, threads up to the
 * machine's CPUs (two are enough for all that the model treats differently), bursts from 2 to 210 ms.
 *
 * @module
 */

/** One scene, run on the kernel and in the model. Times in ms, quota in millicores. */
export interface Cell {
  readonly quota: number;
  readonly threads: number;
  /** 1: the container alone has the quota; 2: its pod has the same, as a kubelet sets it. */
  readonly levels: 1 | 2;
  /** CPU time of each thread's requests; null: it wants to work all the time. */
  readonly busyMs: number | null;
  /** A request comes this often: no divisor of the period, so that each phase has its turn. */
  readonly cycleMs: number;
  /** Before the measurement, and its length. */
  readonly warmUpMs: number;
  readonly wallMs: number;
}

interface Duty {
  readonly busyMs: number | null;
  readonly cycleMs: number;
  readonly wallMs: number;
}

const TINY: Duty = { busyMs: 2, cycleMs: 23, wallMs: 1500 };
const SHORT: Duty = { busyMs: 7, cycleMs: 47, wallMs: 1500 };
const RARE: Duty = { busyMs: 7, cycleMs: 211, wallMs: 4000 };
const HALF: Duty = { busyMs: 42, cycleMs: 93, wallMs: 1500 };
const LONG: Duty = { busyMs: 210, cycleMs: 433, wallMs: 2600 };
const ALWAYS: Duty = { busyMs: null, cycleMs: 100, wallMs: 900 };

type Row = readonly [quota: number, threads: number, duties: readonly Duty[], levels?: 1 | 2];

/** Of a quota of 1 ms a period a CPU takes four and more, then pauses as long: few events a second. */
const SLOW = { wallMs: 4000 };

const FULL: readonly Row[] = [
  [10, 1, [{ ...SHORT, ...SLOW }, { ...ALWAYS, ...SLOW }]],
  [10, 2, [{ ...ALWAYS, ...SLOW }]],
  [50, 1, [SHORT, RARE, HALF, LONG, ALWAYS]],
  [50, 2, [SHORT, HALF, LONG, ALWAYS]],
  [100, 1, [TINY, SHORT, HALF, LONG, ALWAYS]],
  [100, 2, [SHORT, HALF, LONG, ALWAYS]],
  [200, 1, [HALF, LONG, ALWAYS]],
  [200, 2, [TINY, SHORT, HALF, LONG, ALWAYS]],
  // Demand 452m.
  [500, 1, [HALF, LONG, ALWAYS]],
  [500, 2, [HALF, LONG, ALWAYS]],
  [1000, 1, [ALWAYS]],
  // Demand 903m.
  [1000, 2, [HALF, LONG, ALWAYS]],
  [1500, 2, [LONG, ALWAYS]],
  // Just what they want.
  [2000, 2, [ALWAYS]],
  [100, 1, [SHORT], 2],
  [200, 2, [HALF], 2],
  [500, 1, [HALF, ALWAYS], 2],
];

const QUICK: readonly Row[] = [
  [50, 1, [SHORT, HALF]],
  [100, 2, [SHORT]],
  [200, 2, [LONG, ALWAYS]],
  [500, 1, [HALF, ALWAYS]],
  [1500, 2, [ALWAYS]],
  [500, 1, [ALWAYS], 2],
];

/** The cells that so many CPUs can run at once. */
export function grid({ quick, cpus }: { quick: boolean; cpus: number }): Cell[] {
  return (quick ? QUICK : FULL).filter(([, threads]) => threads <= cpus).flatMap(
    ([quota, threads, duties, levels = 1]) =>
      duties.map((duty) => ({ quota, threads, levels, warmUpMs: 200, ...duty })),
  );
}

/** The load as text. */
export function loadName({ busyMs, cycleMs }: Cell): string {
  return busyMs === null ? "always" : `${busyMs} of ${cycleMs} ms`;
}
