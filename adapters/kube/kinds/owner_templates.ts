/**
 * Pod templates of the owners of pods: the limits that a pod was created with.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { OwnerTemplates } from "../../../shared/api/ports.ts";
import {
  type KubeConnection,
  type ResourcePath,
  resourcePath,
  unlessRefused,
} from "../client/connection.ts";
import { parseContainers } from "./containers.ts";
import type { RawTemplate } from "./raw_objects.ts";

/** Reads templates with the rights of the connection. */
export function createOwnerTemplates(connection: KubeConnection): OwnerTemplates {
  return {
    async limitsOf(pod) {
      const source = sourceOf(pod);
      if (source === undefined) return undefined;
      const path = resourcePath(source);
      return await unlessRefused(connection.request({ path }).then(templateLimits), 403, 404);
    },
  };
}

/** The object with the template: the owner itself, or the revision that the pod was created from. */
function sourceOf({ metadata }: Pod): ResourcePath | undefined {
  const { owner, labels, namespace } = metadata;
  if (owner === undefined) return undefined;
  const { apiVersion: groupVersion, name } = owner;
  switch (`${groupVersion} ${owner.kind}`) {
    case "apps/v1 ReplicaSet":
      return { groupVersion, resource: "replicasets", namespace, name };
    case "batch/v1 Job":
      return { groupVersion, resource: "jobs", namespace, name };
    case "apps/v1 StatefulSet":
    case "apps/v1 DaemonSet": {
      const hash = labels["controller-revision-hash"];
      if (hash === undefined) return undefined;
      // The label of a StatefulSet's pod is the revision's name, that of a DaemonSet's its last part.
      const revision = owner.kind === "StatefulSet" ? hash : `${name}-${hash}`;
      return { groupVersion, resource: "controllerrevisions", namespace, name: revision };
    }
    default:
      return undefined;
  }
}

/** A ReplicaSet or Job, or the part of its owner that a revision keeps in `data`. */
interface WithTemplate {
  readonly spec?: { readonly template?: RawTemplate };
}

function templateLimits(raw: unknown): ReadonlyMap<string, number> | undefined {
  const { data } = raw as { readonly data?: WithTemplate };
  const { spec } = (data ?? raw as WithTemplate).spec?.template ?? {};
  if (spec === undefined) return undefined;
  return new Map(
    parseContainers({ spec }).containers.flatMap(({ name, limits: { cpu: limitCPU } }) =>
      limitCPU === undefined ? [] : [[name, limitCPU] as const]
    ),
  );
}
