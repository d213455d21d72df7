/**
 * Loadable pods on the real node, and the moments at which a change reaches each part of the chain.
 *
 * @module
 */
import { allocationListWatch } from "../../../adapters/kube/kinds/allocations.ts";
import { objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import {
  type PodDirectories,
  podDirectories,
  processOne,
  quotaOf,
} from "../../../tests/cluster/scene/node_cgroups.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { podsOf, PRODUCT_NAMESPACE } from "../../../tests/cluster/scene/product.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";
import type { IdleCPU } from "../../../shared/config/schema.ts";
import { appliedAllocation } from "../../../tests/cluster/scene/limits.ts";
import { type LoadPod, loadPod } from "../../../tests/cluster/scene/load_pod.ts";

/** Something that was seen: when, by this machine's wall clock in ms, and the limit in millicores. */
export interface Sighting {
  readonly at: number;
  readonly limit: number;
}

/** Where a limit is seen on its way to the kernel, in order. */
export interface Sightings {
  /** The agent's log says that it wants the limit. */
  readonly agent: readonly Sighting[];
  /** The API has the allocation with it. */
  readonly api: readonly Sighting[];
  /** The API has the pod's spec with it: the controller's patch was accepted. */
  readonly controller: readonly Sighting[];
}

/** Records what becomes of the allocations and pods of a namespace until it is disposed of. */
export interface Recorder extends AsyncDisposable {
  /** What was seen of a pod so far. */
  of(pod: Pod): Sightings;
}

const now = (): number => performance.timeOrigin + performance.now();

/** Begins to record. */
export async function record(
  { connection }: RealNode,
  namespace: string,
): Promise<Recorder> {
  const stop = new AbortController();
  const agent = new Map<string, Sighting[]>();
  const api = new Map<string, Sighting[]>();
  const controller = new Map<string, Sighting[]>();
  const note = (book: Map<string, Sighting[]>, uid: string, sighting: Sighting): void => {
    const pages = book.get(uid) ?? [];
    if (pages.at(-1)?.limit !== sighting.limit) pages.push(sighting);
    book.set(uid, pages);
  };
  const follow = async <T extends ApiObject>(
    source: ListWatch<T>,
    seen: (object: T, at: number) => void,
  ): Promise<void> => {
    const { resourceVersion } = await source.list(stop.signal);
    for await (const event of source.watch(resourceVersion, stop.signal)) {
      if (event.type !== "BOOKMARK") seen(event.object, now());
    }
  };
  const followLog = async (name: string): Promise<void> => {
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${name}/log`;
    const query = { follow: "true", tailLines: "0" };
    const lines = connection.lines({ path, query, signal: stop.signal, timeoutMs: 3_600_000 });
    for await (const line of lines) {
      const { message, allocation, limit, ...rest } = objectOf(line);
      if (message !== "Limit wanted") continue;
      const uid = textOf(allocation)?.split("/")[1] ?? "";
      const at = Date.parse(textOf(rest["@timestamp"]) ?? "");
      note(agent, uid, { at, limit: parseCPU(textOf(limit) ?? "0") });
    }
  };
  const agents = await podsOf({ connection }, "mbcas-agent");
  const running = [
    ...agents.map(({ metadata }) => followLog(metadata.name)),
    follow(allocationListWatch(connection), ({ spec, metadata }: PodAllocation, at) => {
      if (metadata.namespace !== namespace || spec.desiredCPULimit === undefined) return;
      note(api, spec.podUID, { at, limit: parseCPU(spec.desiredCPULimit) });
    }),
    follow(podListWatch(connection, { namespace }), ({ metadata, containers }, at) => {
      const limit = containers.reduce(
        (sum, { limits: { cpu: limitCPU = 0 } }) => sum + limitCPU,
        0,
      );
      note(controller, metadata.uid, { at, limit });
    }),
  ];
  return {
    of: ({ metadata: { uid } }) => ({
      agent: agent.get(uid) ?? [],
      api: api.get(uid) ?? [],
      controller: controller.get(uid) ?? [],
    }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

/** Where the limit goes that answers a burst: `up` its own, `down` that of a neighbour. */
export type Direction = "up" | "down";

/** Whether a limit has gone from one value to another in this direction. */
export function hasMoved(
  direction: Direction,
  { from, to }: { readonly from: number; readonly to: number },
): boolean {
  return direction === "up" ? to > from : to < from;
}

/** The moments of one burst, ms of this machine's wall clock. */
export interface BurstTimes {
  readonly begun: number;
  /** A quota of pod or container has changed: the kubelet is at it. */
  readonly firstQuota: number;
  /** The container's quota has changed. */
  readonly containerQuota: number;
  readonly to: number;
}

/** A container in which bursts can be started. */
export interface Target {
  readonly pod: Pod;
  readonly directories: PodDirectories;
  /** Process 1 of the container, as this machine numbers it. */
  readonly pid: number;
  /** The most that the market may give it, millicores. */
  readonly ceiling: number;
  /** The container's limit by its cgroup, millicores. */
  limit(): number;
}

/** A container that bursts, and the one with a quota that answers the burst, which may be the same. */
export interface Pair {
  readonly bursts: Target;
  readonly answers: Target;
}

/** Finds the cgroups and the process of a pod's container `load`. */
function targetOf(pod: Pod, ceiling: number): Target {
  const directories = podDirectories(pod);
  const container = directories.containers.get("load") ?? "";
  const pid = processOne(pod, "load");
  return {
    pod,
    directories,
    pid,
    ceiling,
    limit: () => quotaOf(container, directories.version) ?? Infinity,
  };
}

/** How often the quota is looked at, ms. It bounds the error of a time. */
const LOOK_MS = 2;

/** Starts a burst and waits until the quota has moved; undefined when it has not in time. */
export async function burst(
  { bursts, answers: { limit, directories: { version, pod } } }: Pair,
  { timeoutMs, direction }: { readonly timeoutMs: number; readonly direction: Direction },
): Promise<BurstTimes | undefined> {
  const podLimit = (): number => quotaOf(pod, version) ?? Infinity;
  const from = limit();
  const podFrom = podLimit();
  const begun = now();
  Deno.kill(bursts.pid, "SIGUSR1");
  let podQuota: number | undefined;
  for (;;) {
    const at = now();
    if (hasMoved(direction, { from: podFrom, to: podLimit() })) podQuota ??= at;
    const to = limit();
    if (hasMoved(direction, { from, to })) {
      return { begun, firstQuota: podQuota ?? at, containerQuota: at, to };
    }
    if (at - begun > timeoutMs) return undefined;
    await pause(LOOK_MS);
  }
}

const CPUS = navigator.hardwareConcurrency;
/** In `tight` bursts of one pod lie far apart, so that its limit comes back to its floor in between. */
const PODS = 25;

/** How long a burst lasts, s. */
export const BURST_SECONDS = { tight: 2, free: 5 } as const;

/** Makes the pods that burst, and those with quotas that answer. */
export async function burstingPairs(
  node: RealNode,
  { namespace, idleCPU }: { readonly namespace: string; readonly idleCPU: IdleCPU },
): Promise<readonly Pair[]> {
  const make = (pod: Omit<LoadPod, "namespace">): Promise<Target> =>
    makeTarget(node, { namespace, ...pod });
  const burstSeconds = BURST_SECONDS[idleCPU];
  if (idleCPU === "tight") {
    const load = { name: "load", request: "30m", limit: "30m", burstSeconds };
    const pairs: Pair[] = [];
    for (let i = 0; i < PODS; i++) {
      const target = await make({ name: `burst-${i}`, containers: [load] });
      pairs.push({ bursts: target, answers: target });
    }
    return pairs;
  }
  // By requests, the kernel's weights, a burst gets a sixth of the node, and two thirds by priority.
  const bursts = await make({
    name: "service",
    annotations: { "mbcas.io/priority-multiplier": "10" },
    containers: [{ name: "load", request: "100m", limit: "500m", threads: CPUS, burstSeconds }],
  });
  const answers = await make({
    name: "neighbour",
    containers: [{ name: "load", request: "500m", limit: "500m", threads: 4 * CPUS, busy: true }],
  });
  return [{ bursts, answers }];
}

async function makeTarget(node: RealNode, pod: LoadPod): Promise<Target> {
  const running = await node.run(loadPod(pod));
  const { status } = await appliedAllocation(node, running);
  return targetOf(running, status?.bounds?.containers[0]?.ceiling ?? Infinity);
}

/** Makes a pod outside of the market, without requests, that is busy on all CPUs. */
export async function saturatingPod(node: RealNode, namespace: string): Promise<void> {
  await node.run(loadPod({
    name: "saturating",
    namespace,
    labels: { "mbcas.io/managed": "false" },
    containers: [{ name: "load", busy: true, threads: CPUS }],
  }));
}
