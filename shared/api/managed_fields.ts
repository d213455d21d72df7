/**
 * Owners of requests and limits, from the server's record of field managers.
 *
 * @module
 */
import { isMembers, membersOf } from "../members.ts";
import type { FieldOwner, ResourceField } from "./workload.ts";

/** A request or limit of a container, and a field manager that owns it. */
export interface OwnedField extends FieldOwner {
  readonly operation: unknown;
  readonly list: "containers" | "initContainers";
  readonly container: string;
  readonly field: ResourceField;
}

/** Path of the pod spec in an object's FieldsV1, for instance `["f:spec"]`. */
export type PodSpecPath = readonly string[];

const POD: PodSpecPath = ["f:spec"];
const KEY = "k:";
const FIELDS = (["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"] as const)
  .map((field) => ({
    field,
    path: ["f:resources", ...field.split(".").map((part) => `f:${part}`)],
  }));

/**
 * The owners in an object's `metadata.managedFields`. Entries of unknown shape are left out, a missing
 * name is empty, and an unreadable time is NaN. A value has several owners after a manager has applied the
 * value that another one had set; the manager that changes it becomes the only one.
 * Source: Kubernetes documentation, "Server-Side Apply", and the set encoding of FieldsV1 in
 * structured-merge-diff (`k:{"name":"app"}` is the list item with that key).
 */
export function* resourceOwners(
  managedFields: unknown,
  podSpec: PodSpecPath,
): Generator<OwnedField> {
  for (const entry of Array.isArray(managedFields) ? managedFields : []) {
    const { manager: named, operation, time, fieldsV1 } = membersOf(entry);
    const manager = typeof named === "string" ? named : "";
    const atMs = Date.parse(String(time));
    const spec = valueAt(fieldsV1, podSpec);
    for (const list of ["containers", "initContainers"] as const) {
      for (const [key, item] of Object.entries(membersOf(valueAt(spec, [`f:${list}`])))) {
        const container = itemName(key);
        if (container === undefined) continue;
        for (const { field, path } of FIELDS) {
          if (isMembers(valueAt(item, path))) {
            yield { manager, operation, atMs, list, container, field };
          }
        }
      }
    }
  }
}

/** The value below the path; undefined where it ends before. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((found, name) => membersOf(found)[name], value);
}

/** The name in the key of a list item: `k:{"name":"app"}` → `app`; undefined for other keys. */
function itemName(key: string): string | undefined {
  if (!key.startsWith(KEY)) return undefined;
  try {
    const { name } = membersOf(JSON.parse(key.slice(KEY.length)));
    return typeof name === "string" ? name : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/**
 * The managers of a pod's `limits.cpu`, sorted, by container name. A container without a manager of its
 * limit is left out.
 */
export function limitManagersOf(managedFields: unknown): ReadonlyMap<string, readonly string[]> {
  const limitOwners = [...resourceOwners(managedFields, POD)]
    .filter(({ field }) => field === "limits.cpu");
  return new Map(
    Array.from(Map.groupBy(limitOwners, ({ container }) => container), ([container, owners]) => [
      container,
      [...new Set(owners.map(({ manager }) => manager))].sort(),
    ]),
  );
}
