/**
 * Two kinds of nodes.
 *
 * @module
 */

/** `spot`: cheap, and may go at short notice. `on-demand`: all others. */
export type NodeClass = "spot" | "on-demand";

/** How many of something there are, by class. */
export type ClassCounts = Readonly<Record<NodeClass, number>>;

/** The other of the two. */
export function otherClass(one: NodeClass): NodeClass {
  return one === "spot" ? "on-demand" : "spot";
}
