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
import { MANAGED } from "../../../shared/api/market_keys.ts";

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

/** The objects that may change, and how. */
export interface DumpRules {
  /** Namespaces with pods that take part, unless they are opted out. */
  readonly namespaces: readonly string[];
  /** The Deployment that an autoscaler scales. */
  readonly scaled: { readonly namespace: string; readonly name: string };
}

/** Names of field managers and of what else is this product's. */
const OURS = /mbcas/;
/** Longer values are cut in the report. */
const LONGEST = 80;

/** A sentence a difference; secrets' values are not shown. */
export function dumpDifferences(
  { before, after }: { readonly before: ClusterDump; readonly after: ClusterDump },
  rules: DumpRules,
): string[] {
  const differences: string[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(key), after.get(key)];
    const present = is ?? was;
    if (present === undefined || (is === undefined || was === undefined)) {
      if (present !== undefined && isReplica(present, rules)) continue;
      differences.push(`${key} ${is === undefined ? "is gone" : "is new"}`);
      continue;
    }
    const isPublic = !key.startsWith("secrets.");
    for (const { path, from, to } of changes(lasting(was, rules), lasting(is, rules))) {
      const values = isPublic ? `: ${shown(from)} → ${shown(to)}` : "";
      differences.push(`${key} ${path}${values}`);
    }
  }
  return differences;
}

/** The object without what is volatile or may change. */
function lasting(object: JSONObject, rules: DumpRules): JSONObject {
  const { status: _status, ...rest } = object;
  const { resourceVersion: _version, generation: _generation, managedFields, ...metadata } =
    objectOf(object["metadata"]);
  const managed = isManaged(object, rules);
  // Times and versions of the fields' managers move; that one of ours is among them must not be new.
  const ours = listOf(managedFields).flatMap((each) => textOf(objectOf(each).manager) ?? [])
    .filter((manager) => OURS.test(manager));
  return {
    ...rest,
    ...(rest["spec"] === undefined ? {} : { spec: lastingSpec(object, { managed, rules }) }),
    metadata: {
      ...(isScaled(object, rules) ? withoutScaling(metadata) : metadata),
      ...(managed ? {} : { managers: [...new Set(ours)].sort() }),
    },
  };
}

function lastingSpec(
  object: JSONObject,
  { managed, rules }: { readonly managed: boolean; readonly rules: DumpRules },
): JSONObject {
  const spec = objectOf(object["spec"]);
  if (managed) {
    const containers = listOf(spec["containers"]).map((container) => withoutLimit(container));
    return { ...spec, containers };
  }
  if (!isScaled(object, rules)) return spec;
  const { replicas: _replicas, ...rest } = spec;
  return rest;
}

function withoutLimit(container: unknown): JSONObject {
  const { resources, ...rest } = objectOf(container);
  const { limits, ...others } = objectOf(resources);
  const { cpu: _cpu, ...kept } = objectOf(limits);
  return { ...rest, resources: { ...others, limits: kept } };
}

/** The Deployment's controller notes the number of replicas on its ReplicaSets, too. */
function withoutScaling(metadata: JSONObject): JSONObject {
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, annotations, ...rest } =
    metadata;
  const kept = Object.entries(objectOf(annotations))
    .filter(([name]) => !name.startsWith("deployment.kubernetes.io/"));
  return { ...rest, annotations: Object.fromEntries(kept) };
}

function isPod(object: JSONObject): boolean {
  return objectOf(object["spec"])["containers"] !== undefined;
}

function isManaged(object: JSONObject, { namespaces }: DumpRules): boolean {
  const { namespace, annotations } = objectOf(object["metadata"]);
  return isPod(object) && namespaces.some((each) => each === namespace) &&
    objectOf(annotations)[MANAGED] !== "false";
}

/** The scaled Deployment, its ReplicaSets and their pods. */
function isScaled(object: JSONObject, { scaled }: DumpRules): boolean {
  const { namespace, name, ownerReferences } = objectOf(object["metadata"]);
  if (namespace !== scaled.namespace) return false;
  const replicas = objectOf(object["spec"])["replicas"] !== undefined;
  if (replicas && name === scaled.name) return true;
  return listOf(ownerReferences).map(objectOf).some((owner) =>
    owner["name"] === scaled.name ||
    (owner["kind"] === "ReplicaSet" && textOf(owner["name"])?.startsWith(`${scaled.name}-`))
  );
}

function isReplica(object: JSONObject, rules: DumpRules): boolean {
  return isPod(object) && isScaled(object, rules);
}

interface Change {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

function changes(from: unknown, to: unknown, path = ""): Change[] {
  if (Object.is(from, to)) return [];
  const both = [from, to];
  const branches = both.every((value) => typeof value === "object" && value !== null) &&
    Array.isArray(from) === Array.isArray(to);
  if (!branches) return [{ path, from, to }];
  const [a, b] = both as [JSONObject, JSONObject];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    changes(a[key], b[key], path === "" ? key : `${path}.${key}`)
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
