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
   * What the account may not do to workloads of the kind, by namespace. Throws an `ApiError` when the
   * server does not answer.
   */
  missing(
    kind: WorkloadKind,
    namespaces: readonly string[],
  ): Promise<ReadonlyMap<string, readonly MissingPermission[]>>;
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
 * give them, and what is not given there for each one.
 */
export function createMethodRights(connection: KubeConnection): KubeMethodRights {
  /** Those of the rights that are not given. */
  async function lacking(
    rights: readonly NeededRight[],
    namespace?: string,
  ): Promise<readonly NeededRight[]> {
    const given = await Promise.all(
      rights.map(({ rule }) =>
        isAllowed(connection, namespace === undefined ? rule : { ...rule, namespace })
      ),
    );
    return rights.filter((_right, index) => given[index] !== true);
  }
  return {
    async missing(kind, namespaces) {
      const found = new Map<string, readonly MissingPermission[]>();
      if (namespaces.length === 0) return found;
      const lack = await lacking(neededRights(kind));
      // One after the other: there may be many, and nobody waits for them.
      for (const namespace of namespaces) {
        const missing = lack.length === 0 ? [] : await lacking(lack, namespace);
        found.set(
          namespace,
          missing.map(({ method, rule }) => ({
            method,
            permission: `${accessRuleText(rule)} in namespace ${namespace}`,
          })),
        );
      }
      return found;
    },
  };
}
