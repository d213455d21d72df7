/**
 * The last hour of nodes and pods, in typed arrays. Pure: the collector calls it with views and times.
 *
 * @module
 */
import type { NodeView } from "../../shared/view/node_view.ts";

/** Time between two samples, ms. */
export const STEP_MS = 15_000;

/** Samples of one hour. */
export const POINTS = 240;

/**
 * The series of a node. CPU in millicores, `price` per core, `changes` counts limits that moved; `throttled` and
 * `pressure` as in {@linkcode POD_SERIES}.
 */
const NODE_SERIES = [
  "capacity",
  "committed",
  "usage",
  "demand",
  "price",
  "throttled",
  "changes",
  "pressure",
] as const;

/**
 * The series of a pod. Millicores; `throttled` in ms per second, `pressure` (PSI) in percent of the 10 s
 * before: no samples with cgroup v1.
 */
const POD_SERIES = ["usage", "demand", "limit", "throttled", "pressure"] as const;

/** Series of which the highest value among several nodes counts; the others are added up. */
const HIGHEST: ReadonlySet<string> = new Set(["price", "pressure"]);

/** Samples, the oldest first, one each {@linkcode STEP_MS}; null where there is none. */
export type Samples = readonly (number | null)[];

/** Series of one hour. */
export interface HourOf<Name extends string> {
  /** Wall time of the first sample, ms. */
  readonly fromMs: number;
  readonly series: Readonly<Record<Name, Samples>>;
}

/** The hour of a node, or of several. */
export type NodeHour = HourOf<typeof NODE_SERIES[number]>;
/** The hour of a pod. */
export type PodHour = HourOf<typeof POD_SERIES[number]>;

/** A limit that moved between two samples. */
export interface LimitChange {
  /** Wall time of the later sample, ms. */
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
  readonly reason: string | undefined;
}

/**
 * Samples at `step % POINTS`, series by series. Float32: a limit of 100 cores is exact to 0.01 m.
 */
interface Ring {
  readonly values: Float32Array;
  /** Index of the reason in a list of all reasons, from 1; 0: none. */
  readonly reasons: Uint8Array;
  newest: number;
}

/** Limits that differ by less, millicores, are the same. */
const LEAST_CHANGE = 0.5;

/** Reasons that fit a byte beside 0, none. */
const MOST_REASONS = 255;

/** The history of a cluster. */
export interface History {
  /** Adds the view of a node as its sample of this time. */
  take(view: NodeView, nowMs: number): void;
  /** The hour of a node; undefined where nothing is known of it. */
  node(name: string, nowMs: number): NodeHour | undefined;
  /**
   * Sums of all nodes; price and pressure are the highest. A missing sample of a node is replaced by the one before
   * it, so that an agent which is read a little late causes no dip.
   */
  cluster(nowMs: number): NodeHour;
  /** The hour of the pod with this UID. */
  pod(uid: string, nowMs: number): PodHour | undefined;
  /** The pod's limits that moved within the hour, the newest first. */
  changes(uid: string, nowMs: number): readonly LimitChange[];
  /** Forgets nodes and pods without a sample within the hour. */
  forget(nowMs: number): void;
  /** Memory of the samples. */
  readonly bytes: number;
}

/** Beyond this many bytes new nodes and pods are not recorded: 7,800 pods on 40 nodes. */
const MOST_BYTES = 40e6;

const stepOf = (ms: number): number => Math.floor(ms / STEP_MS);

/** An empty history. */
export function createHistory(): History {
  const budget = { left: MOST_BYTES };
  const nodes = createRings(budget, { series: NODE_SERIES.length, reasons: false });
  const pods = createRings(budget, { series: POD_SERIES.length, reasons: true });
  const reasons: string[] = [];

  function reasonIndex(reason: string | undefined): number {
    if (reason === undefined) return 0;
    const known = reasons.indexOf(reason);
    if (known >= 0) return known + 1;
    return reasons.length === MOST_REASONS ? 0 : reasons.push(reason);
  }

  /** Writes the pod's sample; true if its limit moved since the last one. */
  function takePod(pod: NodeView["pods"][number], step: number): boolean {
    const ring = pods.at(pod.uid, step);
    if (ring === undefined) return false;
    const before = ring.values[2 * POINTS + slotOf(ring.newest)] ?? NaN;
    write(ring, step, [
      ...[pod.usage, pod.demand, pod.limit, pod.throttledMsPerSecond],
      percentOf(pod.cpuPressure),
    ]);
    ring.reasons[slotOf(step)] = reasonIndex(pod.reason);
    return Math.abs(pod.limit - before) >= LEAST_CHANGE;
  }

  return {
    take(view, nowMs) {
      const step = stepOf(nowMs);
      let [usage, demand, throttled, changes] = [0, 0, 0, 0];
      for (const pod of view.pods) {
        usage += pod.usage ?? 0;
        demand += pod.demand;
        throttled += pod.throttledMsPerSecond ?? 0;
        if (takePod(pod, step)) changes++;
      }
      const ring = nodes.at(view.node, step);
      if (ring === undefined) return;
      const { capacity, committed, price } = view;
      write(ring, step, [
        ...[capacity, committed, usage, demand],
        ...[price ?? Infinity, throttled, changes, percentOf(view.cpuPressure)],
      ]);
    },
    node(name, nowMs) {
      const ring = nodes.byKey.get(name);
      return ring && hourOf(NODE_SERIES, { rings: [ring], nowMs });
    },
    cluster: (nowMs) =>
      hourOf(NODE_SERIES, { rings: [...nodes.byKey.values()], nowMs, bridges: true }),
    pod(uid, nowMs) {
      const ring = pods.byKey.get(uid);
      return ring && hourOf(POD_SERIES, { rings: [ring], nowMs });
    },
    changes(uid, nowMs) {
      const ring = pods.byKey.get(uid);
      return ring === undefined ? [] : changesOf(ring, { nowMs, reasons });
    },
    forget(nowMs) {
      const oldest = stepOf(nowMs) - POINTS;
      nodes.forget(oldest);
      pods.forget(oldest);
    },
    get bytes() {
      return MOST_BYTES - budget.left;
    },
  };
}

