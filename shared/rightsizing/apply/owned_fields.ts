/**
 * Which requests and limits of a template a field manager has applied.
 *
 * @module
 */
import type { ResourceName, Resources } from "../../api/pod.ts";
import { itemName } from "../../api/pod_managers.ts";

/** A request or limit, as `limits.cpu`. */
export type ResourceField = `${keyof Resources}.${ResourceName}`;

/** Fields by container, of either list of the template. */
export interface OwnedFields {
  readonly containers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
  readonly initContainers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
}

/** Nothing has been applied. */
export const OWNS_NOTHING: OwnedFields = { containers: new Map(), initContainers: new Map() };

const FIELDS = ["requests.cpu", "requests.memory", "limits.cpu", "limits.memory"] as const;

type Members = Readonly<Record<string, unknown>>;

/**
 * What `manager` owns by applying, as a workload's `metadata.managedFields` has it; entries of no known
 * shape are passed over. Fields that it has merely updated (strategic merge patches) stay when a later
 * apply does not name them. Source: Kubernetes documentation, "Server-Side Apply", and the set encoding
 * of FieldsV1 in structured-merge-diff (`k:{"name":"app"}` is the list item with that key).
 */
export function ownedFields(managedFields: unknown, manager: string): OwnedFields {
  return fieldsOf(
    entriesOf(managedFields).filter((one) => one.manager === manager && one.operation === "Apply"),
  );
}

/**
 * What `manager` has set last, by applying or updating, and when: a value that another manager changes is
 * that manager's from then on. Undefined where that is nothing.
 */
export function fieldsSetBy(
  managedFields: unknown,
  manager: string,
): { readonly fields: OwnedFields["containers"]; readonly atMs: number } | undefined {
  const entries = entriesOf(managedFields)
    .filter((one) => one.manager === manager && fieldsOf([one]).containers.size > 0);
  if (entries.length === 0) return undefined;
  const times = entries.map(({ time }) => typeof time === "string" ? Date.parse(time) : NaN)
    .filter((ms) => !Number.isNaN(ms));
  return { fields: fieldsOf(entries).containers, atMs: Math.max(0, ...times) };
}

/**
 * Which other managers own these fields of the template's containers, by applying or updating: names, sorted. A
 * value that is set by force is taken from them.
 */
export function otherOwners(
  managedFields: unknown,
  { manager, fields }: { readonly manager: string; readonly fields: OwnedFields["containers"] },
): readonly string[] {
  const others = entriesOf(managedFields).filter((one) => {
    if (one.manager === manager) return false;
    const { containers } = fieldsOf([one]);
    return [...fields].some(([name, wanted]) =>
      [...wanted].some((field) => containers.get(name)?.has(field) === true)
    );
  });
  return [...new Set(others.map((one) => one.manager))].sort();
}

interface Entry {
  readonly manager: string;
  readonly operation: unknown;
  readonly time: unknown;
  readonly fieldsV1: unknown;
}

function entriesOf(managedFields: unknown): readonly Entry[] {
  return (Array.isArray(managedFields) ? managedFields : []).flatMap((raw): Entry[] => {
    const { manager, operation, time, fieldsV1 } = membersOf(raw);
    return typeof manager === "string" ? [{ manager, operation, time, fieldsV1 }] : [];
  });
}

function fieldsOf(entries: readonly Entry[]): OwnedFields {
  type Fields = ReadonlySet<ResourceField>;
  const owned = {
    containers: new Map<string, Fields>(),
    initContainers: new Map<string, Fields>(),
  };
  for (const { fieldsV1 } of entries) {
    const spec = at(fieldsV1, ["f:spec", "f:template", "f:spec"]);
    for (const list of ["containers", "initContainers"] as const) {
      for (const [key, item] of Object.entries(at(spec, [`f:${list}`]))) {
        const container = itemName(key);
        if (container === undefined) continue;
        const fields = resourceFields(item);
        const others = owned[list].get(container) ?? new Set();
        if (fields.size > 0) owned[list].set(container, fields.union(others));
      }
    }
  }
  return owned;
}

function resourceFields(item: unknown): ReadonlySet<ResourceField> {
  const resources = at(item, ["f:resources"]);
  return new Set(
    FIELDS.filter((field) => {
      const [side, resource] = field.split(".");
      return Object.hasOwn(at(resources, [`f:${side}`]), `f:${resource}`);
    }),
  );
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? value as Members : {};
}

/** The members below the path; none where it ends before. */
function at(value: unknown, path: readonly string[]): Members {
  return path.reduce<Members>((found, name) => membersOf(found[name]), membersOf(value));
}
