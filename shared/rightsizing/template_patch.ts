/**
 * The patch of a workload's template, one rollout for all containers, and the owners of its values.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer, type Resources, withResources } from "../api/pod.ts";
import { defined } from "../defined.ts";
import { byResource, hasAmounts, type WantedResources } from "../resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../resize/original_limits.ts";
import { type ContainerResources, containerResources, type ResizePatch } from "../resize/patch.ts";
import { appContainers, type RightsizedWorkload } from "./guards/rightsizing_snapshot.ts";
import { type PodSpecPath, resourceOwners } from "../api/managed_fields.ts";
import type { FieldOwner, ResourceField, TemplateOwners } from "../api/workload.ts";

const TEMPLATE: PodSpecPath = ["f:spec", "f:template", "f:spec"];

/** A patch, and how to send it. */
export interface TemplatePatch {
  readonly contentType:
    | "application/apply-patch+yaml"
    | "application/strategic-merge-patch+json";
  readonly fieldManager: typeof RIGHTSIZING_MANAGER;
  /** For server-side apply: takes the fields from other managers that have applied them. */
  readonly force: boolean;
  /** JSON, which is YAML too. */
  readonly body: {
    readonly apiVersion?: "apps/v1";
    readonly kind?: RightsizedWorkload["kind"];
    /**
     * With the UID, the server refuses (409) to apply to another object of the same name, and to create one where
     * the object was deleted.
     */
    readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
    readonly spec: { readonly template: { readonly spec: ResizePatch["spec"] } };
  };
}

/**
 * The patch for all containers at once: a patch a container under one manager would make each drop the
 * others' fields. Without server-side apply, a strategic merge patch of the values that change, which does not
 * own fields by applying.
 *
 * `owned`: the fields that the manager owns by earlier applications. An apply without such a field gives it up,
 * and the server removes it if no other manager owns it. So owned fields without a wanted value are applied with
 * their present value.
 */
export function templatePatch(
  workload: RightsizedWorkload,
  { wanted, owned }: { readonly wanted: WantedResources; readonly owned: OwnedFields },
  { serverSideApply = true }: {
    /** @default {true} */
    readonly serverSideApply?: boolean;
  } = {},
): TemplatePatch {
  const { kind, metadata: { name, namespace, uid }, template } = workload;
  const entriesIn = (
    list: keyof OwnedFields,
    containers: readonly PodContainer[],
    changes: WantedResources,
  ) => {
    const entries = containers.flatMap((container): ContainerResources[] => {
      const present = serverSideApply
        ? presentValues(container, owned[list].get(container.name))
        : NO_RESOURCES;
      const values = withResources(present, changes.get(container.name) ?? NO_RESOURCES);
      return hasAmounts(values) ? [containerResources({ name: container.name, ...values })] : [];
    });
    return entries.length === 0 ? undefined : entries;
  };
  const sidecars = template.containers.filter(({ sidecar }) => sidecar);
  const spec = defined({
    containers: entriesIn("containers", appContainers(workload), wanted),
    initContainers: entriesIn(
      "initContainers",
      [...sidecars, ...template.initContainers],
      new Map(),
    ),
  });
  const body = { metadata: { name, namespace, uid }, spec: { template: { spec } } };
  const fieldManager = RIGHTSIZING_MANAGER;
  return serverSideApply
    ? {
      contentType: "application/apply-patch+yaml",
      fieldManager,
      force: true,
      body: { apiVersion: "apps/v1", kind, ...body },
    }
    : { contentType: "application/strategic-merge-patch+json", fieldManager, force: false, body };
}

/** The container's present values of these fields; a field that the template lacks has none. */
function presentValues(
  container: Resources,
  fields: ReadonlySet<ResourceField> = new Set(),
): Resources {
  const presentAmounts = (side: keyof Resources) =>
    byResource((name) => fields.has(`${side}.${name}`) ? container[side][name] : undefined);
  return { requests: presentAmounts("requests"), limits: presentAmounts("limits") };
}

/** Fields by container, of either list of the template. */
export interface OwnedFields {
  readonly containers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
  readonly initContainers: ReadonlyMap<string, ReadonlySet<ResourceField>>;
}

/**
 * The fields that `manager` owns by applying. Fields that it has merely updated (strategic merge
 * patches) stay when a later apply does not name them.
 */
export function ownedFields(managedFields: unknown, manager: string): OwnedFields {
  const owned = {
    containers: new Map<string, Set<ResourceField>>(),
    initContainers: new Map<string, Set<ResourceField>>(),
  };
  for (const one of resourceOwners(managedFields, TEMPLATE)) {
    if (one.manager !== manager || one.operation !== "Apply") continue;
    const fields = owned[one.list].get(one.container) ?? new Set();
    owned[one.list].set(one.container, fields.add(one.field));
  }
  return owned;
}

/**
 * The managers that own requests and limits of the template's containers, by applying or updating. The
 * last writer of a field counts, since a change takes the field from all other managers. Undefined where none is
 * known.
 */
export function templateOwners(managedFields: unknown): TemplateOwners | undefined {
  const owners = new Map<string, Partial<Record<ResourceField, FieldOwner>>>();
  for (const { manager, atMs, list, container, field } of resourceOwners(managedFields, TEMPLATE)) {
    if (list !== "containers" || manager === "" || Number.isNaN(atMs)) continue;
    const known = owners.get(container) ?? {};
    if (atMs >= (known[field]?.atMs ?? -Infinity)) known[field] = { manager, atMs };
    owners.set(container, known);
  }
  return owners.size === 0 ? undefined : Object.fromEntries(owners);
}

/** Names of the managers of all fields of the template's containers that `selects` accepts, sorted. */
export function ownersOf(
  managedFields: unknown,
  selects: (container: string, field: ResourceField) => boolean,
): readonly string[] {
  const found = [...resourceOwners(managedFields, TEMPLATE)].filter((
    { manager, list, container, field },
  ) => list === "containers" && manager !== "" && selects(container, field));
  return [...new Set(found.map(({ manager }) => manager))].sort();
}
