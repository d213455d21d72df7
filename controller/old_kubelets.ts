/**
 * Logs nodes with a kubelet that can't resize pods in place, once each. Their pods are
 * out of the market's scope.
 *
 * @module
 */
import type { Node } from "../shared/api/node.ts";
import type { Informer } from "../shared/control/informer.ts";
import type { Log } from "../shared/log.ts";
import { isOldKubelet } from "../shared/resize/checks/platform.ts";

/** Logs each node with an old kubelet once, until the returned function is called. */
export function reportOldKubelets(
  nodes: Pick<Informer<Node>, "get" | "subscribe">,
  log: Log,
): () => void {
  const reported = new Map<string, string>();
  return nodes.subscribe((key) => {
    const { kubeletVersion, metadata } = nodes.get(key) ?? {};
    if (metadata === undefined || !isOldKubelet(kubeletVersion)) return void reported.delete(key);
    if (reported.get(key) === kubeletVersion) return;
    reported.set(key, kubeletVersion ?? "");
    log.warn("The node's kubelet can't resize pods in place: it needs 1.33 or newer", {
      node: metadata.name,
      kubelet: kubeletVersion,
    });
  });
}
