/**
 * The record of a managed pod, and what to write of its bounds.
 *
 * @module
 */
import type {
  BoundRule,
  Bounds,
  ContainerBounds,
  PodAllocation,
} from "../../../shared/api/pod_allocation.ts";
import type { MarketConfig } from "../../config.ts";
import { hasMoved, type MetricFact } from "../../metrics_demand/metric_fact.ts";
import type { KnownRule } from "./bound_rules.ts";
import type { QuotaBounds } from "./namespace_bounds.ts";
import { boundsOf } from "./bounds.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import { type Originals, originalsOf } from "../original_limits.ts";
import { desiredLimits, originalValues } from "../../../shared/resize/original_limits.ts";
import type { AnnotationWarning } from "./annotation_warning.ts";
import { type BoundCrowd, boundCrowd } from "../pace/node_writes.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";

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

/** What becomes of the bounds, as `planBounds()` decides it. */
export interface BoundsPlan {
  /** What to write; `messages`: the same bounds with other texts. */
  readonly write: "nothing" | "messages" | "bounds";
  /** As they are written. */
  readonly bounds: Bounds;
  /** The revision that the agent must clear by; absent where it already does. */
  readonly revision?: number;
  /** Original limits and requests to record with them. */
  readonly originals: Originals | undefined;
  /** The change that concerns many pods at once; undefined where only this pod changes. */
  readonly crowd: BoundCrowd | undefined;
  /** The rules that did not apply before. */
  readonly added: readonly KnownRule[];
  /** Time of the next change without an event, ms since 1970. */
  readonly untilMs?: number | undefined;
  /** Annotations that don't count, and why. */
  readonly warnings: readonly AnnotationWarning[];
}

/** Input of the bounds that is not in the pod's objects. */
export interface BoundsSources {
  readonly quota: QuotaBounds | undefined;
  /** The demand that a metric gives for the pod. */
  readonly metric: MetricFact | undefined;
  /** See `BidFacts.rolloutStillSinceMs`. */
  readonly rolloutStillSinceMs: number | undefined;
  readonly nodeCeiling: number | undefined;
}

/** Input of `planBounds()`, beside the pod. */
export interface BoundsPlanInput extends Partial<BoundsSources> {
  readonly config: MarketConfig;
  /** Original limits that are not recorded yet or have changed. */
  readonly originals?: Originals | undefined;
  /**
   * Whether the same bounds get a new revision, too, by which the agent then clears.
   *
   * @default {false}
   */
  readonly forcesRevision?: boolean;
  /** Wall-clock time, ms since 1970. */
  readonly wallMs: number;
}

/** False where the server has dropped a field of a container: its CRD is older than the controller. */
export function isStored(sent: Bounds, stored: Bounds | undefined): boolean {
  return sent.containers.every((container) => {
    const kept = stored?.containers.find(({ name }) => name === container.name) ?? {};
    return Object.entries(container)
      .every(([field, value]) => value === undefined || Object.hasOwn(kept, field));
  });
}

/**
 * Decides what to write of the bounds. The first time the original limits are written with them: they
 * must be recorded before the first patch. Pure.
 */
export function planBounds(
  snapshot: PodSnapshot & { readonly allocation: PodAllocation },
  input: BoundsPlanInput,
): BoundsPlan {
  const { allocation, pod } = snapshot;
  const { config, quota, nodeCeiling, metric, rolloutStillSinceMs, wallMs: nowMs } = input;
  const { forcesRevision = false } = input;
  const { originalLimits: recorded, originalRequests, bounds: present } = allocation.status ?? {};
  const originals = input.originals ?? (recorded === undefined ? originalsOf(pod) : undefined);
  const { burstFactor, leastCeiling } = config;
  const { warnings, untilMs, ...draft } = boundsOf({
    ...snapshot,
    ...{ rolloutStillSinceMs, metric, nowMs, quota, nodeCeiling, burstFactor, leastCeiling },
    priorityMultiplier: (priority) => priorityMultiplier(priority, config.priorityMultipliers),
    originalLimits: originalValues(originals?.originalLimits ?? recorded),
    ownRequests: originalValues(originals?.originalRequests ?? originalRequests),
  });
  const same = present !== undefined && !forcesRevision && !differ(present, draft, allocation);
  const isAsBefore = same && originals === undefined && draft.reason === present.reason;
  const newStory = isAsBefore && boundStory(present.rules) !== boundStory(draft.rules);
  const before = reasonsOf(present?.rules);
  // A status that was lost must not begin again with a revision that the agent has seen already.
  const last = present?.revision ?? allocation.spec.market?.observedBounds ?? 0;
  const plan = { originals, untilMs, warnings, added: newRules(present, draft.rules) };
  return {
    ...plan,
    write: newStory ? "messages" : isAsBefore ? "nothing" : "bounds",
    // A record that the first patch depends on does not wait for its turn.
    crowd: originals === undefined
      ? boundCrowd({ before, now: reasonsOf(draft.rules) }) ??
        (forcesRevision ? "unconfirmed" : undefined)
      : undefined,
    // New messages alone concern the agent not at all: the revision stays.
    ...(same
      ? { bounds: { ...present, reason: draft.reason, rules: draft.rules } }
      : { bounds: { ...draft, revision: last + 1 }, revision: last + 1 }),
  };
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

/**
 * Numbers move all the time where a quota is used or a metric asked, and the bounds hold those that
 * count. Those in names don't: `node-1`, `jobs2`.
 */
const NUMBER = /(?<![\w.-])\d+(?:\.\d+)?/g;

/**
 * Rules with the time of the last query in the message: it changes with each start of the controller.
 */
const VOLATILE: ReadonlySet<string> = new Set<BoundReason>(["MetricDemand"]);

/** Equal for messages that differ by numbers only. */
export function boundStory(rules: readonly BoundRule[] = []): string {
  return rules.filter(({ reason }) => !VOLATILE.has(reason))
    .map(({ reason, message }) => `${reason}: ${message.replace(NUMBER, "#")}`).join("\n");
}
