/**
 * What must hold when a controller changes the limit of a container.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { carriedLimit, isOfMarket } from "./carried_limits.ts";
import { templateLimit } from "./cluster/cluster_load.ts";
import { ceilingOf, floorOf } from "./cluster/cluster_rules.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { Actor } from "./cluster/faulty_client.ts";
import { RECOMMENDED, RIGHTSIZED } from "./cluster/rightsized_workload.ts";

/** Notes a broken promise. */
export type Violate = (invariant: string, message: string) => void;

/** A limit that a controller changes. */
export interface LimitWrite {
  readonly actor: Actor;
  /** When the present leader began to lead, monotonic ms. */
  readonly termMs: number;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** Of the container in the pod. */
  readonly index: number;
  readonly previous: PodContainer;
}

/** The controller's copies that decide whether a pod takes part and within which bounds. */
const DECISIVE: ReadonlyMap<string, KindName> = new Map([
  ["pods", "Pod"],
  ["namespaces", "Namespace"],
  ["nodes", "Node"],
  ["limitRanges", "LimitRange"],
  ["resourceQuotas", "ResourceQuota"],
  ["horizontalPodAutoscalers", "HorizontalPodAutoscaler"],
  ["verticalPodAutoscalers", "VerticalPodAutoscaler"],
]);
/** A watch of which the server says that it is broken is known to be so after this, ms. */
const KNOWN_BROKEN_MS = 1000;
/** Desired limits of this age, ms, count only where the agent cleared under the same leader. */
const EXPIRED_MS = 31_000;

/** Checks the write against what its sender knew, and against what users set. */
export function checkLimitWrite(
  cluster: FaultCluster,
  write: LimitWrite,
  violate: Violate,
): void {
  const { actor: { known }, pod, container, index, previous } = write;
  const { uid } = pod.metadata;
  const change = `${objectKey(pod.metadata)}: ${previous.limits.cpu}m -> ${container.limits.cpu}m`;
  const seen = known.pod?.containers.find(({ name }) => name === container.name);
  if (seen?.limits.cpu !== previous.limits.cpu || known.pod?.metadata.uid !== uid) {
    violate("UnseenLimit", `${change}, its sender had seen ${seen?.limits.cpu}m`);
  }
  const own = cluster.users.limitOf(uid, container.name);
  if (own !== undefined && carriedLimit(container, index) === own) cluster.users.find(uid);
  const isLost = cluster.users.isLost(uid);
  if (isLost && templateLimit(pod) === undefined) violate("UnknownMoved", change);
  if (!isOfMarket(container)) return;
  const limit = container.limits.cpu ?? 0;
  if (limit > ceilingOf(pod, own ?? Infinity) && !isLost) violate("Ceiling", change);
  if (limit < floorOf(pod)) violate("HPAFloor", change);
  if (limit === own && !isLost) violate("MarketName", `${change} is the original limit`);
  // Rightsizing looks at workloads each interval, on copies that are as old as that at times.
  const unsynced = limit === withRequest(pod) ? [] : unsyncedCopies(cluster, write.actor);
  if (limit > (previous.limits.cpu ?? 0) && unsynced.length > 0) {
    violate("RaisedOutOfSync", `${change} while out of sync: ${unsynced.join(", ")}`);
  }
  if (known.record === undefined) violate("NoRecord", change);
  else checkAgainstRecord(cluster, { ...write, record: known.record, change }, violate);
}

/** Copies that their process knows, or must know, to be out of sync. */
function unsyncedCopies(
  { schedule, processes }: FaultCluster,
  { process, known, sentMs }: Actor,
): readonly string[] {
  const { process: life } = processes.get(process) ?? {};
  const isAwake = sentMs - (life?.pausedUntilMs ?? -Infinity) > KNOWN_BROKEN_MS;
  const isBroken = (kind: KindName): boolean =>
    isAwake && schedule.freeze(process, kind, sentMs) === undefined &&
    schedule.listsFail(process, kind, sentMs) &&
    schedule.listsFail(process, kind, sentMs - KNOWN_BROKEN_MS);
  return [...DECISIVE].flatMap(([copy, kind]) =>
    known.unsynced.includes(copy) || isBroken(kind) ? [copy] : []
  );
}

/** The limit that a request which rightsizing raises takes along, millicores: it is patched first. */
function withRequest({ metadata }: Pod): number {
  return metadata.namespace === RIGHTSIZED.namespace ? RECOMMENDED.after : 0;
}

/** A limit of the market's goes towards what the agent wants, by the bounds in force, within them. */
function checkAgainstRecord(
  cluster: FaultCluster,
  { actor, termMs, pod, container, previous, record, change }: LimitWrite & {
    readonly record: PodAllocation;
    readonly change: string;
  },
  violate: Violate,
): void {
  const { spec: { containers, market }, status: { bounds } = {} } = record;
  const limit = container.limits.cpu ?? 0;
  const before = previous.limits.cpu ?? 0;
  const within = (a: number, b: number): boolean =>
    limit >= Math.min(before, a, b) && limit <= Math.max(before, a, b);
  if (market?.observedBounds !== bounds?.revision) {
    const revisions = `bounds ${market?.observedBounds} of ${bounds?.revision}`;
    violate("StaleBounds", `${change} by a clearing with ${revisions}`);
  }
  const bound = bounds?.containers.find(({ name }) => name === container.name);
  if (bound === undefined || !within(bound.floor, bound.ceiling)) {
    violate("OutsideBounds", `${change}, bounds ${bound?.floor}m to ${bound?.ceiling}m`);
  }
  const wanted = containers?.find(({ name }) => name === container.name)?.cpuLimit;
  const goal = Math.min(parseCPU(wanted ?? "0"), bound?.ceiling ?? Infinity);
  const least = bound === undefined ? Infinity : Math.max(bound.floor, withRequest(pod));
  if (wanted === undefined || !within(goal, Math.max(goal, least))) {
    violate("NotWanted", `${change}, the agent wants ${wanted}`);
  }
  const clocksJump = cluster.faults.some(({ fault }) => fault === "clockJump");
  const ageMs = cluster.clock.wall() - Date.parse(market?.clearedAt ?? "");
  const sentAgeMs = ageMs - (cluster.clock.monotonic() - actor.sentMs);
  const ageInTermMs = sentAgeMs - (actor.sentMs - termMs);
  if (!clocksJump && sentAgeMs > EXPIRED_MS && ageInTermMs > EXPIRED_MS) {
    violate("OldDesired", `${change}, cleared ${ageInTermMs} ms before its sender led`);
  }
}
