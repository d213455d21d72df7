/**
 * What must hold at every write, whatever faults there are.
 *
 * @module
 */
import { isMarketManager, originalsIn } from "../../shared/actuation/original_limits.ts";
import { qosClassOf } from "../../shared/actuation/qos.ts";
import { MANAGED } from "../../shared/actuation/scope.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import type { LogEntry } from "../../simulation/api/event_log.ts";
import type { ProcessName } from "./fault.ts";
import type { FaultCluster } from "./fault_cluster.ts";
import type { Actor } from "./faulty_client.ts";
import { PLACED, readyOnDemand } from "./placed_workload.ts";
import type { Knowledge } from "./processes.ts";

/** A broken promise. */
export interface Violation {
  /** The invariant, as one word. */
  readonly invariant: string;
  readonly atMs: number;
  readonly message: string;
}

/** A limit may be this multiple of the user's own: the default burst factor. */
export const BURST_FACTOR = 8;
/** A copy that follows a namespace's opt-out late, or a paused process, may lag this far behind, ms. */
const OPT_OUT_LAG_MS = 60_000;
/** How long a leader may go on after another one holds the Lease, ms: none, but for one in flight. */
const LEADER_LAG_MS = 500;

/** The controller's copies that decide whether a pod takes part and within which bounds. */
const DECISIVE: ReadonlySet<string> = new Set([
  "pods",
  "namespaces",
  "nodes",
  "limitRanges",
  "resourceQuotas",
  "horizontalPodAutoscalers",
  "verticalPodAutoscalers",
]);

