/**
 * Keeps one allocation per managed pod, and its bounds fresh.
 *
 * @module
 */
import type { Bounds, ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketConfig } from "../config.ts";
import { boundsOf } from "./bounds.ts";
import type { Gathered } from "./gather.ts";
import { type Originals, originalsOf, ownValues } from "./own_limits.ts";
import type { AllocationStore } from "./ports.ts";

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
  /** Annotations that don't count, and why. */
  readonly warnings: readonly string[];
}

/** What publishing needs beside the pod. */
export interface PublishContext {
  readonly store: AllocationStore;
  readonly config: MarketConfig;
  /** Own limits where they are not on record yet, or are others now. */
  readonly originals?: Originals | undefined;
  /** See `BoundsInput.quotaCeiling`. */
  readonly quotaCeiling?: number | undefined;
}

/**
 * Writes the bounds if they have changed, with the user's own limits on the first time: they must
 * be on record before the first patch.
 */
export async function publishBounds(
  gathered: Gathered & { readonly allocation: PodAllocation },
  { store, config, quotaCeiling, originals: given }: PublishContext,
): Promise<Published> {
  const { allocation, pod, namespace, node, limitRange } = gathered;
  const recorded = allocation.status?.originalLimits;
  const originals = given ?? (recorded === undefined ? originalsOf(pod) : undefined);
  const { burstFactor } = config;
  const { warnings, ...draft } = boundsOf({
    pod,
    namespace,
    nodeCPU: node?.allocatableCPU,
    burstFactor,
    ownLimits: ownValues(originals?.originalLimits ?? recorded),
    limitRange,
    quotaCeiling,
  });
  const present = allocation.status?.bounds;
  const same = present !== undefined && !differ(present, draft, allocation);
  if (originals === undefined && same) return { written: false, warnings };
  // A status that was lost must not begin again with a revision that the agent has seen already.
  const last = present?.revision ?? allocation.spec.market?.observedBounds ?? 0;
  const bounds = same ? present : { ...draft, revision: last + 1 };
  await store.writeStatus({
    ...allocation,
    status: { ...allocation.status, ...originals, bounds },
  });
  return { written: true, warnings };
}

function differ(
  present: Bounds,
  draft: Omit<Bounds, "revision">,
  allocation: PodAllocation,
): boolean {
  if (present.containers.length !== draft.containers.length) return true;
  const desired = ownValues(
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
    old.weight !== next.weight || old.held !== next.held;
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
