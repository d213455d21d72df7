/**
 * Which requests and limits of a template a field manager has applied.
 *
 * @module
 */
import type { ResourceName, Resources } from "../../api/pod.ts";
import { itemName } from "../../api/pod_managers.ts";
import type { FieldOwner, TemplateOwners } from "../../api/workload.ts";
import { fieldOf, RESOURCE_NAMES } from "../../resize/inputs/resources.ts";

/** Fields by container, of either list of the template. */
export interface OwnedFields {
  readonly containers: ReadonlyMap<string, ReadonlySet<keyof Resources>>;
  readonly initContainers: ReadonlyMap<string, ReadonlySet<keyof Resources>>;
}

const FIELDS = [
  ["f:requests", "f:cpu", "requestCPU"],
  ["f:requests", "f:memory", "requestMemory"],
  ["f:limits", "f:cpu", "limitCPU"],
  ["f:limits", "f:memory", "limitMemory"],
] as const satisfies readonly (readonly [string, string, keyof Resources])[];

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
 * The managers that own requests and limits of the template's containers, by applying or updating: of each
 * resource the one that wrote last, since the server takes a value from all others when one changes it.
 * Undefined where none is known.
 */
export function templateOwners(managedFields: unknown): TemplateOwners | undefined {
  const owners: Record<string, Partial<Record<ResourceName, FieldOwner>>> = {};
  for (const entry of entriesOf(managedFields)) {
    const atMs = typeof entry.time === "string" ? Date.parse(entry.time) : NaN;
    if (Number.isNaN(atMs)) continue;
    const owner = { manager: entry.manager, atMs };
    for (const [container, fields] of fieldsOf([entry]).containers) {
      const known = owners[container] ??= {};
      for (const resource of RESOURCE_NAMES) {
        const owns = fields.has(fieldOf(resource, "request")) ||
          fields.has(fieldOf(resource, "limit"));
        if (owns && atMs >= (known[resource]?.atMs ?? -Infinity)) known[resource] = owner;
      }
    }
  }
  return Object.keys(owners).length === 0 ? undefined : owners;
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
  type Fields = ReadonlySet<keyof Resources>;
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

function resourceFields(item: unknown): ReadonlySet<keyof Resources> {
  const resources = at(item, ["f:resources"]);
  return new Set(
    FIELDS.filter(([side, resource]) => Object.hasOwn(at(resources, [side]), resource))
      .map(([, , field]) => field),
  );
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? value as Members : {};
}

/** The members below the path; none where it ends before. */
function at(value: unknown, path: readonly string[]): Members {
  return path.reduce<Members>((found, name) => membersOf(found[name]), membersOf(value));
}
