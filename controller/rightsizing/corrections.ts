/**
 * Corrections that no usage source has: OOM kills, and the CPU demand that the market measured. They outlive the
 * process.
 *
 * @module
 */
import * as z from "zod";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import {
  type CheckpointStore,
  createPersistedMap,
  type PersistedMap,
} from "../../shared/control/persisted_map.ts";
import { defined } from "../../shared/defined.ts";
import type { Log } from "../../shared/log.ts";
import { countableCPU } from "../../shared/quantity.ts";
import {
  bytesBeforeOOM,
  type Corrections,
  type OOMKill,
  type Throttling,
} from "../../shared/rightsizing/recommend.ts";

/** A workload's pods and allocations now. */
export interface ObservedWorkload {
  readonly pods: readonly Pod[];
  readonly allocations: readonly PodAllocation[];
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly windowMs: number;
  /** When values were last applied to the workload, ms since 1970. @default never */
  readonly lastAppliedMs?: number;
}

/** OOM kills of a workload, and samples of its demand, the oldest first. */
export interface WorkloadCorrections {
  readonly kills: readonly SeenKill[];
  readonly samples: readonly DemandSample[];
}

/** A kill of a container of the pod of this UID. */
export interface SeenKill extends OOMKill {
  readonly pod: string;
  readonly container: string;
  /** Ms since 1970, as the kubelet reported. */
  readonly atMs: number;
}

/** The market's demand at a time, ms since 1970. */
export interface DemandSample {
  readonly atMs: number;
  /** By container that demanded more than its limit: millicores, of the pod that demanded most. */
  readonly wanted: ReadonlyMap<string, number>;
}

/** Samples of a workload in a window: one every three minutes in a day. */
const MOST_SAMPLES = 480;
/** Fewer samples are not enough for a share of throttled time. */
const LEAST_SAMPLES = 4;
/** The latest kills of a workload that are persisted, in 15 kB of JSON. */
const MOST_KILLS = 200;
/** The kubelet reports whole seconds, rounded down: the kill was up to so much later, ms. */
const REPORTED_WITHIN_MS = 1000;

type CorrectionMap = Pick<
  PersistedMap<WorkloadCorrections>,
  "get" | "set" | "delete" | "entries"
>;

/** Observes corrections; `workloads` has them by key of the workload. */
export class CorrectionMemory {
  readonly #workloads: CorrectionMap;

  constructor(workloads: CorrectionMap = new Map()) {
    this.#workloads = workloads;
  }

  /**
   * Adds the kills and the demand of the workload now, and returns the corrections within the window, by
   * container. Earlier kills of deleted pods count, too.
   */
  observe(
    workload: string,
    { pods, allocations, nowMs, windowMs, lastAppliedMs = -Infinity }: ObservedWorkload,
  ): ReadonlyMap<string, Corrections> {
    const before = this.#workloads.get(workload) ?? { kills: [], samples: [] };
    const sinceMs = nowMs - windowMs;
    const kills = addKills(before.kills, podKills(pods, lastAppliedMs))
      .filter(({ atMs }) => atMs > sinceMs);
    const samples = addSample(before.samples, { allocations, nowMs, windowMs });
    if (kills.length === 0 && samples.length === 0) this.#workloads.delete(workload);
    else this.#workloads.set(workload, { kills, samples });
    return correctionsOf(kills, throttlingOf(samples, sinceMs));
  }

  /** Deletes all workloads but these. */
  keepOnly(keep: (workload: string) => boolean): void {
    for (const [workload] of this.#workloads.entries()) {
      if (!keep(workload)) this.#workloads.delete(workload);
    }
  }
}

function correctionsOf(
  kills: readonly SeenKill[],
  throttlings: ReadonlyMap<string, Throttling>,
): ReadonlyMap<string, Corrections> {
  const byContainer = Map.groupBy(kills, ({ container }) => container);
  const names = new Set([...byContainer.keys(), ...throttlings.keys()]);
  return new Map(Array.from(names, (name) => [
    name,
    defined({
      oomKills: byContainer.get(name)?.map(({ hadBytes, unlimited }) =>
        defined({ hadBytes, unlimited })
      ),
      throttling: throttlings.get(name),
    }),
  ]));
}

/** Adds new kills. A known kill stays as it was, since the container's memory may have been raised meanwhile. */
function addKills(known: readonly SeenKill[], seen: readonly SeenKill[]): readonly SeenKill[] {
  const keyOf = ({ pod, container, atMs }: SeenKill): string => `${pod}/${container}/${atMs}`;
  const keys = new Set(known.map(keyOf));
  return [...known, ...seen.filter((kill) => !keys.has(keyOf(kill)))];
}

function podKills(pods: readonly Pod[], lastAppliedMs: number): readonly SeenKill[] {
  return pods.flatMap(({ metadata: { uid: pod }, containers }) =>
    containers.flatMap((container) => {
      const { name, oomKilledAtMs: atMs } = container;
      if (atMs === undefined) return [];
      const memory = memoryAtKill(container, atMs + REPORTED_WITHIN_MS > lastAppliedMs);
      if (memory.hadBytes <= 0 && memory.unlimited !== true) return [];
      return [{ pod, container: name, atMs, ...memory }];
    })
  );
}

