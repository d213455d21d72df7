/**
 * Where a pod's volumes bound its nodes: asked by the webhook before there is a pod, and by the controller
 * before it moves one.
 *
 * @module
 */
import type { Node } from "../api/node.ts";
import type { PersistentVolume } from "../api/persistent_volume.ts";
import { type HostClasses, HOSTNAME, type NodeBounds } from "./bound_pod.ts";
import { labelsMatch } from "../rightsizing/label_match.ts";
import { type NodeClasses, nodeClassOf, selectorOf } from "./node_classes.ts";

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

/**
 * Classes of the nodes that there are, found as they are asked for: few pods name a host. A node that
 * counts for a class, but to which the selector of that class sends nobody, is none of either.
 */
export function hostClasses(
  nodes: () => Iterable<Pick<Node, "metadata" | "labels">>,
  classes: NodeClasses,
): HostClasses {
  return {
    get(host) {
      for (const { metadata: { name }, labels = {} } of nodes()) {
        if (name !== host && labels[HOSTNAME] !== host) continue;
        const found = nodeClassOf(labels, classes);
        const sent = { matchLabels: selectorOf(found, classes), matchExpressions: [] };
        return labelsMatch(labels, sent) ? found : undefined;
      }
      return undefined;
    },
  };
}
