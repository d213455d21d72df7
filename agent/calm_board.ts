/**
 * The look at pods whose quotas are far away: most pods, most of the time.
 *
 * One counter a container is all there is to read of them. After a quarter of a second of other
 * programs little of ours is left in the CPU's caches, so a look takes as long as it touches memory:
 * what is compared at each look stands in columns, and a pod itself is touched once a second, when
 * there is something to tell of it. Version 1 only: version 2 has no such counter.
 *
 * @module
 */
import { fadeMemory, roomAfterCalm } from "../shared/cgroup/held_back.ts";
import { SHORTEST_INTERVAL_MS } from "../shared/cgroup/interval.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import type { CounterRows } from "../shared/cgroup/tree.ts";
import { mostCalmUsage } from "./calm_interval.ts";
import { ON_TIME } from "./on_time.ts";
import type { WatchedContainer, WatchedPod } from "./watched_pod.ts";

/** What a board works with. */
export interface CalmBoardOptions {
  /** The usage counters of the containers on the board. */
  readonly counters: CounterRows;
  /** CPUs of the node. */
  readonly cores: number;
  /** Looks are at least this far apart, ms. */
  readonly calmMs: number;
}

/** Pods that are looked at together. */
export interface CalmBoard {
  readonly pods: ReadonlySet<WatchedPod>;
  /**
   * Puts a pod on the board that was just looked at and found calm; false when it was not. It stays
   * until it is not calm any more, or `dueAt` has come, monotonic ms.
   */
  add(pod: WatchedPod, dueAt: number): boolean;
  /** Takes a pod off, with all that the board has seen of it; false when it was not there. */
  remove(pod: WatchedPod): boolean;
  /** Looks at a monotonic time, if that is due. What is returned is good until the next look. */
  look(at: number): CalmLook;
}

/** What a look brought. */
export interface CalmLook {
  /** Pods to be looked at in full: they were taken off the board, as the look before had left them. */
  readonly awake: readonly WatchedPod[];
  /** New samples, each of the whole time since the container's last one. */
  readonly told: readonly ContainerSample[];
}

/** A longer interval is left to the path that checks everything. */
const LONGEST_CALM_MS = 5000;
/** Containers on the board are told of this often, however often they are looked at. */
export const CALM_SAMPLE_MS = 1000;
const NS_PER_MS = 1e6;

