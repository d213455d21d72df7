/**
 * Permissions that rightsizing needs, and those that a write was refused for.
 *
 * @module
 */
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { MissingPermission } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import type { AccessRight } from "../start_check.ts";

const POLICIES = { group: "optipod.io", resource: "optimizationpolicies" } as const;
const REPLICA_SETS = { group: "apps", resource: "replicasets" } as const;
const REPORTS = { group: "optipod.io", resource: "recommendationreports" } as const;

/** Each right by itself, so that a missing one can be named. */
export function rightsizingRights(): readonly AccessRight[] {
  return [
    ...["list", "watch"].flatMap((verb) => [{ verb, ...POLICIES }, { verb, ...REPLICA_SETS }]),
    { verb: "update", ...POLICIES, subresource: "status" },
    ...["list", "watch", "create", "patch", "delete"].map((verb) => ({ verb, ...REPORTS })),
  ];
}

/** A workload, as far as permissions go. */
export interface PermissionScope {
  readonly kind: WorkloadKind;
  readonly metadata: { readonly namespace: string };
}

/** Missing permissions by namespace and kind: other workloads there are not tried. */
export interface PermissionMemory {
  /** Notes a permission that a 403 named: `patch deployments.apps in namespace shop`. */
  refused(workload: PermissionScope, permission: string): void;
  missing(workload: PermissionScope): readonly MissingPermission[];
}

/** After this a write is tried again, ms: the permission may be granted. */
const REMEMBERED_MS = 30_000;

/** A memory of no refusal. */
export function createPermissionMemory(
  { clock }: { readonly clock: Pick<Clock, "monotonic"> },
): PermissionMemory {
  const refusals = new Map<
    string,
    { readonly missing: MissingPermission; readonly atMs: number }
  >();
  const keyOf = (
    { kind, metadata: { namespace } }: PermissionScope,
    method: MissingPermission["method"],
  ): string => `${namespace}/${kind}/${method}`;
  return {
    refused(workload, permission) {
      const method = methodNeeding(permission);
      if (method === undefined) return;
      const nowMs = clock.monotonic();
      for (const [key, { atMs }] of refusals) {
        if (nowMs - atMs >= REMEMBERED_MS) refusals.delete(key);
      }
      refusals.set(keyOf(workload, method), { missing: { method, permission }, atMs: nowMs });
    },
    missing: (workload) =>
      (["InPlace", "Recreate"] as const).flatMap((method) => {
        const { missing, atMs = -Infinity } = refusals.get(keyOf(workload, method)) ?? {};
        return missing === undefined || clock.monotonic() - atMs >= REMEMBERED_MS ? [] : [missing];
      }),
  };
}

function methodNeeding(permission: string): MissingPermission["method"] | undefined {
  if (permission.startsWith("patch pods/resize")) return "InPlace";
  return /^(get|patch) (deployments|statefulsets|daemonsets)\.apps/.test(permission)
    ? "Recreate"
    : undefined;
}
