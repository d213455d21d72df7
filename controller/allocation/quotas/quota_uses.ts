/**
 * What the pods of a namespace use of its quotas, kept up to date pod by pod: pods are looked at in
 * crowds, and a look at a whole namespace would cost each of them as much as the namespace has pods.
 *
 * @module
 */
import { namespaceOf } from "../../../shared/control/object_key.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { quotaCounts, type ScopedPod } from "../../../shared/resize/checks/resource_quota.ts";
import type { Caches } from "../../caches.ts";
import { podKeyOf } from "../pod_snapshot.ts";
import { type PodUse, podUseOf } from "./pod_use.ts";
import type { QuotaBid } from "./quota_bids.ts";
import type { QuotaResource } from "./quota_ledger.ts";

/** What the pods that a quota counts use of a resource, millicores. */
export interface QuotaUse {
  /** By their specs: the quota's own count may be behind them. */
  readonly used: number;
  /** What may be taken back of it. */
  readonly raised: number;
  /** What they use beside their bids. */
  readonly fixed: number;
  /** The own value of the largest pod; 0 where no pod has any. */
  readonly largest: number;
}

/** A pod's bids. */
export interface PodBids {
  readonly podKey: string;
  readonly bids: readonly QuotaBid[];
}

/** What all pods use, as their copies have it now. */
export interface QuotaUses {
  /** By the pods that the quota counts. */
  of(quota: ResourceQuota, resource: QuotaResource): QuotaUse;
  /** By one pod; undefined when there is none, or it has ended. */
  pod(podKey: string): PodUse | undefined;
  /** The same, read anew: its bids depend on more than pod and allocation. */
  refresh(podKey: string): PodUse | undefined;
  /** Of the pods that the quota counts, by their keys. */
  bids(quota: ResourceQuota, resource: QuotaResource): readonly PodBids[];
  /** The namespace's own object, with another version when its shares may be others. */
  namespace(namespace: string): { readonly version: number };
  /** No quota asks about the namespace any more. */
  forget(namespace: string): void;
  /** Ends the watching of the copies. */
  stop(): void;
}

/** A sum over pods; how many of them have which own value. */
interface Tally {
  used: number;
  raised: number;
  fixed: number;
  readonly sizes: Map<number, number>;
}

/** Pods that the same quotas count. */
interface Group {
  readonly scoped: ScopedPod;
  readonly tallies: Readonly<Record<QuotaResource, Tally>>;
}

type Entry = PodUse & { readonly group: Group };

/** A namespace that has quotas: some 400 bytes a pod. */
interface NamespaceUse {
  /** Another one when what is divided has changed, or among which pods. */
  version: number;
  /** The pod that asked last. */
  asker?: string;
  readonly entries: Map<string, Entry>;
  /** Few: by what scopes look at. */
  readonly groups: Map<string, Group>;
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
export function createQuotaUses(parts: QuotaUsesParts): QuotaUses {
  return new NamespaceUses(parts);
}

class NamespaceUses implements QuotaUses {
  readonly #parts: QuotaUsesParts;
  readonly #byNamespace = new Map<string, NamespaceUse>();
  readonly #stops: readonly (() => void)[];

  constructor(parts: QuotaUsesParts) {
    const { pods, allocations } = parts;
    this.#parts = parts;
    this.#stops = [
      pods.subscribe((podKey) => this.#recount(podKey)),
      allocations.subscribe((key) => {
        const allocation = allocations.get(key);
        // A deleted allocation ends with its pod, or after a restore: the pod's own event covers both.
        if (allocation !== undefined) this.#recount(podKeyOf(allocation));
      }),
    ];
  }

  of(quota: ResourceQuota, resource: QuotaResource): QuotaUse {
    const { groups } = this.namespace(quota.metadata.namespace);
    const sum = { used: 0, raised: 0, fixed: 0, largest: 0 };
    for (const { scoped, tallies: { [resource]: tally } } of groups.values()) {
      if (!quotaCounts(quota, scoped)) continue;
      sum.used += tally.used;
      sum.raised += tally.raised;
      sum.fixed += tally.fixed;
      sum.largest = Math.max(sum.largest, ...tally.sizes.keys());
    }
    return sum;
  }

  pod(podKey: string): PodUse | undefined {
    return this.namespace(namespaceOf(podKey)).entries.get(podKey);
  }

  refresh(podKey: string): PodUse | undefined {
    const use = this.namespace(namespaceOf(podKey));
    use.asker = podKey;
    return this.#update(use, podKey);
  }

