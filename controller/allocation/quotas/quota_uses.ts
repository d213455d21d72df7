/**
 * Use of a namespace's quotas by its pods. A namespace is read once, and then pod by pod as they
 * change: pods are looked at in crowds, and to read them all for each would cost as much as the
 * namespace has pods, squared.
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
  /** By their specs: the quota's own count may be behind them. */
  readonly used: number;
  /** Millicores of it that may be taken back. */
  readonly raised: number;
  /** Their use beside their bids. */
  readonly fixed: number;
  /** The own value of the largest pod; 0 where no pod has any. */
  readonly largest: number;
}

/** Use by all pods, as their copies have it now. */
export interface QuotaUses {
  /** By the pods that the quota counts. */
  of(quota: ResourceQuota, resource: QuotaResource): QuotaUse;
  /** By one pod; undefined when there is none, or it has ended. */
  pod(podKey: string): PodUse | undefined;
  /** Reads the pod anew: its bids depend on more than pod and allocation. */
  refresh(podKey: string): void;
  /** Bids of the pods that the quota counts, by their keys. */
  bids(
    quota: ResourceQuota,
    resource: QuotaResource,
  ): readonly { readonly podKey: string; readonly bids: readonly QuotaBid[] }[];
  /** The namespace's own object, with another version when its shares may be others. */
  namespace(namespace: string): { readonly version: number };
  /** No quota asks about the namespace any more. */
  forget(namespace: string): void;
  /** Ends the watching of the copies. */
  stop(): void;
}

/** A namespace that has quotas. */
interface NamespaceUse {
  /** Another one when what is divided has changed, or among which pods. */
  version: number;
  /** The pod that asked last. */
  asker?: string;
  readonly pods: Map<string, PodUse>;
  /** By resource and scopes; none from before the last change. */
  readonly sums: Map<string, QuotaUse>;
}

/** Where the uses come from. */
export interface QuotaUsesParts {
  readonly pods: Pick<Caches["pods"], "get" | "byIndex" | "subscribe">;
  readonly allocations: Pick<Caches["allocations"], "get" | "subscribe">;
  readonly bidsOf: (podKey: string) => readonly QuotaBid[];
  /** Has the pod ask: its namespace has changed. */
  readonly wake: (podKey: string) => void;
}

/** Reads a namespace once when it is first asked about, and then what changes in it. */
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
    // A pod is read anew with each reconcile, and mostly nothing of it has changed.
    if (JSON.stringify(before) !== JSON.stringify(now)) use.sums.clear();
    if (claimOf(before) !== claimOf(now)) use.version++;
  }

  function recount(podKey: string): void {
    const namespace = namespaceOf(podKey);
    const use = byNamespace.get(namespace);
    if (use === undefined) return;
    const { version } = use;
    update(use, podKey);
    // The namespace may be on its way out; otherwise the next question reads it anew.
    if (use.pods.size === 0) byNamespace.delete(namespace);
    const asker = use.version === version ? undefined : askerOf(use);
    if (asker !== undefined) wake(asker);
  }

  return {
    of(quota, resource) {
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
        .filter(([, { bids, moves, scoped }]) =>
          bids.length > 0 && (moves || resource === "limits") && quotaCounts(quota, scoped)
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
    sum.largest = Math.max(sum.largest, use.own);
  }
  return sum;
}

/** The same text where shares are not changed by it. */
function claimOf(use: PodUse | undefined): string | undefined {
  if (use === undefined) return undefined;
  const { scoped, bids, moves, limits, requests } = use;
  const amounts = [limits.own, limits.fixed, requests.own, requests.fixed];
  return JSON.stringify([scoped, bids, moves, amounts]);
}