/** An empty board. */
export function createCalmBoard({ counters, cores, calmMs }: CalmBoardOptions): CalmBoard {
  const pods = new Set<WatchedPod>();
  const containers: WatchedContainer[] = [];
  const rowOf = new Map<WatchedContainer, number>();
  const owners: WatchedPod[] = [];
  // By row: usage now and at the look before, the most of it in one interval, ns; when to leave, ms.
  let columns = columnsFor(64);
  const awake: WatchedPod[] = [];
  const told: ContainerSample[] = [];
  const outcome: CalmLook = { awake, told };
  let lookedAt = -Infinity;
  let toldAt = -Infinity;

  const append = (container: WatchedContainer, pod: WatchedPod, dueAt: number): void => {
    const row = containers.length;
    if (row === columns.before.length) columns = grown(columns);
    counters.add(container.files.usage);
    containers.push(container);
    owners.push(pod);
    rowOf.set(container, row);
    columns.before[row] = (container.previous?.usageMs ?? NaN) * NS_PER_MS;
    columns.most[row] = mostCalmUsage(container) * NS_PER_MS;
    columns.dueAt[row] = dueAt;
  };

  const drop = (container: WatchedContainer): void => {
    const row = rowOf.get(container);
    if (row === undefined) return;
    const [last, owner] = [containers.pop(), owners.pop()];
    if (last === undefined || owner === undefined) return;
    counters.removeAt(row);
    rowOf.delete(container);
    if (last === container) return;
    containers[row] = last;
    owners[row] = owner;
    rowOf.set(last, row);
    const from = containers.length;
    for (const column of Object.values(columns)) column[row] = column[from] ?? NaN;
  };

  /** Brings a pod up to the last look. */
  const note = (pod: WatchedPod): void => {
    const before = pod.lookedAt ?? lookedAt;
    // It came after that look.
    if (before >= lookedAt) return;
    for (const container of pod.limited) {
      const { previous } = container;
      const row = rowOf.get(container);
      if (previous === undefined || row === undefined) continue;
      const usageMs = (columns.before[row] ?? NaN) / NS_PER_MS;
      if (!container.stray) pod.inferredMs += usageMs - previous.usageMs;
      previous.at = lookedAt;
      previous.usageMs = usageMs;
      container.inferred = true;
      container.roomMs = roomAfterCalm(cores);
    }
    pod.lookedAt = lookedAt;
    pod.memory = fadeMemory(pod.memory, lookedAt - before);
  };

  const remove = (pod: WatchedPod): boolean => {
    if (!pods.delete(pod)) return false;
    note(pod);
    for (const container of pod.limited) drop(container);
    return true;
  };

  const tell = (): void => {
    for (const pod of pods) note(pod);
    for (const container of containers) {
      if (tellQuiet(container, lookedAt) && container.sample !== undefined) {
        told.push(container.sample);
      }
    }
  };

  return {
    pods,
    add(pod, dueAt) {
      if (pods.has(pod) || !isCalm(pod)) return false;
      pods.add(pod);
      for (const container of pod.limited) append(container, pod, dueAt);
      return true;
    },
    remove,
    look(at) {
      awake.length = 0;
      told.length = 0;
      const sinceMs = at - lookedAt;
      if (sinceMs >= 0 && sinceMs < calmMs * ON_TIME) return outcome;
      if (sinceMs >= 0 && sinceMs <= LONGEST_CALM_MS) {
        const { values, before, most, dueAt } = columns;
        counters.read(values);
        for (let row = 0; row < containers.length; row++) {
          const used = (values[row] ?? NaN) - (before[row] ?? NaN);
          // Also what is no number fails this.
          const stays = used >= 0 && used < (most[row] ?? 0) && at < (dueAt[row] ?? 0);
          const pod = owners[row];
          if (!stays && pod !== undefined && awake.at(-1) !== pod) awake.push(pod);
        }
      } else awake.push(...pods);
      for (const pod of awake) remove(pod);
      columns.before.set(columns.values);
      lookedAt = at;
      if (at - toldAt >= CALM_SAMPLE_MS * ON_TIME || at < toldAt) {
        toldAt = at;
        tell();
      }
      return outcome;
    },
  };
}

type Columns = Readonly<Record<"values" | "before" | "most" | "dueAt", Float64Array>>;

function columnsFor(rows: number): Columns {
  const column = () => new Float64Array(rows);
  return { values: column(), before: column(), most: column(), dueAt: column() };
}

function grown(old: Columns): Columns {
  const larger = columnsFor(2 * old.before.length);
  larger.values.set(old.values);
  larger.before.set(old.before);
  larger.most.set(old.most);
  larger.dueAt.set(old.dueAt);
  return larger;
}

/** Whether all containers with a quota were calm at the pod's last look, and there are any. */
function isCalm({ restless, lookedAt, limited, containers }: WatchedPod): boolean {
  return !restless && limited.length > 0 && limited.every((container) => {
    const { calm, quota, previous, sample, files } = container;
    return calm && quota !== undefined && sample !== undefined && files.version === 1 &&
      previous?.at === lookedAt && containers.get(container.id) === container;
  });
}

/** A new sample of the time since the last one, in which nothing was throttled. */
function tellQuiet(container: WatchedContainer, at: number): boolean {
  const { sample, quota, previous, sampledMs } = container;
  if (sample === undefined || quota === undefined || previous === undefined) return false;
  const intervalMs = at - sample.at;
  if (intervalMs < SHORTEST_INTERVAL_MS) return false;
  container.sampledMs = previous.usageMs;
  container.sample = {
    podUID: sample.podUID,
    containerID: container.id,
    at,
    intervalMs,
    usage: (previous.usageMs - sampledMs) / intervalMs * 1000,
    heldBack: 0,
    periods: 0,
    throttledPeriods: 0,
    quota,
  };
  return true;
}
