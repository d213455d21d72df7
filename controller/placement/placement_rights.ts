/**
 * What placement must be allowed to do beside the controller's rights.
 *
 * @module
 */
import type { AccessRight } from "../start_check.ts";

/** Each right by itself, so that a missing one can be named. `namespace`: of the installation. */
export function placementRights(namespace: string): readonly AccessRight[] {
  const followed = [
    { group: "apps", resource: "replicasets" },
    { group: "policy", resource: "poddisruptionbudgets" },
    { group: "", resource: "persistentvolumes" },
  ];
  const memory = { group: "", resource: "configmaps", namespace };
  return [
    ...followed.flatMap((kind) => ["list", "watch"].map((verb) => ({ verb, ...kind }))),
    { verb: "create", group: "", resource: "pods", subresource: "eviction" },
    // Deletion costs.
    { verb: "patch", group: "", resource: "pods" },
    ...["list", "create", "patch", "delete"].map((verb) => ({ verb, ...memory })),
  ];
}
