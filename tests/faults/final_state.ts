/**
 * Checks of resizes at any time, and of the cluster in the end, when all faults are over.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { RECOMMENDED, RIGHTSIZED, templateLimit } from "./cluster/cluster_load.ts";
import {
  ceilingOf,
  floorOf,
  PLACED,
  QUOTA,
  quotaUsed,
  readyOnDemand,
} from "./cluster/cluster_rules.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { Violation } from "./invariants.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import type { Actor } from "./cluster/faulty_client.ts";

/** Which pods are looked at. */
export type Chosen = (pod: Pod) => boolean;

/** Changes of a pod in the last minute, where limits follow demand. */
const MOST_TIGHT_CHANGES = 4;
/** A record that was written since may not be settled, ms. */
const SETTLED_MS = 5000;
/** Quota that rounding may leave, millicores. */
const QUOTA_REST = 20;

/** All but those of placement, which has no part in the market. */
function marketPods({ store }: FaultCluster["api"]): readonly Pod[] {
  return store.tables.Pod.all().filter(({ metadata }) => metadata.namespace !== PLACED.namespace);
}

/** While CPU is free every limit is at its ceiling; those under a quota share it. */
export function checkCeilings(
  { api, users, clock }: FaultCluster,
  chosen: Chosen,
): Violation[] {
  const atMs = clock.monotonic();
  const found: Violation[] = [];
  const isOfQuota: Chosen = ({ metadata: { namespace } }) => namespace === QUOTA.namespace;
  const pods = marketPods(api).filter(chosen);
  for (const pod of pods) {
    const { uid } = pod.metadata;
    if (users.isLost(uid) || isOfQuota(pod)) continue;
    for (const { name, limits: { cpu: limitCPU } } of pod.containers) {
      const ceiling = ceilingOf(pod, users.limitOf(uid, name) ?? 0);
      if (limitCPU === ceiling) continue;
      const message = `${objectKey(pod.metadata)}: ${limitCPU}m instead of ${ceiling}m`;
      found.push({ invariant: "NotAtCeiling", atMs, message });
    }
  }
  const counted = marketPods(api).filter(isOfQuota);
  const isShared = pods.some(isOfQuota) &&
    !counted.some(({ metadata }) => users.isLost(metadata.uid));
  const used = quotaUsed(api.store);
  // Room for one more pod is kept.
  const kept = Math.max(
    ...counted.flatMap(({ metadata: { uid }, containers }) =>
      containers.map(({ name }) => users.limitOf(uid, name) ?? 0)
    ),
  );
  if (isShared && Math.abs(QUOTA.hard - kept - used) > QUOTA_REST) {
    const message = `${used}m of ${QUOTA.hard}m in ${QUOTA.namespace}, ${kept}m are kept`;
    found.push({ invariant: "QuotaUnused", atMs, message });
  }
  return found;
}

/** Outside of the market every limit is the user's, under a user's name, or its loss is reported. */
export function checkRestored({ api, users, clock }: FaultCluster, chosen: Chosen): Violation[] {
  const { PodAllocation: records } = api.store.tables;
  const atMs = clock.monotonic();
  const found: Violation[] = [];
  for (const pod of marketPods(api).filter(chosen)) {
    const { uid, namespace } = pod.metadata;
    const record = records.get(`${namespace}/${uid}`);
    const { reason = "no record" } = record?.status ?? {};
    const key = objectKey(pod.metadata);
    for (const container of pod.containers) {
      const { name, limits: { cpu: limitCPU }, applied: { limits: { cpu: appliedLimitCPU } } } =
        container;
      const own = users.limitOf(uid, name);
      if (users.isLost(uid)) {
        const template = templateLimit(pod);
        if (template === undefined ? reason === "OriginalUnknown" : limitCPU === template) continue;
      } else if (limitCPU === own && appliedLimitCPU === own && !isOfMarket(container)) {
        if (record === undefined) continue;
        found.push({ invariant: "RecordLeft", atMs, message: `${key} is restored` });
        continue;
      }
      const message = `${key}: ${limitCPU}m (applied ${appliedLimitCPU}m) instead of ${own}m, ` +
        `${container.limitManagers}, ${reason}`;
      found.push({ invariant: "NotRestored", atMs, message });
    }
  }
  return found;
}

/** Pods of the market have records that say what is, also while limits follow demand. */
export function checkRecords(cluster: FaultCluster, chosen: Chosen): Violation[] {
  const found: Violation[] = [];
  for (const pod of marketPods(cluster.api).filter(chosen)) {
    if (cluster.users.isLost(pod.metadata.uid)) continue;
    checkRecord(cluster, { pod, isFree: false, before: new Map() }, (invariant, message) => {
      found.push({ invariant, message, atMs: cluster.clock.monotonic() });
    });
  }
  return found;
}

/** How often each pod and record was written so far, by UID. */
export type WriteCounts = ReadonlyMap<string, number>;

/** The generation of each pod, and the version of each record, by UID. */
export function writeCounts({ api: { store: { tables } } }: FaultCluster): WriteCounts {
  const counts = new Map<string, number>();
  for (const { metadata } of tables.Pod.all()) counts.set(metadata.uid, metadata.generation ?? 0);
  for (const { metadata } of tables.PodAllocation.all()) {
    counts.set(metadata.uid, Number(metadata.resourceVersion));
  }
  return counts;
}

