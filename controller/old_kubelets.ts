/**
 * Nodes whose kubelet can't resize pods in place: reported once each, their pods are not tried.
 *
 * @module
 */
import type { Node } from "../shared/api/node.ts";
import type { Informer } from "../shared/control/informer.ts";
import type { Log } from "../shared/log.ts";

/** In-place resize is on by default from Kubernetes 1.33 (KEP-1287). */
const LEAST_MINOR = 33;

/** True for a version below 1.33; one that can't be read is given the benefit of the doubt. */
export function isOldKubelet(version: string | undefined): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === "1" && Number(minor) < LEAST_MINOR;
}

/** Logs each node with an old kubelet once, until the returned function is called. */
export function reportOldKubelets(
  nodes: Pick<Informer<Node>, "get" | "subscribe">,
  log: Log,
): () => void {
  const told = new Map<string, string>();
  return nodes.subscribe((key) => {
    const { kubeletVersion, metadata } = nodes.get(key) ?? {};
    if (metadata === undefined || !isOldKubelet(kubeletVersion)) return void told.delete(key);
    if (told.get(key) === kubeletVersion) return;
    told.set(key, kubeletVersion ?? "");
    log.warn("The node's kubelet can't resize pods in place: it needs 1.33 or newer", {
      node: metadata.name,
      kubelet: kubeletVersion,
    });
  });
}