/**
 * The memory of a killed container: its limit, or without one at least its request, since a node that is short of
 * memory kills containers above their requests.
 *
 * A kill from before the last application may be the reason for it, if an earlier process has not persisted it.
 * It counts with the memory from before that raise, or each crash would raise the request once more.
 */
function memoryAtKill(
  { limits: { memory: limitMemory }, requests: { memory: requestMemory = 0 } }: PodContainer,
  isAfterApplication: boolean,
): OOMKill {
  if (!isAfterApplication) return { hadBytes: bytesBeforeOOM(requestMemory) };
  return limitMemory === undefined
    ? { hadBytes: requestMemory, unlimited: true }
    : { hadBytes: limitMemory };
}

/**
 * Adds a sample of the demand, unless the last one is too recent: samples are spread evenly over the window.
 */
function addSample(
  samples: readonly DemandSample[],
  { allocations, nowMs, windowMs }: Omit<ObservedWorkload, "pods">,
): readonly DemandSample[] {
  const sinceMs = nowMs - (samples.at(-1)?.atMs ?? -Infinity);
  // After the clock was set back, samples go on.
  if (sinceMs >= 0 && sinceMs < windowMs / MOST_SAMPLES) return samples;
  const wanted = demandOf(allocations);
  return wanted === undefined
    ? samples
    : [...samples, { atMs: nowMs, wanted }].slice(-MOST_SAMPLES);
}

/**
 * Containers that demand more than their limits; undefined before the market has cleared any of the pods. The
 * market has one demand for a pod, which is divided over its containers in proportion to their limits.
 */
function demandOf(allocations: readonly PodAllocation[]): DemandSample["wanted"] | undefined {
  const wanted = new Map<string, number>();
  let cleared = false;
  for (const { spec: { market, desiredCPULimit, containers = [] } } of allocations) {
    const limit = desiredCPULimit === undefined ? undefined : countableCPU(desiredCPULimit);
    if (market === undefined || limit === undefined || limit === 0) continue;
    cleared = true;
    if (market.demand <= limit) continue;
    for (const { name, cpuLimit } of containers) {
      const part = (countableCPU(cpuLimit) ?? 0) * market.demand / limit;
      wanted.set(name, Math.max(wanted.get(name) ?? 0, part));
    }
  }
  return cleared ? wanted : undefined;
}

/** Throttling after `sinceMs`, by container that was throttled. */
function throttlingOf(
  samples: readonly DemandSample[],
  sinceMs: number,
): ReadonlyMap<string, Throttling> {
  const counted = samples.filter(({ atMs }) => atMs > sinceMs);
  if (counted.length < LEAST_SAMPLES) return new Map();
  const names = new Set(counted.flatMap(({ wanted }) => [...wanted.keys()]));
  return new Map(Array.from(names, (name) => {
    const amounts = counted.flatMap(({ wanted }) => wanted.get(name) ?? []).sort((a, b) => a - b);
    // The median: a single amount may be the market's trial, of up to four times the limit.
    const demand = amounts[Math.floor((amounts.length - 1) / 2)] ?? 0;
    return [name, { share: amounts.length / counted.length, demand }];
  }));
}

/** The corrections in ConfigMaps, before they are loaded. */
export function createCorrectionMap(
  { store, clock, log }: {
    readonly store: CheckpointStore;
    readonly clock: Clock;
    readonly log: Log;
  },
): PersistedMap<WorkloadCorrections> {
  return createPersistedMap<WorkloadCorrections>({
    ...{ store, clock, log },
    prefix: "mbcas-corrections-",
    holds: "kills and throttling",
    encode: storedCorrections,
    decode: (stored) => readCorrections(stored, clock.wall()),
  });
}

const name = z.string().min(1).max(253);
const amount = z.number().min(0);
const storedSchema = z.object({
  kills: z.array(z.object({
    ...{ pod: name, container: name, atMs: amount, hadBytes: amount },
    unlimited: z.literal(true).exactOptional(),
  })),
  // Seconds since the sample before, the first since 1970, and millicores by container.
  looks: z.array(z.tuple([amount, z.record(name, amount)])),
});

function storedCorrections({ kills, samples }: WorkloadCorrections): z.input<typeof storedSchema> {
  let before = 0;
  return {
    kills: kills.toSorted((a, b) => b.atMs - a.atMs).slice(0, MOST_KILLS),
    looks: samples.map(({ atMs, wanted }) => {
      // After the clock was set back, no difference is negative.
      const seconds = Math.max(before, Math.floor(atMs / 1000));
      const since = seconds - before;
      before = seconds;
      return [since, Object.fromEntries([...wanted].map(([name, cpu]) => [name, Math.round(cpu)]))];
    }),
  };
}

/** Dates samples of the future now: a clock that was ahead must not keep them for longer. */
function readCorrections(stored: unknown, nowMs: number): WorkloadCorrections {
  const { success, data, error } = storedSchema.safeParse(stored);
  if (!success) throw new SyntaxError(`Cannot read corrections: ${z.prettifyError(error)}`);
  let seconds = 0;
  const samples = data.looks.map(([since, wanted]): DemandSample => {
    seconds += since;
    return { atMs: Math.min(seconds * 1000, nowMs), wanted: new Map(Object.entries(wanted)) };
  });
  return { kills: data.kills, samples: samples.slice(-MOST_SAMPLES) };
}
