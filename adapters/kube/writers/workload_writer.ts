/**
 * Writes of rightsizing to Deployments, StatefulSets and DaemonSets on a real API server.
 *
 * @module
 */
import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Log } from "../../../shared/log.ts";
import {
  RESOURCE_NAMES,
  RESOURCE_SIDES,
  type WantedResources,
} from "../../../shared/resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import {
  ownedFields,
  ownersOf,
  templatePatch,
} from "../../../shared/rightsizing/template_patch.ts";
import type { RecreateOptions, WorkloadWriter } from "../../../shared/rightsizing/ports.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { type KubeConnection, patchRequest } from "../client/connection.ts";
import { objectOf } from "../client/json_fields.ts";
import { parseWorkload, workloadPath } from "../kinds/workloads.ts";

/** A workload as the server has it now. */
interface PresentWorkload {
  readonly workload: RightsizedWorkload;
  readonly managedFields: unknown;
}

/** Attempts at a write: a workload's status changes often, so that writes conflict. */
const ATTEMPTS = 3;

/**
 * Creates a writer, which gets and patches the three kinds.
 *
 * It applies by force: the client that created the workload owns its values, so that an apply without
 * force would always conflict. It applies resource fields alone, which the policy allows it to change.
 * The earlier owners are logged: a tool that applies manifests again (GitOps) will conflict, or revert
 * the values.
 */
export function createWorkloadWriter(
  connection: KubeConnection,
  { log }: { readonly log: Log },
): WorkloadWriter {
  async function read({ kind, metadata }: RightsizedWorkload): Promise<PresentWorkload> {
    const raw = await connection.request({ path: pathOf({ kind, metadata }) });
    const parsed = parseWorkload(raw, kind);
    const subject = `${kind} "${metadata.name}"`;
    if (parsed.metadata.uid !== metadata.uid) {
      throw new ApiError(404, "NotFound", `${subject} with UID ${metadata.uid} not found`);
    }
    const workload = rightsizedWorkload(parsed);
    if (workload === undefined) throw conflict(`${subject}: ${parsed.unreadableTemplate ?? ""}`);
    return { workload, managedFields: objectOf(objectOf(raw).metadata).managedFields };
  }

  async function write(
    present: PresentWorkload,
    { wanted, serverSideApply, auditID }: RecreateOptions & { readonly wanted: WantedResources },
  ): Promise<void> {
    const { workload, managedFields } = present;
    const owned = ownedFields(managedFields, RIGHTSIZING_MANAGER);
    const patch = templatePatch(workload, { wanted, owned }, { serverSideApply });
    const { contentType, fieldManager, force, body } = patch;
    const { resourceVersion } = workload.metadata;
    await connection.request({
      method: "PATCH",
      auditID,
      path: pathOf(workload),
      query: { fieldManager, ...(force ? { force: "true" } : {}) },
      contentType,
      // The version makes the patch a 409 if the values that it keeps have changed since they were read.
      body: { ...body, metadata: { ...body.metadata, resourceVersion } },
    });
    const managers = formerOwners(present, wanted);
    const { namespace, name } = workload.metadata;
    if (managers.length === 0) return;
    log.info("Values of a template were taken from other field managers", {
      workload: `${workload.kind} ${namespace}/${name}`,
      managers: managers.join(", "),
    });
  }

  return {
    async recreate(workload, wanted, options) {
      for (let left = ATTEMPTS - 1;; left--) {
        const present = await read(workload);
        if (!isSameTemplate(present.workload, workload)) {
          const { kind, metadata: { name } } = workload;
          throw conflict(`${kind} "${name}": its template has changed since it was read`);
        }
        try {
          return await write(present, { wanted, ...options });
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 409 || left === 0) throw error;
        }
      }
    },
    async annotate(workload, { metadata: { annotations } }) {
      const { uid } = workload.metadata;
      await connection.request(patchRequest("merge", {
        path: pathOf(workload),
        query: { fieldManager: RIGHTSIZING_MANAGER },
        // The server rejects another UID: the field is immutable.
        body: { metadata: { uid, annotations } },
      }));
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

function conflict(message: string): ApiError {
  return new ApiError(409, "Conflict", message);
}

/** Compares as JSON: the same parser has built both, with members in the same order. */
function isSameTemplate(a: RightsizedWorkload, b: RightsizedWorkload): boolean {
  return JSON.stringify(a.template) === JSON.stringify(b.template);
}

/**
 * Other field managers that own values which change: a forced apply takes these values from them all. An
 * apply of the present value makes both managers owners.
 */
function formerOwners(
  { workload: { template }, managedFields }: PresentWorkload,
  wanted: WantedResources,
): readonly string[] {
  const changed = new Set(template.containers.flatMap((container) => {
    const values = wanted.get(container.name) ?? NO_RESOURCES;
    return RESOURCE_SIDES.flatMap((side) =>
      RESOURCE_NAMES.filter((name) =>
        values[side][name] !== undefined && values[side][name] !== container[side][name]
      ).map((name) => `${container.name}/${side}.${name}`)
    );
  }));
  return ownersOf(managedFields, (container, field) => changed.has(`${container}/${field}`))
    .filter((manager) => manager !== RIGHTSIZING_MANAGER);
}
