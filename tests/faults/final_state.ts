/**
 * Which limits pods must have once the product has had its time.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { isOfMarket } from "./carried_limits.ts";
import { templateLimit } from "./cluster/cluster_load.ts";
import { ceilingOf, QUOTA, quotaUsed } from "./cluster/cluster_rules.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { Violation } from "./invariants.ts";
import { PLACED, readyOnDemand } from "./cluster/placed_workload.ts";
import { RECOMMENDED, RIGHTSIZED } from "./cluster/rightsized_workload.ts";

/** Which pods are looked at. */
export type Chosen = (pod: Pod) => boolean;

/** Changes of a pod in the last minute, where limits follow demand. */
const MOST_TIGHT_CHANGES = 4;
/** A record that was written since may not be settled, ms. */
const SETTLED_MS = 5000;
/** What rounding may leave of a quota, millicores. */
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

/** What pods and records are, and how often each was written so far. */
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
