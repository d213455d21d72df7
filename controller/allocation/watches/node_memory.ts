/**
 * Which changes of a node concern its pods.
 *
 * @module
 */
import { isOldKubelet } from "../../../shared/actuation/old_kubelet.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Informer } from "../../../shared/control/informer.ts";

/**
 * The function says whether the node of this name is for its pods another one than when it was last
 * asked. A node tells of itself every few seconds; one that is gone is forgotten.
 */
export function createNodeMemory(
  copy: Pick<Informer<Node>, "all" | "get">,
): (nodeName: string) => boolean {
  const known = new Map<string, string>();
  for (const node of copy.all()) known.set(node.metadata.name, stateOf(node));
  return (nodeName) => {
    const node = copy.get(nodeName);
    const before = known.get(nodeName);
    if (node === undefined) return known.delete(nodeName);
    const now = stateOf(node);
    known.set(nodeName, now);
    return now !== before;
  };
}

function stateOf({ kubeletVersion, os, ready, draining, cordonedAtMs, unreadable }: Node): string {
  return `${isOldKubelet(kubeletVersion)} ${os} ${ready} ${draining} ${cordonedAtMs} ${unreadable}`;
}
