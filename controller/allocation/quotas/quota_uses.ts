/**
 * What the pods of a namespace use of its quotas, kept up to date pod by pod: pods are looked at in
 * crowds, and a look at a whole namespace would cost each of them as much as the namespace has pods.
 *
 * @module
 */
import { quotaCounts, type ScopedPod } from "../../../shared/actuation/quota_counts.ts";
import type { ResourceQuota } from "../../../shared/api/resource_quota.ts";
import type { Caches } from "../caches.ts";
import { podKeyOf } from "../gather.ts";
import { type PodUse, podUseOf } from "./pod_use.ts";
import type { QuotaResource } from "./quota_ledger.ts";

/** What the pods that a quota counts use of a resource, millicores. */
export interface QuotaUse {
  /** By their specs: the quota's own count may be behind them. */
  readonly used: number;
  /** What may be taken back of it. */
  readonly raised: number;
  /** The own value of the largest pod; 0 where no pod has any. */
  readonly largest: number;
  /** How many pods have a share in what the quota leaves. */
  readonly claimants: number;
}

/** What all pods use, as their copies have it now. */
export interface QuotaUses {
  /** By the pods that the quota counts. */
  of(quota: ResourceQuota, resource: QuotaResource): QuotaUse;
  /** By one pod; undefined when there is none, or it has ended. */
  pod(podKey: string): PodUse | undefined;
  /** No quota asks about the namespace any more. */
  forget(namespace: string): void;
  /** Ends the watching of the copies. */
  stop(): void;
}

/** A sum over pods; how many of them have which own value. */
interface Tally {
  used: number;
  raised: number;
  claimants: number;
  readonly sizes: Map<number, number>;
}

/** Pods that the same quotas count. */
interface Group {
  readonly scoped: ScopedPod;
  readonly tallies: Readonly<Record<QuotaResource, Tally>>;
}

/** A namespace that has quotas: some 200 bytes a pod. */
interface Book {
  readonly entries: Map<string, PodUse & { readonly group: Group }>;
  /** Few: by what scopes look at. */
  readonly groups: Map<string, Group>;
}

/** Reads a namespace once when it is first asked about, and then what changes in it. */
export function createQuotaUses(
  { pods, allocations }: {
    readonly pods: Pick<Caches["pods"], "get" | "byIndex" | "subscribe">;
    readonly allocations: Pick<Caches["allocations"], "get" | "subscribe">;
  },
): QuotaUses {
  const books = new Map<string, Book>();

  function bookOf(namespace: string): Book {
    const known = books.get(namespace);
    if (known !== undefined) return known;
    const book: Book = { entries: new Map(), groups: new Map() };
    books.set(namespace, book);
    for (const { metadata: { name } } of pods.byIndex(namespace)) {
      update(book, `${namespace}/${name}`);
    }
    return book;
  }

  function update({ entries, groups }: Book, podKey: string): void {
    const old = entries.get(podKey);
    if (old !== undefined) count(old.group, old, -1);
    entries.delete(podKey);
    const pod = pods.get(podKey);
    if (pod === undefined) return;
    const { namespace, uid } = pod.metadata;
    const use = podUseOf(pod, allocations.get(`${namespace}/${uid}`));
    if (use === undefined) return;
    const group = groupOf(groups, pod);
    count(group, use, 1);
    entries.set(podKey, { ...use, group });
  }

  function hear(podKey: string): void {
    const namespace = namespaceOf(podKey);
    const book = books.get(namespace);
    if (book === undefined) return;
    update(book, podKey);
    // The namespace may be on its way out; otherwise the next question reads it anew.
    if (book.entries.size === 0) books.delete(namespace);
  }

  const stops = [
    pods.subscribe(hear),
    allocations.subscribe((key) => {
      const allocation = allocations.get(key);
      // One that is gone ends with its pod, or with own limits in it: then the pod itself has told.
      if (allocation !== undefined) hear(podKeyOf(allocation));
    }),
  ];

  return {
    of(quota, resource) {
      const { groups } = bookOf(quota.metadata.namespace);
      const sum = { used: 0, raised: 0, largest: 0, claimants: 0 };
      for (const { scoped, tallies: { [resource]: tally } } of groups.values()) {
        if (!quotaCounts(quota, scoped)) continue;
        sum.used += tally.used;
        sum.raised += tally.raised;
        sum.claimants += tally.claimants;
        sum.largest = Math.max(sum.largest, ...tally.sizes.keys());
      }
      return sum;
    },
    pod: (podKey) => bookOf(namespaceOf(podKey)).entries.get(podKey),
    forget: (namespace) => void books.delete(namespace),
    stop() {
      for (const stop of stops) stop();
      books.clear();
    },
  };
}

function namespaceOf(podKey: string): string {
  return podKey.slice(0, podKey.indexOf("/"));
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
  return { used: 0, raised: 0, claimants: 0, sizes: new Map() };
}

/** Takes the pod into the group's sums, or out of them: whole millicores, so that nothing is lost. */
function count({ tallies: { limits, requests } }: Group, use: PodUse, sign: 1 | -1): void {
  limits.used += sign * use.limits;
  requests.used += sign * use.requests;
  countSize(limits.sizes, use.ownLimits, sign);
  countSize(requests.sizes, use.ownRequests, sign);
  for (const tally of use.moves ? [limits, requests] : [limits]) {
    tally.raised += sign * use.raise;
    if (use.claims) tally.claimants += sign;
  }
}

function countSize(sizes: Map<number, number>, size: number, sign: 1 | -1): void {
  const left = (sizes.get(size) ?? 0) + sign;
  if (left === 0) sizes.delete(size);
  else sizes.set(size, left);
}
