/**
 * What the user's own limits are: on record, changed by others meanwhile, or lost and found again.
 *
 * @module
 */
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { type ForeignLimit, takenOver } from "./other_writers.ts";
import { limitsAreOurs, type Originals, originalsFrom, originalsOf } from "./own_limits.ts";
import type { PodMemory } from "../pod_memory.ts";
import type { OwnerTemplates } from "../ports.ts";

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
  /** True when the pod is at least as new as the last patch: only then do its managers tell. */
  readonly current: boolean;
}

/** A template that did not tell is asked again after this, ms. */
const TEMPLATE_RETRY_MS = 300_000;

/** Looks at the record, then at who set the limits, then at the template of the pod's owner. */
export async function settleOwnLimits(
  { pod, allocation: { status }, memory }: OwnLimitsCase,
  { templates, nowMs, current }: OwnLimitsContext,
): Promise<OwnLimits> {
  const recorded = status?.originalLimits;
  if (recorded !== undefined) {
    const taken = current ? takenOver(recorded, pod) : undefined;
    if (taken === undefined) return { known: true, foreign: [] };
    const originalLimits = [...taken.originals];
    const originalRequests = movesRequest(pod)
      ? originalLimits
      : status?.originalRequests ?? originalsOf(pod).originalRequests;
    const originals = { originalLimits, originalRequests };
    return { known: true, originals, foreign: taken.changes };
  }
  if (!limitsAreOurs(pod)) {
    return { known: true, originals: originalsOf(pod), foreign: [] };
  }
  if (nowMs < memory.templateDueMs) return { known: false, foreign: [] };
  const template = await templates.limitsOf(pod);
  const originals = template === undefined ? undefined : originalsFrom(template, pod);
  if (originals !== undefined) return { known: true, originals, foreign: [] };
  memory.templateDueMs = nowMs + TEMPLATE_RETRY_MS;
  return { known: false, foreign: [] };
}
