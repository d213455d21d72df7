/**
 * Invariants of every write, whatever faults there are.
 *
 * @module
 */
import { disturbance } from "./disturbances.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { qosClassOf } from "../../shared/resize/inputs/qos.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import type { EventLog, LogEntry } from "../../lab/simulation/api/event_sink.ts";
import { carriedLimit, checkLimitWrite, isOfMarket, type Violate } from "./final_state.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { Actor } from "./cluster/faulty_client.ts";
import { PLACED, readyOnDemand, readyReplicas } from "./cluster/cluster_rules.ts";
import { RIGHTSIZED, templateLimit } from "./cluster/cluster_load.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { isLive } from "../../shared/resize/scope.ts";

/** A broken promise. */
export interface Violation {
  /** The invariant's name. */
  readonly invariant: string;
  readonly atMs: number;
  readonly message: string;
}

/** A copy that follows a namespace's opt-out late, or a paused process, may lag this far behind, ms. */
const OPT_OUT_LAG_MS = 60_000;
/** How long a leader may go on after another one holds the Lease, ms: none, but for one in flight. */
const LEADER_LAG_MS = 500;
/** A copy that is further behind than this, ms, is no longer waited for. */
const LONGEST_LAG_MS = 60_000;
/** A failed write is sent again within this time, ms; after several failures back-offs are longer. */
const RETRIED_MS = { once: 8000, several: 35_000 } as const;