/** Where CPU is free every limit is at its ceiling and stays there; `tight` follows demand. */
export function checkQuiet(
  cluster: FaultCluster,
  { isFree, optedOut, before }: {
    readonly isFree: boolean;
    readonly optedOut: ReadonlySet<string>;
    /** A minute ago. */
    readonly before: WriteCounts;
  },
): Violation[] {
  const { api, users, clock } = cluster;
  const found: Violation[] = [];
  const violate = (invariant: string, message: string): void =>
    void found.push({ invariant, message, atMs: clock.monotonic() });
  const isOut: Chosen = ({ metadata: { namespace } }) => optedOut.has(namespace);
  found.push(...checkRestored(cluster, isOut));
  if (isFree) found.push(...checkCeilings(cluster, (pod) => !isOut(pod)));
  for (const pod of marketPods(api)) {
    const { uid, namespace, generation = 0 } = pod.metadata;
    const name = objectKey(pod.metadata);
    const changes = generation - (before.get(uid) ?? 0);
    if (changes > (isFree ? 0 : MOST_TIGHT_CHANGES)) {
      violate("NotSteady", `${name} changed ${changes} times in the last minute`);
    }
    const [container] = pod.containers;
    if (namespace === RIGHTSIZED.namespace && container?.requests.cpu !== RECOMMENDED.after) {
      violate("WrongRequest", `${name}: ${container?.requests.cpu}m, not ${RECOMMENDED.after}m`);
    }
    if (!isOut(pod) && !users.isLost(uid)) checkRecord(cluster, { pod, isFree, before }, violate);
  }
  const onDemand = readyOnDemand(api);
  if (onDemand !== PLACED.onDemand) {
    violate("WrongSplit", `${onDemand} of ${PLACED.replicas} are on on-demand nodes`);
  }
  if (cluster.service.mutators().length === 0) {
    violate("NoEndpoint", "the Service of the webhook leads to no replica that serves it");
  }
  return found;
}

/** When the record of this UID was last written, ms; -Infinity where that is forgotten. */
function lastWriteMs({ store }: FaultCluster["api"], uid: string): number {
  const { log } = store.tables.PodAllocation;
  try {
    for (let at = log.after(store.version()) - 1; at >= 0; at--) {
      const entry = log.at(at);
      if (entry?.object.metadata.uid === uid) return entry.atMs;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return -Infinity;
}

/** The record of a pod that takes part says what is, and while CPU is free is not written. */
function checkRecord(
  { api, users, clock }: FaultCluster,
  { pod, isFree, before }: {
    readonly pod: Pod;
    readonly isFree: boolean;
    readonly before: WriteCounts;
  },
  violate: (invariant: string, message: string) => void,
): void {
  const { uid, namespace } = pod.metadata;
  const key = objectKey(pod.metadata);
  const record = api.store.tables.PodAllocation.get(`${namespace}/${uid}`);
  if (record === undefined) return violate("NoRecord", key);
  const { metadata, spec, status: { bounds, phase, reason, originalLimits } = {} } = record;
  const atMs = clock.monotonic();
  if (isFree && (before.get(metadata.uid) ?? 0) < Number(metadata.resourceVersion)) {
    violate("NotSilent", `record of ${key} was written in the last minute`);
  }
  if (atMs - lastWriteMs(api, metadata.uid) < SETTLED_MS) return;
  const [container] = pod.containers;
  const limit = container?.limits.cpu ?? 0;
  const isHeld = phase === "Pending" && reason !== undefined;
  const text = `${key} at ${limit}m, wanted ${spec.desiredCPULimit}, ${phase} ${reason}`;
  const wanted = spec.desiredCPULimit ?? "0";
  if (parseCPU(wanted) !== limit && !isHeld) violate("NotWanted", text);
  if (phase !== "Applied" && (isFree || !isHeld)) violate("NotApplied", text);
  if (spec.market?.observedBounds !== bounds?.revision) violate("StaleBounds", text);
  const [bound] = bounds?.containers ?? [];
  if (bound === undefined || limit < bound.floor || limit > bound.ceiling) {
    if (!isHeld) violate("OutsideBounds", `${text}, ${bound?.floor}m to ${bound?.ceiling}m`);
  }
  const own = users.limitOf(uid, container?.name ?? "");
  const [kept] = originalLimits ?? [];
  if (parseCPU(kept?.cpu ?? "0") !== own) {
    violate("WrongOriginal", `${text}: ${kept?.cpu}, not ${own}m`);
  }
}

/** Notes a broken promise. */
export type Violate = (invariant: string, message: string) => void;

/** A limit that a controller changes. */
export interface LimitWrite {
  readonly actor: Actor;
  /** When the present leader began to lead, monotonic ms. */
  readonly termMs: number;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** The container's index in the pod. */
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

/** True for a limit that the market has set: no other client manages it. */
export function isOfMarket({ limitManagers = [] }: PodContainer): boolean {
  return limitManagers.length > 0 && limitManagers.every((name) => /^mbcas(\/|$)/.test(name));
}

/** The original limit that the pod itself has for its container at `index`, millicores. */
export function carriedLimit(container: PodContainer, index: number): number | undefined {
  if (!isOfMarket(container)) return container.limits.cpu;
  const text = container.limitManagers?.[0]?.split("/")[1]?.split(",")[index] ?? "";
  return text === "" ? undefined : parseCPU(text);
}
