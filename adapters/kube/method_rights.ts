/**
 * Which rights for setting values the account lacks.
 *
 * @module
 */
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { type AccessRule, accessRuleText, isAllowed } from "./api_checks.ts";
import type { KubeConnection } from "./connection.ts";
import { workloadPlural } from "./workloads.ts";

/** Asks about the account's rights. */
export interface KubeMethodRights {
  /**
   * What the account may not do to workloads of the kind in the namespace. Throws an `ApiError` when the
   * server does not answer.
   */
  missing(namespace: string, kind: WorkloadKind): Promise<readonly MissingPermission[]>;
}

interface NeededRight {
  readonly method: MissingPermission["method"];
  readonly rule: AccessRule;
}

function neededRights(kind: WorkloadKind): readonly NeededRight[] {
  const workloads = { group: "apps", resource: workloadPlural(kind) };
  return [
    {
      method: "InPlace",
      rule: { verb: "patch", group: "", resource: "pods", subresource: "resize" },
    },
    { method: "Recreate", rule: { verb: "get", ...workloads } },
    { method: "Recreate", rule: { verb: "patch", ...workloads } },
  ];
}

/**
 * The rights of the connection, by SelfSubjectAccessReviews: first for all namespaces, as the manifests
 * give them, and where that is not given for the one.
 */
export function createMethodRights(connection: KubeConnection): KubeMethodRights {
  async function lacks(
    { method, rule }: NeededRight,
    namespace: string,
  ): Promise<MissingPermission[]> {
    if (await isAllowed(connection, rule)) return [];
    if (await isAllowed(connection, { ...rule, namespace })) return [];
    return [{ method, permission: `${accessRuleText(rule)} in namespace ${namespace}` }];
  }
  return {
    async missing(namespace, kind) {
      const found = await Promise.all(neededRights(kind).map((right) => lacks(right, namespace)));
      return found.flat();
    },
  };
}
