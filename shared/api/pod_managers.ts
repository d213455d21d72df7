/**
 * The field managers of a container's CPU limit, from the server's record.
 *
 * @module
 */
import { isMembers, membersOf } from "../members.ts";

/** One entry of `metadata.managedFields`, as it comes from the API; unknown parts are ignored. */
export interface ManagedFieldsEntry {
  readonly manager?: unknown;
  readonly fieldsV1?: unknown;
}

const LISTS = ["f:containers", "f:initContainers"] as const;
const LIMIT = ["f:resources", "f:limits", "f:cpu"] as const;
const KEY = "k:";

/**
 * The managers of `limits.cpu`, sorted, by container name. Several own a value together when one
 * has applied a value that another had set already; the manager that changes it then owns it alone. A
 * container without a manager of its limit is left out. Entries of no known shape are passed over.
 * Source: Kubernetes documentation, "Server-Side Apply", and the set encoding of FieldsV1 in
 * structured-merge-diff (`k:{"name":"app"}` is the list item with that key).
 */
export function limitManagersOf(
  entries: readonly unknown[],
): ReadonlyMap<string, readonly string[]> {
  const managers = new Map<string, Set<string>>();
  for (const entry of entries) {
    const { manager: named, fieldsV1 }: ManagedFieldsEntry = Object(entry);
    const manager = typeof named === "string" ? named : "";
    for (const list of LISTS) {
      const items = membersOf(membersOf(membersOf(fieldsV1)["f:spec"])[list]);
      for (const [key, item] of Object.entries(items)) {
        const name = itemName(key);
        const limit = LIMIT.reduce((present, part) => membersOf(present)[part], item);
        if (name === undefined || !isMembers(limit)) continue;
        managers.set(name, (managers.get(name) ?? new Set<string>()).add(manager));
      }
    }
  }
  return new Map([...managers].map(([name, found]) => [name, [...found].sort()]));
}

/** The name in the key of a list item: `k:{"name":"app"}` → `app`; undefined for other keys. */
export function itemName(key: string): string | undefined {
  if (!key.startsWith(KEY)) return undefined;
  try {
    const parsed: unknown = JSON.parse(key.slice(KEY.length));
    const name: unknown = (parsed as { name?: unknown } | null)?.name;
    return typeof name === "string" ? name : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
