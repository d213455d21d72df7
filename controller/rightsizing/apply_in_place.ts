/**
 * Brings running pods to wanted values, without a restart.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { marketManager, originalsIn } from "../../shared/resize/original_limits.ts";
import { resizePatch, type ResourceChange } from "../../shared/resize/patch.ts";
import type { InPlacePlan, PodChanges } from "../../shared/rightsizing/apply/in_place_plan.ts";
import { type ApplyFailure, applyFailure } from "../../shared/rightsizing/guards/apply_failure.ts";
import type { PodResizer } from "../allocation/ports.ts";

/** The hands that resize. */
export interface ResizeHands {
  /** Under rightsizing's name. */
  readonly resizer: PodResizer;
  /** Under the market's: for limits of its pods that are in the way of a request. */
  readonly marketResizer: PodResizer;
}

/** What became of the pods of a plan. */
export interface InPlaceOutcome {
  /** Pods that have the values now. */
  readonly resized: number;
  /** The others, those that were not tried any more left out. */
  readonly failures: readonly { readonly pod: string; readonly failure: ApplyFailure }[];
}

/**
 * Resizes the pods one by one. A missing permission ends it: the others would miss it as well. A pod that
 * is gone is no failure.
 *
 * The server refuses a request above the limit, and of a pod of the market the limit may be below the
 * user's own: `pods` has what it is, by UID. Then the limit is raised first, under the market's name,
 * since a value under another name would be taken for the user's own, and only on the version of the
 * pod that was read: its original limits go into that name.
 */
export async function applyInPlace(
  plan: InPlacePlan,
  pods: ReadonlyMap<string, Pod>,
  { resizer, marketResizer }: ResizeHands,
): Promise<InPlaceOutcome> {
  const failures: { pod: string; failure: ApplyFailure }[] = [];
  let resized = 0;
  for (const { namespace, name, uid, changes } of plan.pods) {
    try {
      const pod = pods.get(uid);
      const lifts = liftsOf(changes, pod);
      if (pod !== undefined && lifts.length > 0) {
        const { resourceVersion } = pod.metadata;
        const manager = marketManager(pod, originalsIn(pod));
        const patch = resizePatch(uid, lifts, { resourceVersion });
        await marketResizer.resize(namespace, name, patch, { manager });
      }
      await resizer.resize(namespace, name, resizePatch(uid, changes));
      resized++;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const failure = applyFailure(error);
      if (failure.next === "forget") continue;
      failures.push({ pod: name, failure });
      if (failure.permission !== undefined) break;
    }
  }
  return { resized, failures };
}

/** Limits that are below the new request of their container, and that nobody is about to change. */
function liftsOf(
  changes: PodChanges["changes"],
  pod: Pod | undefined,
): readonly ResourceChange[] {
  return changes.flatMap(({ name, sidecar, requestCPU, limitCPU }): ResourceChange[] => {
    const present = pod?.containers.find((one) => one.name === name)?.limitCPU;
    const isBelow = requestCPU !== undefined && present !== undefined && present < requestCPU;
    return isBelow && limitCPU === undefined ? [{ name, sidecar, limitCPU: requestCPU }] : [];
  });
}
