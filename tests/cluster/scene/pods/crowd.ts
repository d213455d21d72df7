/**
 * A neighbour that borrows all that is free on the node, so that the limits of idle pods go down to
 * their floors.
 *
 * @module
 */
import { loadPod } from "./load_pod.ts";
import type { PodName, RealNode } from "../real_node.ts";

/**
 * Makes the pod. Its weight and its original limit are those of a giant; it uses nothing, and since it
 * is never Ready its original limit stays.
 */
export async function crowd(node: RealNode, namespace: string): Promise<PodName> {
  const name = "crowd";
  const containers = [
    { name: "load", request: "300m", limit: "1800m", readyFile: "/tmp/never" },
  ];
  await node.create(
    `/api/v1/namespaces/${namespace}/pods`,
    loadPod({ name, namespace, containers }),
  );
  return { namespace, name };
}