/** Rings of one kind, by key. */
interface Rings {
  readonly byKey: ReadonlyMap<string, Ring>;
  /** The ring of this key, a new one where there is none; undefined beyond the budget. */
  at(key: string, step: number): Ring | undefined;
  /** Deletes rings without a newer sample than this step. */
  forget(oldest: number): void;
}

/** An empty set of rings, which take their bytes from the budget. */
function createRings(
  budget: { left: number },
  { series, reasons }: { readonly series: number; readonly reasons: boolean },
): Rings {
  const byKey = new Map<string, Ring>();
  const size = POINTS * (series * Float32Array.BYTES_PER_ELEMENT + (reasons ? 1 : 0));
  return {
    byKey,
    at(key, step) {
      const known = byKey.get(key);
      if (known !== undefined || budget.left < size) return known;
      const ring = {
        values: new Float32Array(series * POINTS).fill(NaN),
        reasons: new Uint8Array(reasons ? POINTS : 0),
        newest: step - 1,
      };
      byKey.set(key, ring);
      budget.left -= size;
      return ring;
    },
    forget(oldest) {
      for (const [key, { newest }] of byKey) {
        if (newest > oldest) continue;
        byKey.delete(key);
        budget.left += size;
      }
    },
  };
}

function percentOf(pressure: NodeView["cpuPressure"]): number | undefined {
  return pressure && pressure.share * 100;
}

function slotOf(step: number): number {
  return ((step % POINTS) + POINTS) % POINTS;
}

/** Writes the sample of a step, and deletes the old samples of the steps since the last one. */
function write(ring: Ring, step: number, sample: readonly (number | undefined)[]): void {
  const { values, newest } = ring;
  for (let missed = Math.max(newest + 1, step - POINTS); missed <= step; missed++) {
    for (let at = slotOf(missed); at < values.length; at += POINTS) values[at] = NaN;
    if (ring.reasons.length > 0) ring.reasons[slotOf(missed)] = 0;
  }
  sample.forEach((value, index) => values[index * POINTS + slotOf(step)] = value ?? NaN);
  ring.newest = Math.max(newest, step);
}

/** The last hour of the rings, added up. */
function hourOf<Name extends string>(
  names: readonly Name[],
  { rings, nowMs, bridges = false }: {
    readonly rings: readonly Ring[];
    readonly nowMs: number;
    /** True: the sample before stands for a missing one. */
    readonly bridges?: boolean;
  },
): HourOf<Name> {
  const first = stepOf(nowMs) - POINTS + 1;
  const slots = Int32Array.from({ length: POINTS }, (_, at) => slotOf(first + at));
  const series = names.map((name, index): [Name, Samples] => {
    const sums = new Float64Array(POINTS).fill(NaN);
    for (const { values, newest } of rings) {
      let before = NaN;
      for (let at = 0; at < POINTS; at++) {
        const sample = first + at > newest ? NaN : values[index * POINTS + (slots[at] ?? 0)] ?? NaN;
        const isBridged = bridges && name !== "changes" && Number.isNaN(sample);
        const value = isBridged ? before : sample;
        before = sample;
        if (Number.isNaN(value)) continue;
        const sum = sums[at] ?? NaN;
        if (Number.isNaN(sum)) sums[at] = value;
        else sums[at] = HIGHEST.has(name) ? Math.max(sum, value) : sum + value;
      }
    }
    return [name, Array.from(sums, (sum) => Number.isNaN(sum) ? null : sum)];
  });
  return {
    fromMs: first * STEP_MS,
    series: Object.fromEntries(series) as Record<Name, Samples>,
  };
}

function changesOf(
  ring: Ring,
  { nowMs, reasons }: { readonly nowMs: number; readonly reasons: readonly string[] },
): readonly LimitChange[] {
  const { fromMs, series } = hourOf(POD_SERIES, { rings: [ring], nowMs });
  const found: LimitChange[] = [];
  let from: number | null = null;
  for (const [at, to] of series.limit.entries()) {
    if (to === null) continue;
    if (from !== null && Math.abs(to - from) >= LEAST_CHANGE) {
      const atMs = fromMs + at * STEP_MS;
      const reason = reasons[(ring.reasons[slotOf(stepOf(atMs))] ?? 0) - 1];
      found.push({ atMs, from, to, reason });
    }
    from = to;
  }
  return found.reverse();
}
