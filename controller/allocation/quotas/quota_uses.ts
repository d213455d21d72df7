/**
 * Use of a namespace's quotas by its pods. A namespace is read once, then each pod when it changes: to
 * read all pods of the namespace at the reconcile of each would take quadratic time.
 *
 * @module
 */
import { namespaceOf } from "../../../shared/control/object_key.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { quotaCounts } from "../../../shared/resize/checks/resource_quota.ts";
import type { Caches } from "../../caches.ts";
import { podKeyOf } from "../pod_snapshot.ts";
import { type PodUse, podUseOf, type ResourceUse } from "./pod_use.ts";
import type { QuotaBid } from "./quota_bids.ts";
import type { QuotaResource } from "./quota_ledger.ts";

/** Use of a resource by the pods that a quota counts, millicores. */
export interface QuotaUse {
  /** By their specs: the count in the quota's status may be behind them. */
  readonly used: number;
  /** Part of it that can be given back. */
  readonly raised: number;
  /** Part of it that no bid is for. */
  readonly fixed: number;
  /** The largest original value of a pod; 0 where no pod has any. */
  readonly largest: number;
}

/** Use of quotas by the cached pods. */
export interface QuotaUses {
  /** Use by all pods that the quota counts. */
  sum(quota: ResourceQuota, resource: QuotaResource): QuotaUse;
  /** Use by one pod; undefined when there is none, or it has ended. */
  pod(podKey: string): PodUse | undefined;
  /** Reads the pod again: its bids depend on more than pod and allocation. */
  refresh(podKey: string): void;
  /** Bids of the pods that the quota counts, by their keys. */
  bids(
    quota: ResourceQuota,
    resource: QuotaResource,
  ): readonly { readonly podKey: string; readonly bids: readonly QuotaBid[] }[];
  /** The namespace, with another version when the shares of its quotas may differ. */
  namespace(namespace: string): { readonly version: number };
  /** Forgets a namespace without quotas. */
  forget(namespace: string): void;
  stop(): void;
}

/** A namespace that has quotas. */
interface NamespaceUse {
  /** Rises when what is divided has changed, or among which pods. */
  version: number;
  /** The pod that asked last for its share. */
  asker?: string;
  readonly pods: Map<string, PodUse>;
  /** By resource and scopes; empty after each change. */
  readonly sums: Map<string, QuotaUse>;
}

/** Where the uses come from. */
export interface QuotaUsesParts {
  readonly pods: Pick<Caches["pods"], "get" | "byIndex" | "subscribe">;
  readonly allocations: Pick<Caches["allocations"], "get" | "subscribe">;
  readonly bidsOf: (podKey: string) => readonly QuotaBid[];
  /** Queues the pod to ask for its share: its namespace has changed. */
  readonly wake: (podKey: string) => void;
}

/** Reads a namespace when a quota of it is first asked for, then each pod that changes. */
export function createQuotaUses(
  { pods, allocations, bidsOf, wake }: QuotaUsesParts,
): QuotaUses {
  const byNamespace = new Map<string, NamespaceUse>();
  const stops = [
    pods.subscribe(recount),
    allocations.subscribe((key) => {
      const allocation = allocations.get(key);
      // A deleted allocation ends with its pod, or after a restore: the pod's own event covers both.
      if (allocation !== undefined) recount(podKeyOf(allocation));
    }),
  ];

  function namespaceUse(namespace: string): NamespaceUse {
    const known = byNamespace.get(namespace);
    if (known !== undefined) return known;
    const use: NamespaceUse = { version: 0, pods: new Map(), sums: new Map() };
    byNamespace.set(namespace, use);
    for (const { metadata: { name } } of pods.byIndex(namespace)) {
      update(use, `${namespace}/${name}`);
    }
    return use;
  }

  function update(use: NamespaceUse, podKey: string): void {
    const pod = pods.get(podKey);
    const allocation = pod &&
      allocations.get(`${pod.metadata.namespace}/${pod.metadata.uid}`);
    const now = pod && podUseOf(pod, { allocation, bids: bidsOf(podKey) });
    const before = use.pods.get(podKey);
    if (now === undefined) use.pods.delete(podKey);
    else use.pods.set(podKey, now);
    if (JSON.stringify(before) !== JSON.stringify(now)) use.sums.clear();
    if (shareInput(before) !== shareInput(now)) use.version++;
  }

  function recount(podKey: string): void {
    const namespace = namespaceOf(podKey);
    const use = byNamespace.get(namespace);
    if (use === undefined) return;
    const { version } = use;
    update(use, podKey);
    // The namespace may have been deleted; otherwise it is read again when its quota is asked for.
    if (use.pods.size === 0) byNamespace.delete(namespace);
    const asker = use.version === version ? undefined : askerOf(use);
    if (asker !== undefined) wake(asker);
  }

  return {
    sum(quota, resource) {
      const { pods, sums } = namespaceUse(quota.metadata.namespace);
      const key = `${resource} ${JSON.stringify(quota.scopes)}`;
      const counted = pods.values().filter(({ scoped }) => quotaCounts(quota, scoped));
      const sum = sums.get(key) ?? summed(counted.map((use) => use[resource]));
      sums.set(key, sum);
      return sum;
    },
    pod: (podKey) => namespaceUse(namespaceOf(podKey)).pods.get(podKey),
    refresh(podKey) {
      const use = namespaceUse(namespaceOf(podKey));
      use.asker = podKey;
      update(use, podKey);
    },
    bids: (quota, resource) =>
      [...namespaceUse(quota.metadata.namespace).pods]
        .filter(([, { bids, movesRequest, scoped }]) =>
          bids.length > 0 && (movesRequest || resource === "limits") && quotaCounts(quota, scoped)
        )
        .map(([podKey, { bids }]) => ({ podKey, bids }))
        .sort((a, b) => a.podKey < b.podKey ? -1 : 1),
    namespace: namespaceUse,
    forget: (namespace) => void byNamespace.delete(namespace),
    stop() {
      for (const stop of stops) stop();
      byNamespace.clear();
    },
  };
}

/** The pod that asked last, or another one with bids once that is gone. */
function askerOf({ pods, asker = "" }: NamespaceUse): string | undefined {
  if (pods.has(asker)) return asker;
  return [...pods].find(([, { bids }]) => bids.length > 0)?.[0];
}

function summed(uses: Iterable<ResourceUse>): QuotaUse {
  const sum = { used: 0, raised: 0, fixed: 0, largest: 0 };
  for (const use of uses) {
    sum.used += use.used;
    sum.raised += use.raise;
    sum.fixed += use.fixed;
    sum.largest = Math.max(sum.largest, use.original);
  }
  return sum;
}

/** The part of a pod's use that shares depend on, as a text to compare. */
function shareInput(use: PodUse | undefined): string | undefined {
  if (use === undefined) return undefined;
  const { scoped, bids, movesRequest, limits, requests } = use;
  const amounts = [limits.original, limits.fixed, requests.original, requests.fixed];
  return JSON.stringify([scoped, bids, movesRequest, amounts]);
}
