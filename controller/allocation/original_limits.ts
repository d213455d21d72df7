/**
 * The user's original limits and requests: on record, changed by others meanwhile, or lost and found again.
 *
 * @module
 */
import {
  isMarketManager,
  originalLimitsOf,
  RESTORE_MANAGER,
} from "../../shared/resize/original_limits.ts";
import { movesRequest } from "../../shared/resize/inputs/qos.ts";
import { withCPU } from "../../shared/resize/inputs/subject.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Original, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { PodMemory } from "./pod_memory.ts";
import type { OwnerTemplates } from "../../shared/api/ports.ts";
import { formatCPU } from "../../shared/quantity.ts";

/** Original limits and requests, for the record. */
export interface Originals {
  readonly originalLimits: Original[];
  readonly originalRequests: Original[];
}

/** Limits and requests that stand in the pod's spec now. */
export function originalsOf({ containers }: Pod): Originals {
  const entry = (name: string, cpu: number | undefined): Original =>
    cpu === undefined ? { name } : { name, cpu: formatCPU(cpu) };
  return {
    originalLimits: containers.map(({ name, limits }) => entry(name, limits.cpu)),
    originalRequests: containers.map(({ name, requests }) => entry(name, requests.cpu)),
  };
}

/** The pod with the user's own requests, where the market moves those in its spec. */
export function atOriginalRequests(pod: Pod, ownRequests: ReadonlyMap<string, number>): Pod {
  return movesRequest(pod) ? withCPU(pod, { side: "requests", values: ownRequests }) : pod;
}

/** A limit that another manager has set. */
export interface ForeignLimit {
  readonly container: string;
  /** The original limit so far, as a quantity; absent when there was none. */
  readonly from?: string;
  readonly to: string;
  /** The manager that has set it. */
  readonly manager: string;
}

/** A pod's original limits, if they are known. */
export interface FoundOriginals {
  /** False when they are unknown: then the pod stays as it is. */
  readonly known: boolean;
  /** Original limits to put on record; absent when they are there already. */
  readonly originals?: Originals;
  /** Limits that others have set since the record was made. */
  readonly foreign: readonly ForeignLimit[];
}

/** A template without an answer is read again after this, ms. */
const TEMPLATE_RETRY_MS = 300_000;

/**
 * Looks at the pod, then at the record, then at the template of the pod's owner. A patch that follows
 * names the version of the pod, so that no stale copy of anything else can lead to a wrong one.
 */
export async function findOriginals(
  pod: Pod,
  { status }: PodAllocation,
  { memory, templates, nowMs, current }: {
    readonly memory: PodMemory;
    readonly templates: OwnerTemplates;
    /** Ms of the monotonic clock. */
    readonly nowMs: number;
    /** True when the pod is at least as new as the last patch: only then do its managers count. */
    readonly current: boolean;
  },
): Promise<FoundOriginals> {
  const recorded = status?.originalLimits;
  if (recorded !== undefined && !current) return { known: true, foreign: [] };
  let originalLimits = originalLimitsOf(pod, { recorded });
  if (originalLimits === undefined && nowMs >= memory.templateDueMs) {
    const template = await templates.limitsOf(pod);
    originalLimits = originalLimitsOf(pod, { recorded, template });
    if (originalLimits === undefined) memory.templateDueMs = nowMs + TEMPLATE_RETRY_MS;
  }
  if (originalLimits === undefined) return { known: false, foreign: [] };
  if (recorded !== undefined && areSame(recorded, originalLimits)) {
    return { known: true, foreign: [] };
  }
  const originalRequests = movesRequest(pod)
    ? originalLimits
    : status?.originalRequests ?? originalsOf(pod).originalRequests;
  const foreign = recorded === undefined ? [] : foreignLimits(pod, recorded, originalLimits);
  return { known: true, originals: { originalLimits, originalRequests }, foreign };
}

function areSame(some: readonly Original[], others: readonly Original[]): boolean {
  return some.length === others.length && some.every(({ name, cpu, replaces }, index) => {
    const other = others[index];
    return other?.name === name && other.cpu === cpu && other.replaces === replaces;
  });
}

/** Original limits that another manager has changed since `recorded`. */
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
