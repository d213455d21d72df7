/**
 * Keeps one allocation per managed pod, and its bounds fresh.
 *
 * @module
 */
import type { Bounds, ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { MarketConfig } from "../../config.ts";
import { hasMoved, type MetricFact } from "../../metrics_demand/metric_fact.ts";
import type { Gathered } from "../gather.ts";
import { type Originals, originalsOf, originalValues } from "../limits/original_limits.ts";
import type { WordWarning } from "../news/word_warning.ts";
import { type BoundCrowd, boundCrowd } from "../pace/node_writes.ts";
import type { AllocationStore } from "../ports.ts";
import { boundStory } from "./bound_story.ts";
import type { BoundWord } from "./bound_words.ts";
import { boundsOf } from "./bounds.ts";
import type { QuotaBounds } from "./namespace_bounds.ts";
import type { OldDefinition } from "./old_definition.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

/** A ceiling that neither binds nor moves by this share is not rewritten. */
const CEILING_HYSTERESIS = 0.1;

/** The allocation of a pod that has none yet. */
export function newAllocation({ pod }: Pick<Gathered, "pod">): PodAllocation {
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

/** What publishing came to. */
export interface Published {
  /** True when the bounds were written. */
  readonly written: boolean;
  /** Of bounds that the agent is to clear by; absent where it knows them. */
  readonly revision?: number;
  /** What holds now and did not hold before, with its sentence. */
  readonly news: readonly BoundWord[];
  /** When the bounds will be others without an event, ms since 1970. */
  readonly untilMs?: number | undefined;
  /** Annotations that don't count, and why. */
  readonly warnings: readonly WordWarning[];
}

/** What publishing needs beside the pod. */
export interface PublishContext {
  readonly store: AllocationStore;
  readonly config: MarketConfig;
  /** Own limits where they are not on record yet, or are others now. */
  readonly originals?: Originals | undefined;
  /**
   * Whether the same bounds get a new revision, too, by which the agent then clears.
   *
   * @default {false}
   */
  readonly forcesRevision?: boolean;
  /** See `BoundsInput.quota`. */
  readonly quota?: QuotaBounds | undefined;
  /** What a metric says of the pod. */
  readonly metric?: MetricFact | undefined;
  /** See `BidFacts.rolloutStillSinceMs`. */
  readonly rolloutStillSinceMs?: number | undefined;
  /** See `BoundsInput.nodeCeiling`. */
  readonly nodeCeiling?: number | undefined;
  /** Wall-clock time, ms since 1970. */
  readonly nowMs: number;
  /** What the server is known to store. @default {all} */
  readonly definition?: OldDefinition;
  /**
   * Takes the pod's turn where many are written of at once; false: it waits. Called at each look,
   * without a crowd where nobody else is concerned.
   *
   * @default {() => true}
   */
  readonly takeTurn?: (crowd: BoundCrowd | undefined) => boolean;
  /**
   * Whether the same bounds may be written with other sentences now; called only where there are.
   *
   * @default {() => true}
   */
  readonly mayRetell?: () => boolean;
}

/**
 * Writes the bounds if they have changed, with the user's own limits on the first time: they must
 * be on record before the first patch.
 */
export async function publishBounds(
  gathered: Gathered & { readonly allocation: PodAllocation },
  context: PublishContext,
): Promise<Published> {
  const { allocation, pod } = gathered;
  const { store, config, quota, nodeCeiling, metric, nowMs } = context;
  const { forcesRevision = false, definition, takeTurn = () => true, mayRetell = () => true } =
    context;
  const { originalLimits: recorded, originalRequests } = allocation.status ?? {};
  const originals = context.originals ?? (recorded === undefined ? originalsOf(pod) : undefined);
  const { burstFactor, leastCeiling } = config;
  const { warnings, untilMs, ...wanted } = boundsOf({
    ...gathered,
    rolloutStillSinceMs: context.rolloutStillSinceMs,
    metric,
    nowMs,
    ...{ burstFactor, leastCeiling },
    priorityMultiplier: (priority) => priorityMultiplier(priority, config.priorityMultipliers),
    ownLimits: originalValues(originals?.originalLimits ?? recorded),
    ownRequests: originalValues(originals?.originalRequests ?? originalRequests),
    quota,
    nodeCeiling,
  });
  const draft = definition?.storable(wanted) ?? wanted;
  const present = allocation.status?.bounds;
  const same = present !== undefined && !forcesRevision && !differ(present, draft, allocation);
  const told = present === undefined ? "" : present.reason;
  const published = { untilMs, warnings };
  const news = newRules(present, draft.rules);
  const before = wordsOf(present?.rules);
  // What must be on record before the first patch waits for nobody.
  const crowd = originals === undefined
    ? boundCrowd({ before, now: wordsOf(draft.rules) }) ??
      (forcesRevision ? "unconfirmed" : undefined)
    : undefined;
  const isTurn = takeTurn(crowd);
  if (originals === undefined && same && draft.reason === told) {
    const isNew = boundStory(present.rules) !== boundStory(draft.rules);
    if (!isNew || !mayRetell()) return { ...published, written: false, news: [] };
  }
  if (!isTurn) return { ...published, written: false, news: [] };
  // A status that was lost must not begin again with a revision that the agent has seen already.
  const last = present?.revision ?? allocation.spec.market?.observedBounds ?? 0;
  // Other words for the same bounds are no news for the agent.
  const bounds = same
    ? { ...present, reason: draft.reason, rules: draft.rules }
    : { ...draft, revision: last + 1 };
  const { status } = await store.writeStatus({
    ...allocation,
    status: { ...allocation.status, ...originals, bounds },
  });
  definition?.compare(bounds, status?.bounds);
  const { revision } = bounds;
  return { ...published, written: true, news, ...(same ? {} : { revision }) };
}

function wordsOf(rules: Bounds["rules"]): ReadonlySet<string> {
  return new Set(rules?.map(({ reason }) => reason));
}

/** Rules whose word did not stand there before. */
function newRules(
  present: Bounds | undefined,
  rules: readonly BoundWord[],
): readonly BoundWord[] {
  const before = wordsOf(present?.rules);
  return rules.filter(({ reason }) => !before.has(reason));
}

function differ(
  present: Bounds,
  draft: Omit<Bounds, "revision">,
  allocation: PodAllocation,
): boolean {
  if (present.containers.length !== draft.containers.length) return true;
  const desired = originalValues(
    allocation.spec.containers?.map(({ name, cpuLimit }) => ({ name, cpu: cpuLimit })),
  );
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
