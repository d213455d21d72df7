/**
 * What the largest node has for pods.
 *
 * @module
 */
import type { Node } from "../api/node.ts";
import type { LargestNode } from "./guards/rightsizing_facts.ts";

/**
 * The most of each resource that any of the nodes has: a pod that requests more waits for a node that
 * there is not. A node that does not tell may have any amount; undefined without nodes. Which of them
 * the pod could go to is not asked.
 */
export function largestNode(
  nodes: Iterable<Pick<Node, "allocatableCPU" | "allocatableMemory">>,
): LargestNode | undefined {
  let largest: LargestNode | undefined;
  for (const { allocatableCPU, allocatableMemory } of nodes) {
    largest = {
      allocatableCPU: Math.max(largest?.allocatableCPU ?? 0, allocatableCPU || Infinity),
      allocatableMemory: Math.max(largest?.allocatableMemory ?? 0, allocatableMemory || Infinity),
    };
  }
  return largest;
}