/** Follows all writes; returns the violations so far. */
export function watchInvariants(cluster: FaultCluster): readonly Violation[] {
  const { api, clock, processes } = cluster;
  const { tables } = api.store;
  const { Pod: pods, PodAllocation: records, Namespace: namespaces, Lease, ConfigMap } = tables;
  const violations: Violation[] = [];
  const optedOutMs = new Map<string, number>();
  let holder: { readonly name: string; readonly sinceMs: number } | undefined;

  function violate(invariant: string, message: string): void {
    violations.push({ invariant, atMs: clock.monotonic(), message });
  }

  let renewedMs = -Infinity;
  let offMs: number | undefined;

  /** A Lease that is held and renewed belongs to its holder. */
  function followLease({ before, after }: LogEntry<Lease>): void {
    if (after?.metadata.name !== "mbcas-controller") return;
    const { holder: last = "", durationSeconds = 0 } = before ?? {};
    if (last !== "" && after.holder !== "" && after.holder !== last) {
      const ageMs = clock.monotonic() - renewedMs;
      if (ageMs < durationSeconds * 1000) {
        violate("LeaseTaken", `${after.holder} took it ${ageMs} ms after ${last} renewed it`);
      }
    }
    renewedMs = clock.monotonic();
    const name = after.holder.split("-").slice(0, 2).join("-");
    if (name !== "" && name !== holder?.name) holder = { name, sinceMs: clock.monotonic() };
  }

  function checkWriter(actor: Actor, what: string): void {
    if (!actor.process.startsWith("controller") || actor.late || holder === undefined) return;
    const { process } = processes.get(actor.process) ?? {};
    const pausedLately = actor.sentMs - (process?.pausedUntilMs ?? -Infinity) < 1000;
    if (holder.name === actor.process || pausedLately) return;
    if (actor.sentMs > holder.sinceMs + LEADER_LAG_MS) {
      violate("OneLeader", `${actor.process} wrote ${what} while ${holder.name} leads`);
    }
  }

  function checkPod({ before, after }: LogEntry<Pod>): void {
    const actor = processes.actor();
    if (actor?.line.verb === "evict" && before?.ready === true) {
      checkWriter(actor, `eviction of ${objectKey(before.metadata)}`);
      const left = readyOnDemand(api);
      const ready = readyReplicas(api);
      if (ready < PLACED.replicas - 1) {
        violate("BudgetBroken", `${objectKey(before.metadata)} evicted, ${ready} are Ready`);
      }
      if (before.nodeName.startsWith("on-demand") && left < PLACED.floor) {
        violate("FloorBroken", `${objectKey(before.metadata)} evicted, ${left} on on-demand nodes`);
      }
    }
    if (after === undefined) return;
    // Values that users write are known after their write, and the pod itself has them.
    if (actor !== undefined) checkRecoverable(cluster, after, violate);
    const key = objectKey(after.metadata);
    for (
      const { name, limits: { cpu: limitCPU = Infinity }, requests: { cpu: requestCPU = 0 } }
        of after.containers
    ) {
      if (limitCPU < requestCPU) violate("LimitBelowRequest", `${key} ${name}: ${limitCPU}m`);
    }
    if (before === undefined || before.metadata.uid !== after.metadata.uid) return;
    if (qosClassOf(after.containers) !== before.qosClass) {
      violate("QoS", `${key} changed its class`);
    }
    if (actor === undefined || actor.line.verb !== "resize") return;
    checkWriter(actor, `pod ${key}`);
    const { namespace } = after.metadata;
    if (UNMANAGED.has(namespace)) violate("Unmanaged", key);
    const outMs = optedOutMs.get(namespace);
    const isStale = outMs !== undefined && actor.sentMs - outMs > OPT_OUT_LAG_MS;
    // A restore may be late while a fault is felt: a server can ask for more time than the lag.
    const mayBeLate = (): boolean =>
      !after.containers.some(isOfMarket) && disturbance(cluster).restoreMs > actor.sentMs;
    if (isStale && !actor.late && !mayBeLate()) {
      violate("OptedOut", `${key} changed, opted out for ${clock.monotonic() - outMs} ms`);
    }
    const { startedMs = 0 } = processes.get(actor.process) ?? {};
    const termMs = Math.max(startedMs, holder?.sinceMs ?? 0);
    after.containers.forEach((container, index) => {
      const previous = before.containers[index];
      if (previous === undefined || previous.limits.cpu === container.limits.cpu) return;
      const leads = holder?.name === actor.process;
      if (isOfMarket(container) && leads && switchedOffBefore(holder?.sinceMs)) {
        violate("MarketOff", `${key}: ${previous.limits.cpu}m -> ${container.limits.cpu}m`);
      }
      checkLimitWrite(cluster, { actor, termMs, pod: after, container, index, previous }, violate);
    });
  }

  /** A leader from then on knows that the market is off: unless a fault shows old settings. */
  function switchedOffBefore(leadsSinceMs = -Infinity): boolean {
    const isOld = cluster.faults.some((one) =>
      (one.fault === "freeze" || one.fault === "travel") && one.object === "ConfigMap"
    );
    return offMs !== undefined && leadsSinceMs > offMs && !isOld;
  }

  const follow = [
    follower(ConfigMap.log, ({ after, atMs }) => {
      offMs = after?.data["config.yaml"]?.includes("off") ? offMs ?? atMs : undefined;
    }),
    follower(Lease.log, followLease),
    follower(namespaces.log, ({ after, atMs, object: { metadata: { name } } }) => {
      const isOut = after?.metadata.labels[MANAGED] === "false";
      if (!isOut) optedOutMs.delete(name);
      else if (!optedOutMs.has(name)) optedOutMs.set(name, atMs);
    }),
    follower(pods.log, checkPod),
    follower(records.log, (entry) => {
      const { namespace = "", name } = entry.object.metadata;
      const pod = pods.all().find(({ metadata }) =>
        metadata.uid === name && metadata.namespace === namespace
      );
      if (pod !== undefined) checkRecoverable(cluster, pod, violate);
      const actor = processes.actor();
      if (actor === undefined) return;
      checkWriter(actor, `record of ${namespace}/${name}`);
      checkRecordWrite(entry, actor, violate);
      if (actor.line.verb === "patch") checkDesired(cluster, { ...entry, actor }, violate);
    }),
  ];
  api.store.onChange(() => follow.forEach((read) => read()));
  followCopies(cluster, violate);
  followFailures(cluster, violate);
  return violations;
}

