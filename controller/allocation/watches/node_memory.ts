/**
 * Which changes of a node concern its pods.
 *
 * @module
 */
import type { Node } from "../../../shared/api/node.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { isOldKubelet } from "../../../shared/resize/checks/platform.ts";
import { createChangeMemory } from "./change_memory.ts";

/** See {@linkcode createChangeMemory}; keys are names. A node updates its status every few seconds. */
export function createNodeMemory(
  copy: Pick<Informer<Node>, "all" | "get">,
): (nodeName: string) => boolean {
  return createChangeMemory(copy, stateOf);
}

function stateOf({ kubeletVersion, os, ready, draining, cordonedAtMs }: Node): string {
  return `${isOldKubelet(kubeletVersion)} ${os} ${ready} ${draining} ${cordonedAtMs}`;
}
