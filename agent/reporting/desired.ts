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

/** An allocation and what its spec should be. Times are ms of the monotonic clock. */
export interface DesiredWrite {
  readonly key: string;
  /** The copy that it was decided on. */
  readonly allocation: PodAllocation;
  readonly desired: Desired;
  /** True when it was written before, and another client has changed it since. @default {false} */
  readonly isRepeat?: boolean;
}

/** The last write to an allocation. */
export interface Written extends DesiredWrite {
  /** When the server took it, and the version that has it; absent while it is on its way. */
  readonly sent?: { readonly at: number; readonly version: string };
}

/** Least age of a write that is repeated, ms: another client may write again and again. */
export const REPEAT_MS = 5000;
/**
 * So long after a write, ms, also an older copy shows what is there: allocations are listed every ten
 * minutes.
 */
const LISTED_MS = 600_000;

/**
 * The writes that a round calls for: allocations with a changed limit, those that were never
 * cleared, those with bounds that have changed since, and those that another client has changed. The
 * last can't be known while the allocations are not `synced`.
 */
export function desiredWrites(
  round: RoundResult,
  lastWritten: ReadonlyMap<string, Written>,
  { synced = true }: { readonly synced?: boolean } = {},
): DesiredWrite[] {
  return podsOf(round.containers).flatMap((containers): DesiredWrite[] => {
    const { allocation, key } = firstOf(containers).participant;
    const written = lastWritten.get(key);
    // An allocation that was deleted and made anew has the same key, and nothing was written to it yet.
    const last = isOf(written, allocation) ? written.desired : allocation.spec;
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

/** Whether it was written to this allocation, not to one before it with the same key. */
export function isOf(
  written: Written | undefined,
  { metadata }: PodAllocation,
): written is Written {
  return written?.allocation.metadata.uid === metadata.uid;
}

/** A container's limit as last written by this agent; undefined where it wrote none. */
export function publishedLimit(
  lastWritten: ReadonlyMap<string, Written>,
): (participant: Participant) => number | undefined {
  return ({ key, allocation, bounds }) => {
    const written = lastWritten.get(key);
    if (!isOf(written, allocation)) return undefined;
    const limit = written.desired.containers?.find(({ name }) => name === bounds.name)?.cpuLimit;
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
 * Why the pod is to be written: what moved a limit, or a notice without that, unless the allocation has
 * it already, as after a restart of the agent. That a limit is not enforced is written once, so that it
 * comes first; that it is again is new only where that was the last reason.
 */
function reasonOf(
  containers: readonly ContainerResult[],
  known: MarketReason | undefined,
): MarketReason | undefined {
  const moved = weightiest(containers);
  const notices = containers.flatMap(({ notice }) => notice ?? [])
    .filter((notice) => notice !== known && (notice !== "QuotaBack" || known === "QuotaOff"));
  if (moved === undefined) return notices[0];
  return notices.includes("QuotaOff") ? "QuotaOff" : moved;
}

/** More than any limit, millicores. */
const URGENT = 1e9;

/**
 * The one reason of a pod: that of the container that moved most, among those moved for a reason that
 * work waits for, if there is one.
 */
function weightiest(containers: readonly ContainerResult[]): MarketReason | undefined {
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
 * True when the write is to be repeated: the copy is at least as new as the server's answer to
 * the agent's own write (an older one, of a slow watch, shows what stood there before, or for good
 * where etcd was restored from a backup), and differs from it.
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
  const wanted = written.containers ?? [];
  return market?.observedBounds === written.market?.observedBounds &&
    containers.length === wanted.length &&
    wanted.every(({ name, cpuLimit }) =>
      containers.some((one) => one.name === name && one.cpuLimit === cpuLimit)
    );
}
