/**
 * What the template says that a pod was made from.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { listOf, objectOf } from "./json_fields.ts";
import { parseContainer } from "./pod_container_fields.ts";

/** The controller's port of this name. */
export interface KubeOwnerTemplates {
  /**
   * CPU limits, millicores by container name, sidecars included. Undefined when the pod has no owner
   * with a template, or the template can't be read; throws an `ApiError` when the server can't be
   * reached.
   */
  limitsOf(pod: Pod): Promise<ReadonlyMap<string, number> | undefined>;
}

/** Refusals that are an answer: not there, not allowed. */
const UNREADABLE: readonly number[] = [403, 404];

/** Templates with the rights of the connection. */
export function createOwnerTemplates(connection: KubeConnection): KubeOwnerTemplates {
  return {
    async limitsOf(pod) {
      const source = sourceOf(pod);
      if (source === undefined) return undefined;
      let raw: unknown;
      try {
        raw = await connection.request({ path: source.path });
      } catch (error) {
        if (error instanceof ApiError && UNREADABLE.includes(error.status)) return undefined;
        throw error;
      }
      const { spec, data } = objectOf(raw);
      const { template } = objectOf(source.revision ? objectOf(data).spec : spec);
      return templateLimits(objectOf(template).spec);
    },
  };
}

/** Where the template stands: in the owner itself, or in the revision that the pod was made from. */
function sourceOf(
  { metadata }: Pod,
): { readonly path: string; readonly revision: boolean } | undefined {
  const { owner, labels, namespace } = metadata;
  if (owner === undefined) return undefined;
  const at = (group: string, resource: string, name: string): string =>
    `/apis/${group}/namespaces/${pathPart(namespace)}/${resource}/${pathPart(name)}`;
  switch (`${owner.apiVersion} ${owner.kind}`) {
    case "apps/v1 ReplicaSet":
      return { path: at("apps/v1", "replicasets", owner.name), revision: false };
    case "batch/v1 Job":
      return { path: at("batch/v1", "jobs", owner.name), revision: false };
    case "apps/v1 StatefulSet":
    case "apps/v1 DaemonSet": {
      const hash = labels["controller-revision-hash"];
      if (hash === undefined) return undefined;
      // The label of a StatefulSet's pod is the revision's name, that of a DaemonSet's its last part.
      const name = owner.kind === "StatefulSet" ? hash : `${owner.name}-${hash}`;
      return { path: at("apps/v1", "controllerrevisions", name), revision: true };
    }
    default:
      return undefined;
  }
}

function templateLimits(spec: unknown): ReadonlyMap<string, number> | undefined {
  const { containers, initContainers } = objectOf(spec);
  const sidecars = listOf(initContainers)
    .filter((raw) => objectOf(raw).restartPolicy === "Always");
  const limits = new Map<string, number>();
  for (const raw of [...listOf(containers), ...sidecars]) {
    const { name, limitCPU } = parseContainer({
      spec: raw,
      status: undefined,
      limitManagers: undefined,
    });
    if (limitCPU !== undefined) limits.set(name, limitCPU);
  }
  return listOf(containers).length === 0 ? undefined : limits;
}
