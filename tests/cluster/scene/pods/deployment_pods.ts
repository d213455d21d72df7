/**
 * A Deployment's pods.
 *
 * @module
 */
import { listOf, objectOf } from "../../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { PodName, RealNode } from "../real_node.ts";

/** Those that are not ending, the oldest first. */
export async function deploymentPods(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
): Promise<readonly Pod[]> {
  const query = { labelSelector: `app=${name}` };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = objectOf(await connection.request({ path, query }));
  return listOf(items)
    .map((item) => ({ pod: parsePod(item), created: createdAt(item) }))
    .filter(({ pod }) => !pod.metadata.terminating)
    .sort((a, b) => a.created.localeCompare(b.created))
    .map(({ pod }) => pod);
}

function createdAt(item: unknown): string {
  return String(objectOf(objectOf(item).metadata).creationTimestamp);
}
