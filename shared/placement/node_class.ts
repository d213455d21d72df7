/**
 * Two kinds of nodes.
 *
 * @module
 */

/** `spot`: cheap, and may go at short notice. `on-demand`: all others. */
export const NODE_CLASSES = ["spot", "on-demand"] as const;

/** A word of {@linkcode NODE_CLASSES}. */
export type NodeClass = typeof NODE_CLASSES[number];

/** How many of something there are, by class. */
export type ClassCounts = Readonly<Record<NodeClass, number>>;

/** The other of the two. */
export function otherClass(one: NodeClass): NodeClass {
  return one === "spot" ? "on-demand" : "spot";
}
