/**
 * What the user's own limits are: on record, changed by others meanwhile, or lost and found again.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { Original, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  isMarketManager,
  originalLimitsOf,
  RESTORE_MANAGER,
} from "../../../shared/resize/original_limits.ts";
import { movesRequest } from "../../../shared/resize/qos.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { OwnerTemplates } from "../ports.ts";
import { type Originals, originalsOf } from "./own_limits.ts";

/** A limit that somebody else has set. */
export interface ForeignLimit {
  readonly container: string;
  /** The own limit so far, as a quantity; absent when there was none. */
  readonly from?: string;
  readonly to: string;
  /** Who has set it. */
  readonly manager: string;
}

/** What is known of a pod's own limits. */
export interface OwnLimits {
  /** False when nothing tells them: then the pod is left alone. */
  readonly known: boolean;
  /** What to put on record; absent when it is there already. */
  readonly originals?: Originals;
  /** Limits that others have set since the record was made. */
  readonly foreign: readonly ForeignLimit[];
}

/** What the question is about. */
export interface OwnLimitsCase {
  readonly pod: Pod;
  readonly allocation: PodAllocation;
  readonly memory: PodMemory;
}

/** What answers it. */
export interface OwnLimitsContext {
  readonly templates: OwnerTemplates;
  /** Ms of the monotonic clock. */
  readonly nowMs: number;
  /** True when the pod is at least as new as the last patch: only then do its managers count. */
  readonly current: boolean;
}

/** A template that did not tell is asked again after this, ms. */
const TEMPLATE_RETRY_MS = 300_000;

/**
 * Looks at the pod, then at the record, then at the template of the pod's owner. A patch that follows
 * names the version of the pod, so that no stale copy of anything else can lead to a wrong one.
 */
export async function settleOwnLimits(
  { pod, allocation: { status }, memory }: OwnLimitsCase,
  { templates, nowMs, current }: OwnLimitsContext,
): Promise<OwnLimits> {
  const recorded = status?.originalLimits;
  if (recorded !== undefined && !current) return { known: true, foreign: [] };
  let originalLimits = originalLimitsOf(pod, { recorded });
  if (originalLimits === undefined) {
    if (nowMs < memory.templateDueMs) return { known: false, foreign: [] };
    const template = await templates.limitsOf(pod);
    originalLimits = originalLimitsOf(pod, { recorded, template });
  }
  if (originalLimits === undefined) {
    memory.templateDueMs = nowMs + TEMPLATE_RETRY_MS;
    return { known: false, foreign: [] };
  }
  if (recorded !== undefined && areSame(recorded, originalLimits)) {
    return { known: true, foreign: [] };
  }
  const originalRequests = movesRequest(pod)
    ? originalLimits
    : status?.originalRequests ?? originalsOf(pod).originalRequests;
  const foreign = recorded === undefined ? [] : foreignLimits(pod, recorded, originalLimits);
  return { known: true, originals: { originalLimits, originalRequests }, foreign };
}

/** The allocation with the original limits that were found just now. */
export function withOriginals(
  allocation: PodAllocation,
  { originals }: Pick<OwnLimits, "originals">,
): PodAllocation {
  if (originals === undefined) return allocation;
  return { ...allocation, status: { ...allocation.status, ...originals } };
}

function areSame(some: readonly Original[], others: readonly Original[]): boolean {
  return some.length === others.length && some.every(({ name, cpu, replaces }, index) => {
    const other = others[index];
    return other?.name === name && other.cpu === cpu && other.replaces === replaces;
  });
}

/** Original limits that somebody else has changed since `recorded`. */
function foreignLimits(
  pod: Pod,
  recorded: readonly Original[],
  originals: readonly Original[],
): readonly ForeignLimit[] {
  return pod.containers.flatMap(({ name, limitManagers = [] }, index): ForeignLimit[] => {
    const manager = limitManagers.find((one) => !isMarketManager(one) && one !== RESTORE_MANAGER);
    const from = recorded.find((one) => one.name === name)?.cpu;
    const to = originals[index]?.cpu;
    if (manager === undefined || to === undefined || to === from) return [];
    return [{ container: name, ...(from === undefined ? {} : { from }), to, manager }];
  });
}
