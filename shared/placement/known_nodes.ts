/**
 * Of which classes the nodes are that pods name.
 *
 * @module
 */
import { type Labels, labelsMatch } from "../api/label_selector.ts";
import type { Node } from "../api/node.ts";
import { HOSTNAME, type KnownNodes } from "./bound_pod.ts";
import type { NodeClass } from "./node_class.ts";
import { type NodeClasses, nodeClassOf, selectorOf } from "./node_classes.ts";

/**
 * Classes of the nodes that there are, found as they are asked for: few pods name a host or a pool. A node that
 * counts for a class, but to which the selector of that class sends nobody, is none of either.
 */
export function knownNodes(
  nodes: () => Iterable<Pick<Node, "metadata" | "labels">>,
  classes: NodeClasses,
): KnownNodes {
  function sentClass(labels: Labels): NodeClass | undefined {
    const found = nodeClassOf(labels, classes);
    const sent = { matchLabels: selectorOf(found, classes), matchExpressions: [] };
    return labelsMatch(labels, sent) ? found : undefined;
  }

  return {
    hostClass(host) {
      for (const { metadata: { name }, labels = {} } of nodes()) {
        if (name === host || labels[HOSTNAME] === host) return sentClass(labels);
      }
      return undefined;
    },
    poolClass(key, value) {
      const found = new Set<NodeClass | undefined>();
      for (const { labels = {} } of nodes()) {
        if (labels[key] === value) found.add(sentClass(labels));
      }
      return found.size === 1 ? [...found][0] : undefined;
    },
  };
}