  bids({ scopes, metadata: { namespace } }: ResourceQuota, resource: QuotaResource): PodBids[] {
    const { entries, groups } = this.namespace(namespace);
    const counted = new Set(
      [...groups.values()].filter(({ scoped }) => quotaCounts({ scopes }, scoped)),
    );
    const asking = [...entries].filter(([, { bids, moves, group }]) =>
      bids.length > 0 && (moves || resource === "limits") && counted.has(group)
    );
    return asking.map(([podKey, { bids }]) => ({ podKey, bids }))
      .sort((a, b) => a.podKey < b.podKey ? -1 : 1);
  }

  namespace(namespace: string): NamespaceUse {
    const known = this.#byNamespace.get(namespace);
    if (known !== undefined) return known;
    const use: NamespaceUse = { version: 0, entries: new Map(), groups: new Map() };
    this.#byNamespace.set(namespace, use);
    for (const { metadata: { name } } of this.#parts.pods.byIndex(namespace)) {
      this.#update(use, `${namespace}/${name}`);
    }
    return use;
  }

  forget(namespace: string): void {
    this.#byNamespace.delete(namespace);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#byNamespace.clear();
  }

  #update(use: NamespaceUse, podKey: string): Entry | undefined {
    const { entries, groups } = use;
    const old = entries.get(podKey);
    const entry = this.#entryOf(groups, podKey);
    if (old !== undefined) count(old.group, old, -1);
    if (entry === undefined) {
      entries.delete(podKey);
    } else {
      count(entry.group, entry, 1);
      entries.set(podKey, entry);
    }
    if (!isSameClaim(old, entry)) use.version++;
    return entry;
  }

  #entryOf(groups: Map<string, Group>, podKey: string): Entry | undefined {
    const { pods, allocations, bidsOf } = this.#parts;
    const pod = pods.get(podKey);
    if (pod === undefined) return undefined;
    const { namespace, uid } = pod.metadata;
    const allocation = allocations.get(`${namespace}/${uid}`);
    const use = podUseOf(pod, { allocation, bids: bidsOf(podKey) });
    return use === undefined ? undefined : { ...use, group: groupOf(groups, pod) };
  }

  #recount(podKey: string): void {
    const namespace = namespaceOf(podKey);
    const use = this.#byNamespace.get(namespace);
    if (use === undefined) return;
    const { version } = use;
    this.#update(use, podKey);
    // The namespace may be on its way out; otherwise the next question reads it anew.
    if (use.entries.size === 0) this.#byNamespace.delete(namespace);
    else if (use.version !== version) this.#wakeOne(use);
  }

  #wakeOne({ asker = "", entries }: NamespaceUse): void {
    const isThere = entries.has(asker);
    const [other] = isThere ? [] : [...entries].find(([, { bids }]) => bids.length > 0) ?? [];
    const podKey = isThere ? asker : other;
    if (podKey !== undefined) this.#parts.wake(podKey);
  }
}

function groupOf(groups: Map<string, Group>, pod: ScopedPod): Group {
  const { qosClass, hasDeadline = false, priorityClassName = "" } = pod;
  const key = `${qosClass} ${hasDeadline} ${priorityClassName}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  const scoped: ScopedPod = {
    qosClass,
    ...(hasDeadline ? { hasDeadline } : {}),
    ...(priorityClassName === "" ? {} : { priorityClassName }),
  };
  const group = { scoped, tallies: { limits: newTally(), requests: newTally() } };
  groups.set(key, group);
  return group;
}

function newTally(): Tally {
  return { used: 0, raised: 0, fixed: 0, sizes: new Map() };
}

/** Takes the pod into the group's sums, or out of them: whole millicores, so that nothing is lost. */
function count({ tallies: { limits, requests } }: Group, use: PodUse, sign: 1 | -1): void {
  limits.used += sign * use.limits;
  requests.used += sign * use.requests;
  limits.fixed += sign * use.fixedLimits;
  requests.fixed += sign * use.fixedRequests;
  countSize(limits.sizes, use.originalLimits, sign);
  countSize(requests.sizes, use.ownRequests, sign);
  for (const tally of use.moves ? [limits, requests] : [limits]) tally.raised += sign * use.raise;
}

/** True when shares are not changed by it. */
function isSameClaim(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.group === other.group && one.moves === other.moves &&
    one.fixedLimits === other.fixedLimits && one.fixedRequests === other.fixedRequests &&
    one.originalLimits === other.originalLimits && one.ownRequests === other.ownRequests &&
    one.bids.length === other.bids.length &&
    one.bids.every((bid, index) => isSameBid(bid, other.bids[index]));
}

function isSameBid(one: QuotaBid, other: QuotaBid | undefined): boolean {
  return one.name === other?.name && one.weight === other.weight && one.floor === other.floor &&
    one.ceiling === other.ceiling;
}

function countSize(sizes: Map<number, number>, size: number, sign: 1 | -1): void {
  const left = (sizes.get(size) ?? 0) + sign;
  if (left === 0) sizes.delete(size);
  else sizes.set(size, left);
}
