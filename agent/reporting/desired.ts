/**
 * The desired limits that the agent writes into allocations after a round.
 *
 * @module
 */
import type { Desired, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { isUnhurried, knownMarketReason } from "../../shared/api/reasons/reasons.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";
import { countableCPU, formatCPU } from "../../shared/quantity.ts";
import type { Participant } from "../market/participants.ts";
import type { ContainerResult, RoundResult } from "../market/round.ts";

/** A write of desired limits to an allocation. Times are ms of the monotonic clock. */
export interface DesiredWrite {
  readonly key: string;
  /** The allocation when the limits were decided. */
  readonly allocation: PodAllocation;
  readonly desired: Desired;
  /** True when the same was written before, and another client has changed it. @default {false} */
  readonly isRepeat?: boolean;
}

/** The last write to an allocation. */
export interface Written extends DesiredWrite {
  /** When the server accepted it, and the resulting version; absent before. */
  readonly sent?: { readonly at: number; readonly version: string };
}

/** Shortest time before a write is repeated, ms: another client may write again and again. */
export const REPEAT_MS = 5000;
/**
 * Time after a write from which any copy counts as newer, ms: the informer lists allocations every ten
 * minutes.
 */
const LISTED_MS = 600_000;

/**
 * The writes of a round: to allocations with a changed limit, without a clearing, or with changed bounds,
 * and, while the informer is `synced`, to those that another client has changed.
 */
export function desiredWrites(
  round: RoundResult,
  lastWritten: ReadonlyMap<string, Written>,
  { synced = true }: { readonly synced?: boolean } = {},
): DesiredWrite[] {
  return podsOf(round.containers).flatMap((containers): DesiredWrite[] => {
    const { allocation, key } = firstOf(containers).participant;
    const written = lastWritten.get(allocation.metadata.uid);
    const last = written?.desired ?? allocation.spec;
    const revision = allocation.status?.bounds?.revision ?? 0;
    const known = knownMarketReason(last.market?.reason);
    const changed = reasonOf(containers, known);
    const isStale = last.market?.observedBounds !== revision;
    const isFresh = changed !== undefined || last.containers === undefined || isStale;
    const isRepeat = !isFresh && synced && written !== undefined &&
      isOverwritten(written, { allocation, now: round.now });
    if (!isFresh && !isRepeat) return [];
    const reason = changed ?? known ?? "FirstClearing";
    const desired = desiredOf(containers, { round, reason, revision });
    return [{ key, allocation, desired, isRepeat }];
  });
}

/** A container's limit as last written by this agent; undefined where it wrote none. */
export function publishedLimit(
  lastWritten: ReadonlyMap<string, Written>,
): (participant: Participant) => number | undefined {
  return ({ allocation, bounds }) => {
    const written = lastWritten.get(allocation.metadata.uid);
    const limit = written?.desired.containers?.find(({ name }) => name === bounds.name)?.cpuLimit;
    return limit === undefined ? undefined : countableCPU(limit);
  };
}

/** The containers of each pod, in their order. */
export function podsOf(containers: readonly ContainerResult[]): readonly ContainerResult[][] {
  return [...Map.groupBy(containers, ({ participant }) => participant.allocation).values()];
}

/** The first container of a pod that has one. */
export function firstOf(containers: readonly ContainerResult[]): ContainerResult {
  return containers[0] as ContainerResult;
}

/**
 * Why the pod is to be written: the reason of a moved limit, or a notice, unless the allocation has that
 * already, as after a restart of the agent. `QuotaOff` takes precedence, as there is one notice of it;
 * `QuotaBack` counts only after `QuotaOff`.
 */
function reasonOf(
  containers: readonly ContainerResult[],
  known: MarketReason | undefined,
): MarketReason | undefined {
  const moved = mainReason(containers);
  const notices = containers.flatMap(({ notice }) => notice ?? [])
    .filter((notice) => notice !== known && (notice !== "QuotaBack" || known === "QuotaOff"));
  if (moved === undefined) return notices[0];
  return notices.includes("QuotaOff") ? "QuotaOff" : moved;
}

/** More than any limit, millicores. */
const URGENT = 1e9;

/** The reason of the largest move among the pod's containers; urgent reasons take precedence. */
function mainReason(containers: readonly ContainerResult[]): MarketReason | undefined {
  const moved = containers.flatMap(({ changedFor: reason, limit, from }) => {
    if (reason === undefined) return [];
    return [{ reason, rank: Math.abs(limit - from) + (isUnhurried(reason) ? 0 : URGENT) }];
  });
  return moved.toSorted((a, b) => b.rank - a.rank)[0]?.reason;
}

function desiredOf(
  containers: readonly ContainerResult[],
  { round, reason, revision }: { round: RoundResult; reason: MarketReason; revision: number },
): Desired {
  const sum = (value: (container: ContainerResult) => number): number =>
    containers.reduce((total, container) => total + value(container), 0);
  return {
    desiredCPULimit: formatCPU(sum(({ limit }) => limit)),
    containers: containers.map(({ participant: { bounds }, limit }) => ({
      name: bounds.name,
      cpuLimit: formatCPU(limit),
    })),
    market: {
      mode: round.mode,
      state: round.nodeState.state,
      ...(Number.isFinite(round.price) ? { price: round.price * MILLICORES_PER_CORE } : {}),
      demand: Math.round(sum(({ state, need }) => state.demand ?? need)),
      need: Math.round(sum(({ need }) => need)),
      credit: sum(({ state }) => state.credit) / containers.length,
      reason,
      observedBounds: revision,
    },
  };
}

const MILLICORES_PER_CORE = 1000;

/**
 * Whether another client has changed what was written: the copy differs, and is at least as new as the
 * written version. An older copy is of a slow watch, or etcd was restored from a backup.
 */
export function isOverwritten(
  { desired, allocation: before, sent }: Written,
  { allocation, now }: { readonly allocation: PodAllocation; readonly now: number },
): boolean {
  if (sent === undefined || now - sent.at < REPEAT_MS) return false;
  const { metadata: { resourceVersion }, spec } = allocation;
  const isCurrent = now - sent.at >= LISTED_MS ||
    (isAtLeast(resourceVersion, sent.version) ??
      resourceVersion !== before.metadata.resourceVersion);
  return isCurrent && !hasWritten(spec, desired);
}

/** Whether the spec has the limits and the revision that were written. */
function hasWritten({ containers = [], market }: Desired, written: Desired): boolean {
  const limits = written.containers ?? [];
  return market?.observedBounds === written.market?.observedBounds &&
    containers.length === limits.length &&
    limits.every(({ name, cpuLimit }) =>
      containers.some((one) => one.name === name && one.cpuLimit === cpuLimit)
    );
}
