/**
 * The field managers of a container's CPU limit, from the server's record.
 *
 * @module
 */

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
      const items = member(member(fieldsV1, "f:spec"), list);
      for (const [key, item] of Object.entries(items ?? {})) {
        const name = itemName(key);
        if (name === undefined || !reaches(item, LIMIT)) continue;
        managers.set(name, (managers.get(name) ?? new Set<string>()).add(manager));
      }
    }
  }
  return new Map([...managers].map(([name, found]) => [name, [...found].sort()]));
}

function member(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found = (value as Readonly<Record<string, unknown>>)[name];
  return typeof found === "object" && found !== null
    ? found as Readonly<Record<string, unknown>>
    : undefined;
}

function reaches(value: unknown, path: readonly string[]): boolean {
  let present: unknown = value;
  for (const name of path) present = member(present, name);
  return present !== undefined;
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
