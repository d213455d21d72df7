/**
 * Rights of the connection's user, by SelfSubjectAccessReviews.
 *
 * @module
 */
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import type { MissingPermission } from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf } from "./json_fields.ts";

/** A right, in the terms of RBAC. */
export interface AccessRule {
  readonly verb: string;
  /** Empty for the core group. */
  readonly group: string;
  /** The plural, for instance `pods`. */
  readonly resource: string;
  /** For instance `resize`. */
  readonly subresource?: string;
  /** Absent: all namespaces, or a kind without namespaces. */
  readonly namespace?: string;
  /** Absent: any object. */
  readonly name?: string;
}

/** True when the connection's user has this right. */
export async function isAllowed(connection: KubeConnection, rule: AccessRule): Promise<boolean> {
  const review = await connection.request({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: rule },
    },
  });
  return objectOf(objectOf(review).status).allowed === true;
}

/** The rule as `kubectl auth can-i` has it: `patch pods/resize in shop`. */
export function accessRuleText(rule: AccessRule): string {
  const { verb, group, resource, subresource, namespace, name } = rule;
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${kind}${group === "" ? "" : `.${group}`}` +
    (name === undefined ? "" : ` "${name}"`) +
    (namespace === undefined ? "" : ` in ${namespace}`);
}

/** The rights that rightsizing needs to change workloads; the controller's port of this name. */
export interface KubeMethodRights {
  /**
   * Permissions that are missing for workloads of the kind, by namespace. Throws an `ApiError` when the
   * server does not respond.
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
  const workloads = { group: "apps", resource: `${kind.toLowerCase()}s` };
  const pods = { group: "", resource: "pods", subresource: "resize" };
  return [
    { method: "InPlace", rule: { verb: "patch", ...pods } },
    { method: "Recreate", rule: { verb: "get", ...workloads } },
    { method: "Recreate", rule: { verb: "patch", ...workloads } },
  ];
}

/**
 * Reviews the rights: first for all namespaces, as the manifests grant them, and those that are not
 * granted there for each namespace.
 */
export function createMethodRights(connection: KubeConnection): KubeMethodRights {
  async function denied(
    rights: readonly NeededRight[],
    namespace?: string,
  ): Promise<readonly NeededRight[]> {
    const allowed = await Promise.all(
      rights.map(({ rule }) =>
        isAllowed(connection, namespace === undefined ? rule : { ...rule, namespace })
      ),
    );
    return rights.filter((_right, index) => allowed[index] !== true);
  }
  return {
    async missing(kind, namespaces) {
      const found = new Map<string, readonly MissingPermission[]>();
      if (namespaces.length === 0) return found;
      const deniedForAll = await denied(neededRights(kind));
      // One after the other: there may be many, and nothing waits for them.
      for (const namespace of namespaces) {
        const missing = deniedForAll.length === 0 ? [] : await denied(deniedForAll, namespace);
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