/** Follows all writes of pods and records; returns the violations so far. */
export function watchInvariants(cluster: FaultCluster): readonly Violation[] {
  const { api, clock } = cluster;
  const { Pod: pods, PodAllocation: records, Namespace: namespaces } = api.store.tables;
  const violations: Violation[] = [];
  const optedOutMs = new Map<string, number>();
  let holder: { readonly name: string; readonly sinceMs: number } | undefined;
  const positions = { pods: 0, records: 0, namespaces: 0 };

  function violate(invariant: string, message: string): void {
    violations.push({ invariant, atMs: clock.monotonic(), message });
  }

  function followLease(): void {
    const lease = api.store.tables.Lease.get("mbcas-system/mbcas-controller");
    const name = lease?.holder?.split("-").slice(0, 2).join("-");
    if (name !== undefined && name !== "" && name !== holder?.name) {
      holder = { name, sinceMs: clock.monotonic() };
    }
  }

  function checkWriter(actor: Actor, what: string): void {
    if (!actor.process.startsWith("controller") || actor.late || holder === undefined) return;
    const { process } = cluster.processes.get(actor.process as ProcessName) ?? {};
    const pausedLately = actor.sentMs - (process?.pausedUntilMs ?? -Infinity) < 1000;
    if (holder.name === actor.process || pausedLately) return;
    if (actor.sentMs > holder.sinceMs + LEADER_LAG_MS) {
      violate("OneLeader", `${actor.process} wrote ${what} while ${holder.name} leads`);
    }
  }

  function checkPod({ before, after }: LogEntry<Pod>): void {
    const actor = cluster.processes.actor();
    if (actor?.line.verb === "evict" && before?.ready === true) {
      checkWriter(actor, `eviction of ${objectKey(before.metadata)}`);
      const left = readyOnDemand(api);
      if (before.nodeName.startsWith("on-demand") && left < PLACED.floor) {
        violate("FloorBroken", `${objectKey(before.metadata)} evicted, ${left} on on-demand nodes`);
      }
    }
    if (after === undefined) return;
    const key = objectKey(after.metadata);
    for (const { name, limitCPU = Infinity, requestCPU = 0 } of after.containers) {
      if (limitCPU < requestCPU) violate("LimitBelowRequest", `${key} ${name}: ${limitCPU}m`);
    }
    if (before === undefined || before.metadata.uid !== after.metadata.uid) return;
    if (qosClassOf(after.containers) !== before.qosClass) {
      violate("QoS", `${key} changed its class`);
    }
    if (actor === undefined || actor.line.verb !== "resize") return;
    checkWriter(actor, `pod ${key}`);
    after.containers.forEach((container, index) => {
      const previous = before.containers[index];
      if (previous === undefined || previous.limitCPU === container.limitCPU) return;
      checkChange(actor, { pod: after, container, previous });
    });
  }

  function checkChange(
    actor: Actor,
    { pod, container, previous }: {
      readonly pod: Pod;
      readonly container: PodContainer;
      readonly previous: PodContainer;
    },
  ): void {
    const { namespace, uid } = pod.metadata;
    const change = `${objectKey(pod.metadata)}: ${previous.limitCPU}m -> ${container.limitCPU}m`;
    if (namespace === "lab") violate("Unmanaged", change);
    if (container.limitManagers?.some(isMarketManager) !== true) return;
    const limit = container.limitCPU ?? 0;
    const own = cluster.users.limitOf(uid, container.name) ?? Infinity;
    if (limit > own * BURST_FACTOR && !cluster.users.isLost(uid)) violate("Ceiling", change);
    const unsynced = (actor.known as Knowledge).unsynced.filter((kind) => DECISIVE.has(kind));
    if (limit > (previous.limitCPU ?? 0) && unsynced.length > 0) {
      violate("RaisedOutOfSync", `${change} while out of sync: ${unsynced.join(", ")}`);
    }
    const outMs = optedOutMs.get(namespace);
    if (outMs !== undefined && !actor.late && actor.sentMs - outMs > OPT_OUT_LAG_MS) {
      violate("OptedOut", `${change}, opted out for ${clock.monotonic() - outMs} ms`);
    }
  }

  /** A limit of the market's is lost where neither the pod nor its record has the original one. */
  function checkRecoverable(pod: Pod): void {
    const { uid, namespace, owner, terminating } = pod.metadata;
    if (terminating || owner !== undefined || cluster.users.isLost(uid)) return;
    const record = records.get(`${namespace}/${uid}`);
    for (const { name, limitCPU, limitManagers = [] } of pod.containers) {
      const own = cluster.users.limitOf(uid, name);
      if (limitCPU === own || !limitManagers.some(isMarketManager)) continue;
      if (originalsIn(pod).get(name) === own) continue;
      const kept = record?.status?.originalLimits?.find((one) => one.name === name)?.cpu;
      if (kept === undefined || parseCPU(kept) !== own) {
        violate("Unrecoverable", `${objectKey(pod.metadata)}: ${limitCPU}m, record ${kept}`);
      }
    }
  }

  function followNamespaces(): void {
    const { log } = namespaces;
    for (let entry = log.at(positions.namespaces); entry; entry = log.at(++positions.namespaces)) {
      const { name } = entry.object.metadata;
      const out = entry.after?.metadata.labels[MANAGED] === "false";
      if (!out) optedOutMs.delete(name);
      else if (!optedOutMs.has(name)) optedOutMs.set(name, entry.atMs);
    }
  }

  api.store.onChange(() => {
    followLease();
    followNamespaces();
    for (let entry = pods.log.at(positions.pods); entry; entry = pods.log.at(++positions.pods)) {
      checkPod(entry);
      if (entry.after !== undefined) checkRecoverable(entry.after);
    }
    const { log } = records;
    for (let entry = log.at(positions.records); entry; entry = log.at(++positions.records)) {
      const { namespace = "", name } = entry.object.metadata;
      const pod = pods.all().find(({ metadata }) =>
        metadata.uid === name && metadata.namespace === namespace
      );
      if (pod !== undefined) checkRecoverable(pod);
      const actor = cluster.processes.actor();
      if (actor !== undefined) checkWriter(actor, `record of ${namespace}/${name}`);
    }
  });
  return violations;
}
