/**
 * Finds a pod's original limits and requests: in the pod, in the record, or in the template of its owner.
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

/** Limits and requests in the pod's spec. */
export function originalsOf({ containers }: Pod): Originals {
  const entry = (name: string, cpu: number | undefined): Original =>
    cpu === undefined ? { name } : { name, cpu: formatCPU(cpu) };
  return {
    originalLimits: containers.map(({ name, limits }) => entry(name, limits.cpu)),
    originalRequests: containers.map(({ name, requests }) => entry(name, requests.cpu)),
  };
}

/** The pod with the original requests, where the market moves those in its spec. */
export function atOriginalRequests(pod: Pod, requests: ReadonlyMap<string, number>): Pod {
  return movesRequest(pod) ? withCPU(pod, { side: "requests", values: requests }) : pod;
}

/** A limit that another manager has set. */
export interface ForeignLimit {
  readonly container: string;
  /** The original limit so far, as a quantity; absent when there was none. */
  readonly from?: string;
  readonly to: string;
  /** The field manager that has set it. */
  readonly manager: string;
}

/** The result of `findOriginals()`. */
export interface FoundOriginals {
  /** False when they are unknown: then the pod stays as it is. */
  readonly known: boolean;
  /** Original limits to record; absent when the record has them. */
  readonly unrecorded?: Originals;
  /** Limits that others have set since the record was made. */
  readonly foreign: readonly ForeignLimit[];
}

/** A template that did not give the original limits is read again after this, ms. */
const TEMPLATE_RETRY_MS = 300_000;

/**
 * Reads the pod, then the record, then the template of the pod's owner. The patch that follows names the
 * version of the pod, so that a stale cache of other objects can't lead to a wrong patch.
 */
export async function findOriginals(
  pod: Pod,
  { status }: PodAllocation,
  { memory, templates, nowMs, current }: {
    readonly memory: PodMemory;
    readonly templates: OwnerTemplates;
    readonly nowMs: number;
    /** True when the pod is at least as new as the last patch: only then its field managers count. */
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
  return { known: true, unrecorded: { originalLimits, originalRequests }, foreign };
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
    const manager = limitManagers.find((manager) =>
      !isMarketManager(manager) && manager !== RESTORE_MANAGER
    );
    const from = recorded.find((record) => record.name === name)?.cpu;
    const to = originals[index]?.cpu;
    if (manager === undefined || to === undefined || to === from) return [];
    return [{ container: name, ...(from === undefined ? {} : { from }), to, manager }];
  });
}
