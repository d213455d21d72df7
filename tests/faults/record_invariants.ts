/**
 * What must hold when a record, a PodAllocation, is created, written or deleted.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { parseCPU } from "../../shared/quantity.ts";
import { isLive } from "../../shared/resize/scope.ts";
import type { LogEntry } from "../../lab/simulation/api/event_sink.ts";
import { carriedLimit, isOfMarket } from "./carried_limits.ts";
import { templateLimit } from "./cluster/cluster_load.ts";
import type { FaultCluster } from "./cluster/fault_cluster.ts";
import type { Actor } from "./cluster/faulty_client.ts";
import type { Violate } from "./resize_invariants.ts";

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
 * What an agent wants lies within the bounds that it names, or is what the container has. One that has
 * just started wants what it wanted before until it has readings.
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