/** Reads the entries of a log that were added since the last call. */
function follower<T extends ApiObject>(
  log: EventLog<T>,
  read: (entry: LogEntry<T>) => void,
): () => void {
  let position = log.after(0);
  return () => {
    for (let entry = log.at(position); entry; entry = log.at(++position)) read(entry);
  };
}

/** Requires that a failed write is sent again, unless pod or record have changed meanwhile. */
function followFailures(
  { processes, clock, faults, api }: FaultCluster,
  violate: (invariant: string, message: string) => void,
): void {
  const { PodAllocation: records, Pod: pods } = api.store.tables;
  const isChanged = faults.some(({ fault }) => fault === "corrupt" || fault === "deleteRecord");
  const failures = faults.filter(({ fault }) => fault === "answer" || fault === "refuse");
  const withinMs = RETRIED_MS[failures.length > 1 ? "several" : "once"];
  const lastMs = new Map<string, number>();

  /** The matter of a write to the pod or its record; undefined where nothing is left to write. */
  function matter({ line: { verb, key = "" } }: Actor): string | undefined {
    if (verb === "patch") return records.get(key)?.metadata.uid;
    const pod = verb === "resize" ? pods.get(key) : undefined;
    const { namespace, uid } = pod?.metadata ?? {};
    const { spec, status } = records.get(`${namespace}/${uid}`) ?? {};
    const isMet = spec?.desiredCPULimit === undefined ||
      (status?.phase ?? "Applied") !== "Applied" ||
      parseCPU(spec.desiredCPULimit) === pod?.containers[0]?.limits.cpu;
    return isMet ? undefined : `${uid} ${spec.desiredCPULimit}`;
  }

  processes.follow({
    sent: ({ process, line: { key }, sentMs }) => void lastMs.set(`${process} ${key}`, sentMs),
    answered: () => {},
    failed(actor) {
      const { process, line: { key }, sentMs } = actor;
      const before = isChanged || process.startsWith("kubelet") ? undefined : matter(actor);
      if (before === undefined) return;
      const life = processes.get(process);
      clock.at(sentMs + withinMs, () => {
        const isSame = processes.get(process) === life && life?.process.alive &&
          life.process.pausedUntilMs < sentMs && matter(actor) === before;
        if (isSame && (lastMs.get(`${process} ${key}`) ?? 0) <= sentMs) {
          violate("LostWrite", `${process} never wrote ${key} again after a failure`);
        }
      });
    },
  });
}

/** A controller that has patched a pod waits until its copy shows it: before, it knows old values. */
function followCopies(
  { processes, clock, api }: FaultCluster,
  violate: (invariant: string, message: string) => void,
): void {
  const patched = new Map<string, { readonly version: number; readonly atMs: number }>();
  const placeOf = ({ process, line: { key = "" } }: Actor): string =>
    `${process} ${processes.get(process)?.startedMs} ${key}`;
  const isOfMarket = ({ process, line: { verb, key = "" } }: Actor): boolean =>
    verb === "resize" && process.startsWith("controller") &&
    // Rightsizing patches the pod, too, and waits for nothing that the market does.
    !key.startsWith(`${RIGHTSIZED.namespace}/`);
  processes.follow({
    sent(actor) {
      const last = isOfMarket(actor) ? patched.get(placeOf(actor)) : undefined;
      const { resourceVersion, uid } = actor.known.pod?.metadata ?? {};
      // The server refuses the patch of a pod that is gone, whatever is known of it.
      if (uid !== api.store.tables.Pod.get(actor.line.key ?? "")?.metadata.uid) return;
      if (last === undefined || clock.monotonic() - last.atMs > LONGEST_LAG_MS) return;
      if (Number(resourceVersion) < last.version) {
        const copy = `its copy has version ${resourceVersion}`;
        violate("OldCopy", `patch of ${actor.line.key} after version ${last.version}, ${copy}`);
      }
    },
    failed: () => {},
    answered(actor, answer) {
      if (!isOfMarket(actor)) return;
      patched.set(placeOf(actor), { version: Number(answer), atMs: clock.monotonic() });
    },
  });
}

