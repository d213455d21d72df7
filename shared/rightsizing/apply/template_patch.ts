/**
 * The patch of a workload's template: one rollout for all containers.
 *
 * @module
 */
import { NO_RESOURCES, type Resources, withResources } from "../../api/pod.ts";
import { byResource, hasAmounts, type WantedResources } from "../../resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../resize/original_limits.ts";
import { type ContainerResources, containerResources } from "../../resize/patch.ts";
import type { RightsizedWorkload } from "../guards/rightsizing_facts.ts";
import { ownContainers } from "../rightsized_workload.ts";
import type { OwnedFields, ResourceField } from "./owned_fields.ts";

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
