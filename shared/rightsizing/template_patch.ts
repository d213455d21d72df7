/**
 * The patch of a workload's template, one rollout for all containers, and the owners of its values.
 *
 * @module
 */
import { membersOf } from "../members.ts";
import { NO_RESOURCES, type Resources, withResources } from "../api/pod.ts";
import { byResource, hasAmounts, type WantedResources } from "../resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../resize/original_limits.ts";
import { type ContainerResources, containerResources } from "../resize/patch.ts";
import { ownContainers, type RightsizedWorkload } from "./guards/rightsizing_facts.ts";
import { itemName } from "../api/pod_managers.ts";
import type { FieldOwner, ResourceField, TemplateOwners } from "../api/workload.ts";

/** A patch, and how to send it. */
export interface TemplatePatch {
  readonly contentType:
    | "application/apply-patch+yaml"
    | "application/strategic-merge-patch+json";
  readonly fieldManager: typeof RIGHTSIZING_MANAGER;
  /** For server-side apply: takes the fields from other managers that have applied them. */
  readonly force: boolean;
  readonly body: TemplatePatchBody;
}

/** JSON, which is YAML too. */
export interface TemplatePatchBody {
  readonly apiVersion?: "apps/v1";
  readonly kind?: RightsizedWorkload["kind"];
  /**
   * With the UID, the server refuses to apply to another object of the name, and makes no new one where
   * there is none any more (409).
   */
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers?: readonly ContainerResources[];
        readonly initContainers?: readonly ContainerResources[];
      };
    };
  };
}

/** What goes into the patch. */
export interface TemplateChange {
  readonly wanted: WantedResources;
  /**
   * What the manager owns of the template by earlier applications. An apply that does not name a field
   * again gives it up, and if no other manager owns it the server removes it.
   */
  readonly owned: OwnedFields;
}

/** Options of {@linkcode templatePatch}. */
export interface TemplatePatchOptions {
  /**
   * False: a strategic merge patch of the values that change, which owns nothing for good.
   *
   * @default {true}
   */
  readonly serverSideApply?: boolean;
}

/**
 * The patch for all containers at once: a patch a container under one manager would make each drop the
 * others' fields. What is owned and not wanted is named with the value that it has. Throws a `RangeError`
 * where no value is wanted.
 */
export function templatePatch(
  workload: RightsizedWorkload,
  { wanted, owned }: TemplateChange,
  { serverSideApply = true }: TemplatePatchOptions = {},
): TemplatePatch {
  if (wanted.size === 0) throw new RangeError("Cannot build a template patch: nothing is wanted");
  const { kind, metadata: { name, namespace, uid }, template } = workload;
  const kept = (list: keyof OwnedFields, container: { readonly name: string } & Resources) =>
    serverSideApply ? presentValues(container, owned[list].get(container.name)) : NO_RESOURCES;
  const entries = ownContainers(workload).flatMap((container) =>
    entryOf(
      container.name,
      withResources(kept("containers", container), wanted.get(container.name) ?? NO_RESOURCES),
    )
  );
  const inits = [
    ...template.containers.filter(({ sidecar }) => sidecar),
    ...template.initContainers,
  ]
    .flatMap((container) => entryOf(container.name, kept("initContainers", container)));
  const body: TemplatePatchBody = {
    metadata: { name, namespace, uid },
    spec: {
      template: {
        spec: {
          ...(entries.length === 0 ? {} : { containers: entries }),
          ...(inits.length === 0 ? {} : { initContainers: inits }),
        },
      },
    },
  };
  return serverSideApply
    ? {
      contentType: "application/apply-patch+yaml",
      fieldManager: RIGHTSIZING_MANAGER,
      force: true,
      body: { apiVersion: "apps/v1", kind, ...body },
    }
    : {
      contentType: "application/strategic-merge-patch+json",
      fieldManager: RIGHTSIZING_MANAGER,
      force: false,
      body,
    };
}

function entryOf(name: string, values: Resources): ContainerResources[] {
  return hasAmounts(values) ? [containerResources({ name, ...values })] : [];
}

/** The container's values of these fields; a field that is gone from the template can't be kept. */
function presentValues(
  container: Resources,
  fields: ReadonlySet<ResourceField> = new Set(),
): Resources {
  const of = (side: keyof Resources) =>
    byResource((name) => fields.has(`${side}.${name}`) ? container[side][name] : undefined);
  return { requests: of("requests"), limits: of("limits") };
}

/** Fields by container, of either list of the template. */
export interface OwnedFields {
  readonly containers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
  readonly initContainers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
}

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
 * The managers that own requests and limits of the template's containers, by applying or updating: of each
 * the one that wrote last, since the server takes a value from all others when one changes it.
 * Undefined where none is known.
 */
export function templateOwners(managedFields: unknown): TemplateOwners | undefined {
  const owners = new Map<string, Partial<Record<ResourceField, FieldOwner>>>();
  for (const entry of entriesOf(managedFields)) {
    const atMs = typeof entry.time === "string" ? Date.parse(entry.time) : NaN;
    if (Number.isNaN(atMs)) continue;
    const owner = { manager: entry.manager, atMs };
    for (const [container, fields] of fieldsOf([entry]).containers) {
      const known = owners.get(container) ?? {};
      for (const field of fields) {
        if (atMs >= (known[field]?.atMs ?? -Infinity)) known[field] = owner;
      }
      owners.set(container, known);
    }
  }
  return owners.size === 0 ? undefined : Object.fromEntries(owners);
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

/** The members below the path; none where it ends before. */
function at(value: unknown, path: readonly string[]): Members {
  return path.reduce<Members>((found, name) => membersOf(found[name]), membersOf(value));
}
