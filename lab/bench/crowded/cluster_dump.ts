/**
 * All objects of the cluster at a moment, as far as they can be listed and mean anything: not what is
 * written all the time, and not the product's own.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  type JSONObject,
  listOf,
  objectOf,
  textOf,
} from "../../../adapters/kube/client/json_fields.ts";

/** Objects as the server has them, by group, resource, namespace and name. */
export type ClusterDump = ReadonlyMap<string, JSONObject>;

/** `resource.group`, or a whole group; the core's is empty. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "events.",
  "events.events.k8s.io",
  "componentstatuses.",
  "endpoints.",
  "endpointslices.discovery.k8s.io",
  "leases.coordination.k8s.io",
  "leasecandidates.coordination.k8s.io",
  "podallocations.allocation.mbcas.io",
]);
const LEFT_OUT_GROUPS: ReadonlySet<string> = new Set(["metrics.k8s.io"]);

/** Where objects of one kind are listed. */
interface Collection {
  /** For instance `pods.` or `deployments.apps`. */
  readonly name: string;
  readonly path: string;
}

/** Lists everything. */
export async function dumpCluster(connection: KubeConnection): Promise<ClusterDump> {
  const dump = new Map<string, JSONObject>();
  for (const { name, path } of await collections(connection)) {
    const { items } = objectOf(await connection.request({ path }));
    for (const item of listOf(items).map(objectOf)) {
      const { namespace, name: own } = objectOf(item["metadata"]);
      dump.set(`${name} ${textOf(namespace) ?? ""}/${textOf(own) ?? ""}`, item);
    }
  }
  return dump;
}

/** Each kind once, in the version that the server prefers. */
async function collections(connection: KubeConnection): Promise<Collection[]> {
  const { groups } = objectOf(await connection.request({ path: "/apis" }));
  const bases = [{ group: "", path: "/api/v1" }];
  for (const { name, preferredVersion } of listOf(groups).map(objectOf)) {
    const group = textOf(name) ?? "";
    if (LEFT_OUT_GROUPS.has(group)) continue;
    bases.push({ group, path: `/apis/${textOf(objectOf(preferredVersion).groupVersion)}` });
  }
  const found: Collection[] = [];
  for (const { group, path } of bases) {
    const { resources } = objectOf(await connection.request({ path }));
    for (const { name, verbs } of listOf(resources).map(objectOf)) {
      const plural = textOf(name) ?? "";
      if (!listOf(verbs).includes("list") || LEFT_OUT.has(`${plural}.${group}`)) continue;
      found.push({ name: `${plural}.${group}`, path: `${path}/${plural}` });
    }
  }
  return found;
}
