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
import {
  type Baseline,
  type BrokenPromise,
  limitFaults,
  notCarried,
  type ProgramEnd,
  type Term,
} from "./promises.ts";
import type { Scene } from "./scene.ts";
import { createInformer, type Informer } from "../../../shared/control/informer.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { silentLog } from "../../../shared/log.ts";

/** The last end of a container. */
export type ContainerEnd = Omit<ProgramEnd, "pod">;

/** A pod with what restarts of its containers are known by. */
export type SeenPod = Pod & { readonly restarts: number; readonly lastEnd?: ContainerEnd };

/** A broken promise and when it was seen, ISO 8601. */
export type DatedBreak = BrokenPromise & { readonly at: string };

/** A process that follows an opt-out late, or starts anew, may lag this far behind, ms. */
const OPT_OUT_LAG_MS = 60_000;
const PODS = listWatchOf({ groupVersion: "v1", resource: "pods", parse: parseSeenPod });

/** Watches the whole cluster; its fields are what was seen so far. */
export class Watch {
  readonly terms: Term[] = [];
  readonly violations: DatedBreak[] = [];
  /** The ends of the product's containers, in the order in which they were reported. */
  readonly ends: ProgramEnd[] = [];
  /** Versions of the scene's pods that were checked. */
  versions = 0;
  /** Limits that the market lowered, as it does while CPU is scarce. */
  lowered = 0;
  /** When a limit of the scene was changed last, ms since 1970. */
  lastChangeMs = 0;
  readonly #node: RealNode;
  readonly #scene: Scene;
  readonly #pods: Informer<SeenPod>;
  readonly #leases: Informer<Lease>;
  #holder = "";

  constructor(node: RealNode, scene: Scene) {
    this.#node = node;
    this.#scene = scene;
    const { connection } = node;
    const parts = { clock: systemClock, random: { next: () => Math.random() }, log: silentLog };
    const leases = leaseListWatch(connection, { namespace: PRODUCT_NAMESPACE });
    this.#pods = createInformer({ ...parts, source: PODS(connection), name: "pods" });
    this.#leases = createInformer({ ...parts, source: leases, name: "leases" });
    this.#pods.subscribe((key, before) => {
      const pod = this.#pods.get(key);
      if (pod !== undefined) this.#seen(pod, before);
    });
    this.#leases.subscribe((key) => this.#seenLease(this.#leases.get(key)));
  }

  /** Watches until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#pods.run(signal), this.#leases.run(signal)]);
  }

  /** Living pods of the scene. */
  scenePods(): readonly SeenPod[] {
    return this.#living().filter((pod) => this.#scene.baselineOf(pod) !== undefined);
  }

  /** Living pods of the product. */
  programs(component: Component): readonly SeenPod[] {
    return this.#living().filter(({ metadata: { namespace, labels } }) =>
      namespace === PRODUCT_NAMESPACE && labels["app.kubernetes.io/name"] === component
    );
  }

  /** The controller that holds the Lease, as last seen. */
  leader(): SeenPod | undefined {
    return this.programs("mbcas-controller").find(({ metadata }) =>
      this.#holder.startsWith(`${metadata.name}-`)
    );
  }

  /** Adds a violation, unless the same one is there. */
  violate({ promise, message }: BrokenPromise): void {
    if (this.violations.some((one) => one.promise === promise && one.message === message)) return;
    const at = new Date().toISOString();
    console.error(`${at} BROKEN ${promise}: ${message}`);
    this.violations.push({ promise, message, at });
  }

  #living(): SeenPod[] {
    return [...this.#pods.all()].filter(({ metadata }) => !metadata.terminating);
  }

  #seenLease(lease: Lease | undefined): void {
    if (lease?.metadata.name !== "mbcas-controller" || lease.holder === this.#holder) return;
    this.#holder = lease.holder;
    if (lease.holder === "") return;
    // One of the pod's lives, and in components its address.
    const pod = lease.holder.replace(/-[0-9a-f]{8}(@.*)?$/, "");
    this.terms.push({ pod, sinceMs: lease.acquireTimeMs ?? Date.now() });
  }

  #seen(pod: SeenPod, before: SeenPod | undefined): void {
    const { uid, namespace, name, terminating } = pod.metadata;
    const previous = before?.metadata.uid === uid ? before : undefined;
    // A pod that is deleted ends, as those of the last rollout do.
    if (namespace === PRODUCT_NAMESPACE && pod.lastEnd !== undefined && !terminating) {
      const { atMs } = pod.lastEnd;
      const isNew = !this.ends.some((end) => end.pod === name && end.atMs === atMs);
      if (isNew) this.ends.push({ pod: name, ...pod.lastEnd });
    }
    const baseline = this.#scene.baselineOf(pod);
    if (baseline === undefined) return;
    this.versions++;
    const now = Date.now();
    pod.containers.forEach(({ name, limits: { cpu: limitCPU = Infinity } }, index) => {
      const before = previous?.containers[index]?.limits.cpu ?? limitCPU;
      if (limitCPU !== before) this.lastChangeMs = now;
      if (limitCPU < before && limitCPU !== baseline.limits.get(name)) this.lowered++;
    });
    const outMs = this.#scene.optedOutSinceMs(pod);
    const optedOut = outMs !== undefined && now - outMs > OPT_OUT_LAG_MS;
    limitFaults({ pod, previous, baseline, optedOut }).forEach((fault) => this.violate(fault));
    if (pod.restarts > 0) {
      const message = `${objectKey(pod.metadata)}: a container of a load`;
      this.violate({ promise: "Restart", message });
    }
    const missing = notCarried(pod, baseline);
    if (missing.length > 0 && !terminating) void this.#checkRecord(pod, missing, baseline);
  }

  /** Where the pod itself does not have the user's limits, its record must. */
  async #checkRecord(
    { metadata }: Pod,
    missing: readonly string[],
    { limits }: Baseline,
  ): Promise<void> {
    try {
      const record = await this.#node.allocation(metadata.namespace, metadata.uid);
      if (await this.#node.pod(metadata) === undefined) return;
      for (const name of missing) {
        const kept = record?.status?.originalLimits?.find((one) => one.name === name)?.cpu;
        if (kept !== undefined && parseCPU(kept) === limits.get(name)) continue;
        const message = `${objectKey(metadata)} ${name}: the record has ${kept}`;
        this.violate({ promise: "Unrecoverable", message });
      }
    } catch {
      // Without an API server the request fails: the next version is checked again.
    }
  }
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
