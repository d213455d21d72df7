/**
 * What is known of demand and limit: by container from the agent, otherwise of the pod as it was
 * written down last. Pure.
 *
 * @module
 */
import type { ContainerExplanation, Explanation } from "./explanation.ts";

/** Millicores; absent where unknown. */
export interface DemandAndLimit {
  readonly demand?: number | undefined;
  readonly limit?: number | undefined;
}

/** Demand within this share of the limit is no want. */
const NO_WANT = 0.01;

/** True when the demand is more than the limit allows; undefined when that is not known. */
export function exceeds({ demand, limit }: DemandAndLimit): boolean | undefined {
  return demand === undefined || limit === undefined ? undefined : demand > limit * (1 + NO_WANT);
}

/** The container's demand, and its limit as the kubelet reports it, or else as the spec has it. */
export function demandAndLimit({ view, applied, limit }: ContainerExplanation): DemandAndLimit {
  return { demand: view?.demand, limit: applied ?? limit };
}

/** Of each container with a limit that counts; of the whole pod where no agent answers. */
export function demandsAndLimits(
  { containers, nodeView, market, desired }: Explanation,
): readonly DemandAndLimit[] {
  if (nodeView === undefined) return [{ demand: market?.demand, limit: desired }];
  return containers.filter((one) => takesPart(one) && !isUnenforced(one)).map(demandAndLimit);
}

/** True where controller or agent know of the container: others have no limit to be moved. */
export function takesPart({ bounds, view }: ContainerExplanation): boolean {
  return bounds !== undefined || view !== undefined;
}

/** True where the agent has found that the kernel enforces no limit for the container. */
export function isUnenforced({ view }: ContainerExplanation): boolean {
  return view?.quotaOff === true;
}
