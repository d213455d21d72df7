/**
 * Where a pod's volumes bound its nodes: asked by the webhook before there is a pod, and by the controller
 * before it moves one.
 *
 * @module
 */
import type { PersistentVolume } from "../api/node.ts";
import type { NodeBounds } from "./bound_pod.ts";

/** A pod, as far as it has volumes. */
export interface ClaimingPod {
  readonly namespace: string;
  /** Names of its claims. */
  readonly claims: readonly string[];
}

/**
 * The bounds of those volumes that there are. A claim without one, as most are until their first pod has
 * found a node, bounds nothing.
 */
export function volumeBounds(
  { namespace, claims }: ClaimingPod,
  volumesOf: (claim: string) => readonly PersistentVolume[],
): readonly NodeBounds[] {
  return claims.flatMap((claim) =>
    volumesOf(`${namespace}/${claim}`).flatMap(({ nodes }): readonly NodeBounds[] =>
      nodes === undefined ? [] : [{ what: `its volume ${claim}`, terms: nodes }]
    )
  );
}
