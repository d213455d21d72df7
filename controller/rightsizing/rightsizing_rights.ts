/**
 * What rightsizing must be allowed to do beside the controller's rights: to follow policies and to say
 * what became of them. What it can do without is not among them. Without the right to patch workloads
 * nothing is recreated or annotated, and without pods' metrics and ConfigMaps policies have no usage from
 * metrics-server: each of those is told where it is missing, and the rest goes on.
 *
 * @module
 */
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
