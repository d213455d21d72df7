/**
 * Watches pods and the leader's Lease, and checks each version of a pod that it sees.
 *
 * @module
 */
import { listOf, numberOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { listWatchOf } from "../../../adapters/kube/client/list_watch.ts";
import { leaseListWatch } from "../../../adapters/kube/kinds/leases.ts";
import { parseTime } from "../../../adapters/kube/kinds/object_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { type Component, PRODUCT_NAMESPACE } from "../../../tests/cluster/scene/product.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { follow } from "./follow.ts";
import {
  type Baseline,
  type BrokenPromise,
  limitFaults,
  notCarried,
  type ProgramEnd,
  type Term,
} from "./promises.ts";
import type { Scene } from "./scene.ts";

/** The last end of a container. */
export type ContainerEnd = Omit<ProgramEnd, "pod">;

/** A pod with what restarts of its containers are known by. */
export type SeenPod = Pod & { readonly restarts: number; readonly lastEnd?: ContainerEnd };

/** A broken promise and when it was seen, ISO 8601. */
export type DatedBreak = BrokenPromise & { readonly at: string };

/** What was seen so far. */
export interface Watch {
  /** Living pods of the scene. */
  scenePods(): readonly SeenPod[];
  /** Living pods of the product. */
  programs(component: Component): readonly SeenPod[];
  /** The controller that holds the Lease, as last seen. */
  leader(): SeenPod | undefined;
  readonly terms: readonly Term[];
  readonly violations: readonly DatedBreak[];
  /** Adds a violation, unless the same one is there. */
  violate(violation: BrokenPromise): void;
  /**
   * Versions of the scene's pods that were checked, limits that the market lowered, and lists in between
   * that may have missed some.
   */
  readonly counts: { versions: number; lowered: number; relists: number };
  /** When a limit of the scene was changed last, ms since 1970. */
  readonly lastChangeMs: number;
  /** The ends of the product's containers, in the order in which they were reported. */
  readonly ends: readonly ProgramEnd[];
  run(signal: AbortSignal): Promise<void>;
}

/** A process that follows an opt-out late, or starts anew, may lag this far behind, ms. */
const OPT_OUT_LAG_MS = 60_000;

/** Watches the whole cluster. */
// deno-lint-ignore house/function-length
export function createWatch(node: RealNode, scene: Scene): Watch {
  const { connection } = node;
  const pods = new Map<string, SeenPod>();
  const violations: DatedBreak[] = [];
  const terms: Term[] = [];
  const ends: ProgramEnd[] = [];
  const counts = { versions: 0, lowered: 0, relists: 0 };
  let holder = "";
  let lastChangeMs = 0;

  function violate(violation: BrokenPromise): void {
    const same = violations.some(({ promise, message }) =>
      promise === violation.promise && message === violation.message
    );
    if (same) return;
    const at = new Date().toISOString();
    console.error(`${at} BROKEN ${violation.promise}: ${violation.message}`);
    violations.push({ ...violation, at });
  }

  function seen(pod: SeenPod): void {
    const { uid, namespace, name } = pod.metadata;
    const previous = pods.get(uid);
    pods.set(uid, pod);
    // A pod that is deleted ends, as those of the last rollout do.
    const { terminating } = pod.metadata;
    if (namespace === PRODUCT_NAMESPACE && pod.lastEnd !== undefined && !terminating) {
      const { atMs } = pod.lastEnd;
      const isNew = !ends.some((end) => end.pod === name && end.atMs === atMs);
      if (isNew) ends.push({ pod: name, ...pod.lastEnd });
    }
    const baseline = scene.baselineOf(pod);
    if (baseline === undefined) return;
    counts.versions++;
    const now = Date.now();
    pod.containers.forEach(({ name, limits: { cpu: limitCPU = Infinity } }, index) => {
      const before = previous?.containers[index]?.limits.cpu ?? limitCPU;
      if (limitCPU !== before) lastChangeMs = now;
      if (limitCPU < before && limitCPU !== baseline.limits.get(name)) counts.lowered++;
    });
    const outMs = scene.optedOutSinceMs(pod);
    const optedOut = outMs !== undefined && now - outMs > OPT_OUT_LAG_MS;
    limitFaults({ pod, previous, baseline, optedOut }).forEach(violate);
    if (pod.restarts > 0) {
      violate({ promise: "Restart", message: `${objectKey(pod.metadata)}: a container of a load` });
    }
    const missing = notCarried(pod, baseline);
    if (missing.length > 0 && !terminating) void checkRecord(pod, missing, baseline);
  }

  /** Where the pod itself does not have the user's limits, its record must. */
  async function checkRecord(
    { metadata }: Pod,
    missing: readonly string[],
    { limits }: Baseline,
  ): Promise<void> {
    try {
      const record = await node.allocation(metadata.namespace, metadata.uid);
      if (await node.pod(metadata) === undefined) return;
      for (const name of missing) {
        const kept = record?.status?.originalLimits?.find((one) => one.name === name)?.cpu;
        if (kept !== undefined && parseCPU(kept) === limits.get(name)) continue;
        const message = `${objectKey(metadata)} ${name}: the record has ${kept}`;
        violate({ promise: "Unrecoverable", message });
      }
    } catch {
      // Without an API server the request fails: the next version is checked again.
    }
  }

  const living = (): SeenPod[] =>
    [...pods.values()].filter(({ metadata }) => !metadata.terminating);
  const controllers = (component: Component): SeenPod[] =>
    living().filter(({ metadata: { namespace, labels } }) =>
      namespace === PRODUCT_NAMESPACE && labels["app.kubernetes.io/name"] === component
    );

  return {
    scenePods: () => living().filter((pod) => scene.baselineOf(pod) !== undefined),
    programs: controllers,
    leader: () =>
      controllers("mbcas-controller").find(({ metadata }) =>
        holder.startsWith(`${metadata.name}-`)
      ),
    terms,
    violations,
    violate,
    counts,
    ends,
    get lastChangeMs() {
      return lastChangeMs;
    },
    async run(signal) {
      const ourPods = listWatchOf({ groupVersion: "v1", resource: "pods", parse: parseSeenPod })(
        connection,
      );
      const followPods = follow(ourPods, {
        seen,
        gone: ({ metadata }) => void pods.delete(metadata.uid),
        relisted(items) {
          counts.relists++;
          const there = new Set(items.map(({ metadata }) => metadata.uid));
          for (const uid of pods.keys()) if (!there.has(uid)) pods.delete(uid);
          items.forEach(seen);
        },
      }, { signal });
      const seenLease = (lease: Lease): void => {
        if (lease.metadata.name !== "mbcas-controller" || lease.holder === holder) return;
        holder = lease.holder;
        if (holder === "") return;
        // One of the pod's lives, and in components its address.
        const pod = holder.replace(/-[0-9a-f]{8}(@.*)?$/, "");
        terms.push({ pod, sinceMs: lease.acquireTimeMs ?? Date.now() });
      };
      const followLeases = follow<Lease>(
        leaseListWatch(connection, { namespace: PRODUCT_NAMESPACE }),
        {
          seen: seenLease,
          gone: () => {},
          relisted: (items) => items.forEach(seenLease),
        },
        { signal },
      );
      await Promise.all([followPods, followLeases]);
    },
  };
}

function parseSeenPod(raw: unknown): SeenPod {
  const statuses = listOf(objectOf(objectOf(raw)["status"])["containerStatuses"]).map(objectOf);
  const restarts = statuses.reduce((sum, one) => sum + (numberOf(one["restartCount"]) ?? 0), 0);
  const ends = statuses.flatMap(({ state, lastState }) =>
    [state, lastState].flatMap((one): ContainerEnd[] => {
      const { finishedAt, reason, exitCode } = objectOf(objectOf(one)["terminated"]);
      const atMs = parseTime(finishedAt);
      if (atMs === undefined) return [];
      return [{ atMs, reason: textOf(reason) ?? "", exitCode: numberOf(exitCode) ?? 0 }];
    })
  );
  return { ...parsePod(raw), restarts, ...(ends[0] === undefined ? {} : { lastEnd: ends[0] }) };
}