/** Namespaces that opt out all the time. */
export const UNMANAGED: ReadonlySet<string> = new Set(["lab", "front"]);

/** An agent that was started this long ago, ms, may still wait for records and for readings. */
const STARTING_MS = 30_000;

/** Checks what a controller does to a record. */
export function checkRecordWrite(
  { before, after }: LogEntry<PodAllocation>,
  { line: { verb, key }, known: { pod } }: Actor,
  violate: Violate,
): void {
  const { namespace = "", name } = (after ?? before)?.metadata ?? {};
  if (verb === "create" && UNMANAGED.has(namespace)) violate("Unmanaged", `record of ${name}`);
  const { bounds } = after?.status ?? {};
  const seen = before?.status?.bounds?.revision ?? before?.spec.market?.observedBounds ?? 0;
  const isSame = bounds?.revision === before?.status?.bounds?.revision;
  if (verb === "updateStatus" && bounds !== undefined && !isSame && bounds.revision <= seen) {
    violate("RevisionReused", `record ${name}: bounds ${bounds.revision} after ${seen}`);
  }
  if (verb !== "delete" || pod === undefined || pod.metadata.uid !== name || !isLive(pod)) return;
  if (pod.containers.some(isOfMarket)) {
    violate("RecordGone", `${key} while ${objectKey(pod.metadata)} has a limit of the market`);
  }
}

/**
 * Requires that an agent's desired limit lies within the bounds that it names, or is what the container
 * has. One that has just started wants what it wanted before until it has readings.
 */
export function checkDesired(
  { api, faults, processes, clock }: FaultCluster,
  { before, after, actor }: LogEntry<PodAllocation> & { readonly actor: Actor },
  violate: Violate,
): void {
  if (after === undefined) return;
  const { metadata, spec, status: { bounds } = {} } = after;
  // Bounds that a fault changed under their revision the agent may not have seen.
  const key = `${spec.namespace}/${spec.podName}`;
  const now = clock.monotonic();
  const isOther = faults.some((one) =>
    "field" in one && one.field === "bounds" && one.pod === key && one.atMs <= now
  );
  const { startedMs = 0 } = processes.get(actor.process) ?? {};
  const isNew = now - startedMs < STARTING_MS;
  if (isOther || spec.market?.observedBounds !== bounds?.revision) return;
  const pod = api.store.tables.Pod.get(key);
  for (const { name, cpuLimit } of spec.containers ?? []) {
    const present = pod?.containers.find((one) => one.name === name)?.limits.cpu ?? 0;
    const { floor = 0, ceiling = 0 } = bounds?.containers.find((one) => one.name === name) ?? {};
    const limit = parseCPU(cpuLimit);
    const isKept = isNew &&
      before?.spec.containers?.some((one) => one.name === name && one.cpuLimit === cpuLimit);
    if (limit >= Math.min(floor, present) && limit <= Math.max(ceiling, present) || isKept) {
      continue;
    }
    violate("AgentOutside", `record ${metadata.name}: ${limit}m, bounds ${floor}m to ${ceiling}m`);
  }
}

/** A limit of the market's is lost where neither the pod nor its record has the original one. */
export function checkRecoverable({ users, api }: FaultCluster, pod: Pod, violate: Violate): void {
  const { uid, namespace, terminating } = pod.metadata;
  if (terminating || users.isLost(uid)) return;
  const record = api.store.tables.PodAllocation.get(`${namespace}/${uid}`);
  pod.containers.forEach((container, index) => {
    const { name, limits: { cpu: limitCPU } } = container;
    const own = users.limitOf(uid, name);
    if ([limitCPU, carriedLimit(container, index), templateLimit(pod)].includes(own)) return;
    const kept = record?.status?.originalLimits?.find((one) => one.name === name)?.cpu;
    if (kept === undefined || parseCPU(kept) !== own) {
      violate("Unrecoverable", `${objectKey(pod.metadata)}: ${limitCPU}m, record ${kept}`);
    }
  });
}
