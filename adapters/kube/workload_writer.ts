/**
 * What rightsizing writes of Deployments, StatefulSets and DaemonSets on a real API server.
 *
 * @module
 */
import {
  otherOwners,
  type OwnedFields,
  ownedFields,
} from "../../shared/actuation/methods/owned_fields.ts";
import { TEMPLATE_MANAGER, templatePatch } from "../../shared/actuation/methods/template_patch.ts";
import type { AnnotationPatch } from "../../shared/actuation/methods/workload_annotations.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Log } from "../../shared/log.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  resourcesOf,
  type WantedResources,
} from "../../shared/rightsizing/guards/wanted_resources.ts";
import { rightsizedWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf } from "./json_fields.ts";
import { parseWorkload, workloadPath } from "./workloads.ts";

/** The controller's port `WorkloadWriter`. */
export interface KubeWorkloadWriter {
  /**
   * Sets the template's values for all containers at once. Throws an `ApiError`: 404 when the workload
   * is gone or another one, 409 when its template is not the one that was decided on.
   */
  recreate(
    workload: RightsizedWorkload,
    wanted: WantedResources,
    options: { readonly serverSideApply: boolean },
  ): Promise<void>;
  /** Changes the annotations. Throws an `ApiError`: 404, 422 when the workload is another one. */
  annotate(
    workload: Pick<RightsizedWorkload, "kind" | "metadata">,
    patch: AnnotationPatch,
  ): Promise<void>;
}

/** A workload as it is now. */
interface Present {
  readonly workload: RightsizedWorkload;
  readonly managedFields: unknown;
}

/** Its status changes often: a version that was overtaken between reading and writing is read again. */
const TRIES = 3;

/**
 * A writer with the rights of the connection: `get` and `patch` of the three kinds.
 *
 * Applies by force: whoever made the workload owns the values that it has, so that without force no
 * apply would ever succeed. What is applied are resource fields alone, for which the policy has been
 * allowed to recreate pods. From whom they are taken is logged, since a tool that applies manifests
 * again (GitOps) will conflict, or take them back.
 */
export function createWorkloadWriter(
  connection: KubeConnection,
  { log }: { readonly log: Log },
): KubeWorkloadWriter {
  async function read({ kind, metadata }: RightsizedWorkload): Promise<Present> {
    const raw = await connection.request({ path: pathOf({ kind, metadata }) });
    const parsed = parseWorkload(raw, kind);
    const words = `${kind} "${metadata.name}"`;
    if (parsed.metadata.uid !== metadata.uid) {
      throw new ApiError(404, "NotFound", `${words} with UID ${metadata.uid} not found`);
    }
    const workload = rightsizedWorkload(parsed);
    if (workload === undefined) throw overtaken(`${words}: ${parsed.unreadableTemplate ?? ""}`);
    return { workload, managedFields: objectOf(objectOf(raw).metadata).managedFields };
  }

  async function write(
    { workload, managedFields }: Present,
    { wanted, serverSideApply }: {
      readonly wanted: WantedResources;
      readonly serverSideApply: boolean;
    },
  ): Promise<void> {
    const owned = ownedFields(managedFields, TEMPLATE_MANAGER);
    const patch = templatePatch(workload, { wanted, owned }, { serverSideApply });
    const { contentType, fieldManager, force, body } = patch;
    const { resourceVersion } = workload.metadata;
    await connection.request({
      method: "PATCH",
      path: pathOf(workload),
      query: { fieldManager, ...(force ? { force: "true" } : {}) },
      contentType,
      // What was read is what is meant: values that are kept may have been changed by somebody since.
      body: { ...body, metadata: { ...body.metadata, resourceVersion } },
    });
    const fields = changedFields(workload, wanted);
    const managers = otherOwners(managedFields, { manager: TEMPLATE_MANAGER, fields });
    const { namespace, name } = workload.metadata;
    const told = {
      workload: `${workload.kind} ${namespace}/${name}`,
      managers: managers.join(", "),
    };
    if (managers.length > 0) {
      log.info("Values of a template were taken from who had set them", told);
    }
  }

  return {
    async recreate(workload, wanted, { serverSideApply }) {
      for (let left = TRIES - 1;; left--) {
        const present = await read(workload);
        if (!isSameTemplate(present.workload, workload)) {
          const { kind, metadata: { name } } = workload;
          throw overtaken(`${kind} "${name}": its template has changed since it was looked at`);
        }
        try {
          return await write(present, { wanted, serverSideApply });
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 409 || left === 0) throw error;
        }
      }
    },
    async annotate(workload, { metadata: { annotations } }) {
      const { uid } = workload.metadata;
      await connection.request({
        method: "PATCH",
        path: pathOf(workload),
        query: { fieldManager: TEMPLATE_MANAGER },
        contentType: "application/merge-patch+json",
        // Another UID is refused by the server: the field is immutable.
        body: { metadata: { uid, annotations } },
      });
    },
  };
}

function pathOf(
  { kind, metadata: { namespace, name } }: Pick<RightsizedWorkload, "kind" | "metadata">,
): string {
  const path = workloadPath(namespace, { kind, name });
  if (path === undefined) throw new RangeError(`Cannot write a workload: ${kind} has no template`);
  return path;
}

function overtaken(message: string): ApiError {
  return new ApiError(409, "Conflict", message);
}

/** Both come from the same reader, member by member. */
function isSameTemplate(a: RightsizedWorkload, b: RightsizedWorkload): boolean {
  return JSON.stringify(a.template) === JSON.stringify(b.template);
}

/** Values that are other ones than before: who sets what is there already takes it from nobody. */
function changedFields(
  { template }: RightsizedWorkload,
  wanted: WantedResources,
): OwnedFields["containers"] {
  return new Map(template.containers.flatMap((container) => {
    const values = resourcesOf(wanted.get(container.name) ?? {});
    const names = Object.keys(values) as (keyof typeof values)[];
    const changed = names.filter((name) => values[name] !== container[name]);
    return changed.length === 0 ? [] : [[container.name, new Set(changed)] as const];
  }));
}
