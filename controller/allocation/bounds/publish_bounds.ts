/**
 * Keeps one allocation per managed pod, and its bounds fresh.
 *
 * @module
 */
import type { Bounds, ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { MarketConfig } from "../../config.ts";
import { hasMoved, type MetricFact } from "../../metrics_demand/metric_fact.ts";
import { boundStory } from "./bound_story.ts";
import type { KnownRule } from "./bound_rules.ts";
import type { QuotaBounds } from "./namespace_bounds.ts";
import { boundsOf } from "./bounds.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import type { OldDefinition } from "./old_definition.ts";
import { type Originals, originalsOf } from "../original_limits.ts";
import { desiredLimits, originalValues } from "../../../shared/resize/original_limits.ts";
import type { AnnotationWarning } from "./annotation_warning.ts";
import type { AllocationStore } from "../../resize/ports.ts";
import { type BoundCrowd, boundCrowd } from "../pace/node_writes.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

/** A ceiling that neither binds nor moves by this share is not rewritten. */
const CEILING_HYSTERESIS = 0.1;

/** The allocation of a pod that has none yet. */
export function newAllocation({ pod }: Pick<PodSnapshot, "pod">): PodAllocation {
  const { name, namespace, uid } = pod.metadata;
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: {
      name: uid,
      namespace,
      uid: "",
      resourceVersion: "",
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    spec: { podName: name, podUID: uid, nodeName: pod.nodeName, namespace },
  };
}

/** The result of publishing. */
export interface Published {
  /** True when the bounds were written. */
  readonly written: boolean;
  /** The revision that the agent must clear by; absent where it already does. */
  readonly revision?: number;
  /** The rules that did not apply before. */
  readonly added: readonly KnownRule[];
  /** Time of the next change without an event, ms since 1970. */
  readonly untilMs?: number | undefined;
  /** Annotations that don't count, and why. */
  readonly warnings: readonly AnnotationWarning[];
}

/** Input of publishing, beside the pod. */
export interface PublishContext {
  readonly store: AllocationStore;
  readonly config: MarketConfig;
  /** Original limits that are not recorded yet or have changed. */
  readonly originals?: Originals | undefined;
  /**
   * Whether the same bounds get a new revision, too, by which the agent then clears.
   *
   * @default {false}
   */
  readonly forcesRevision?: boolean;
  /** See `BoundsInput.quota`. */
  readonly quota?: QuotaBounds | undefined;
  /** The demand that a metric gives for the pod. */
  readonly metric?: MetricFact | undefined;
  /** See `BidFacts.rolloutStillSinceMs`. */
  readonly rolloutStillSinceMs?: number | undefined;
  /** See `BoundsInput.nodeCeiling`. */
  readonly nodeCeiling?: number | undefined;
  /** Wall-clock time, ms since 1970. */
  readonly nowMs: number;
  /** The fields that the server is known to store. @default {all} */
  readonly definition?: OldDefinition;
  /**
   * Takes the pod's turn where many pods change at once; false: it waits. Called by each reconcile,
   * without a crowd where only this pod changes.
   *
   * @default {() => true}
   */
  readonly takeTurn?: (crowd: BoundCrowd | undefined) => boolean;
  /**
   * Whether unchanged bounds may be written with new messages now; called only where messages differ.
   *
   * @default {() => true}
   */
  readonly mayRepublish?: () => boolean;
}

/**
 * Writes the bounds if they have changed. The first time it also writes the original limits, which
 * must be recorded before the first patch.
 */
export async function publishBounds(
  snapshot: PodSnapshot & { readonly allocation: PodAllocation },
  context: PublishContext,
): Promise<Published> {
  const { allocation, pod } = snapshot;
  const { store, config, quota, nodeCeiling, metric, nowMs } = context;
  const { forcesRevision = false, definition, takeTurn = () => true, mayRepublish = () => true } =
    context;
  const { originalLimits: recorded, originalRequests } = allocation.status ?? {};
  const originals = context.originals ?? (recorded === undefined ? originalsOf(pod) : undefined);
  const { burstFactor, leastCeiling } = config;
  const { warnings, untilMs, ...wanted } = boundsOf({
    ...snapshot,
    rolloutStillSinceMs: context.rolloutStillSinceMs,
    metric,
    nowMs,
    ...{ burstFactor, leastCeiling },
    priorityMultiplier: (priority) => priorityMultiplier(priority, config.priorityMultipliers),
    originalLimits: originalValues(originals?.originalLimits ?? recorded),
    ownRequests: originalValues(originals?.originalRequests ?? originalRequests),
    quota,
    nodeCeiling,
  });
  const draft = definition?.storable(wanted) ?? wanted;
  const present = allocation.status?.bounds;
  const same = present !== undefined && !forcesRevision && !differ(present, draft, allocation);
  const presentReason = present === undefined ? "" : present.reason;
  const published = { untilMs, warnings };
  const added = newRules(present, draft.rules);
  const before = reasonsOf(present?.rules);
  // A record that the first patch depends on does not wait for its turn.
  const crowd = originals === undefined
    ? boundCrowd({ before, now: reasonsOf(draft.rules) }) ??
      (forcesRevision ? "unconfirmed" : undefined)
    : undefined;
  const isTurn = takeTurn(crowd);
  if (originals === undefined && same && draft.reason === presentReason) {
    const isNew = boundStory(present.rules) !== boundStory(draft.rules);
    if (!isNew || !mayRepublish()) return { ...published, written: false, added: [] };
  }
  if (!isTurn) return { ...published, written: false, added: [] };
  // A status that was lost must not begin again with a revision that the agent has seen already.
  const last = present?.revision ?? allocation.spec.market?.observedBounds ?? 0;
  // New messages alone concern the agent not at all: the revision stays.
  const bounds = same
    ? { ...present, reason: draft.reason, rules: draft.rules }
    : { ...draft, revision: last + 1 };
  const { status } = await store.writeStatus({
    ...allocation,
    status: { ...allocation.status, ...originals, bounds },
  });
  definition?.compare(bounds, status?.bounds);
  const { revision } = bounds;
  return { ...published, written: true, added, ...(same ? {} : { revision }) };
}

function reasonsOf(rules: Bounds["rules"]): ReadonlySet<string> {
  return new Set(rules?.map(({ reason }) => reason));
}

/** Rules with a reason that was not there before. */
function newRules(
  present: Bounds | undefined,
  rules: readonly KnownRule[],
): readonly KnownRule[] {
  const before = reasonsOf(present?.rules);
  return rules.filter(({ reason }) => !before.has(reason));
}

function differ(
  present: Bounds,
  draft: Omit<Bounds, "revision">,
  allocation: PodAllocation,
): boolean {
  if (present.containers.length !== draft.containers.length) return true;
  const desired = desiredLimits(allocation.spec);
  return draft.containers.some((next) => {
    const old = present.containers.find(({ name }) => name === next.name);
    return old === undefined || sidesDiffer(old, next) ||
      ceilingMatters(old, next, desired.get(next.name));
  });
}

function sidesDiffer(old: ContainerBounds, next: ContainerBounds): boolean {
  return old.containerID !== next.containerID || old.floor !== next.floor ||
    old.weight !== next.weight || old.held !== next.held || old.boost !== next.boost ||
    old.requestMoves !== next.requestMoves || hasMoved(old.demand, next.demand);
}

/** True when the new ceiling cuts the present limit, frees one that was cut, or moved by 10 %. */
function ceilingMatters(
  old: ContainerBounds,
  next: ContainerBounds,
  desired: number | undefined,
): boolean {
  if (old.ceiling === next.ceiling) return false;
  const moved = Math.abs(next.ceiling - old.ceiling) >= CEILING_HYSTERESIS * old.ceiling;
  return moved || (desired !== undefined && desired >= Math.min(old.ceiling, next.ceiling));
}
