/**
 * What the controller must be allowed to do: the list behind its ClusterRoles and Roles.
 *
 * @module
 */
import { CONTROLLER_LEASE } from "../shared/installation.ts";
import { dashboardRights } from "./dashboard/connect_dashboard.ts";
import { placementRights } from "./placement/connect.ts";
import { rightsizingRights } from "./rightsizing/permissions.ts";
import type { AccessRule } from "../adapters/kube/client/api_checks.ts";

/** Where the installation is, and what of it is on. */
export interface RightsPlace {
  readonly namespace: string;
  /** Name of the ConfigMap that is followed; null: none. */
  readonly configMap: string | null;
  /** Whether policies are followed, too. @default {false} */
  readonly rightsizing?: boolean;
  /** Whether replicas are placed, too. @default {false} */
  readonly placement?: boolean;
  /** Whether the dashboard is served, too. @default {false} */
  readonly dashboard?: boolean;
}

const ALLOCATIONS = { group: "allocation.mbcas.io", resource: "podallocations" } as const;
const LEASES = { group: "coordination.k8s.io", resource: "leases" } as const;

/** Kinds of the core group that are followed in the whole cluster. */
const FOLLOWED = ["pods", "namespaces", "nodes", "limitranges", "resourcequotas"] as const;

/** Each right by itself, so that a missing one can be named. */
export function controllerRights(
  { namespace, configMap, rightsizing = false, placement = false, dashboard = false }: RightsPlace,
): readonly AccessRule[] {
  const rights: AccessRule[] = FOLLOWED.flatMap((resource) => followed({ group: "", resource }));
  for (const resource of ["deployments", "statefulsets", "daemonsets"]) {
    rights.push(...followed({ group: "apps", resource }));
  }
  rights.push(
    ...followed({ group: "autoscaling", resource: "horizontalpodautoscalers" }),
    ...followed({ group: "autoscaling.k8s.io", resource: "verticalpodautoscalers" }),
    { verb: "patch", group: "", resource: "pods", subresource: "resize" },
    ...followed(ALLOCATIONS),
    { verb: "create", ...ALLOCATIONS },
    { verb: "delete", ...ALLOCATIONS },
    { verb: "update", ...ALLOCATIONS, subresource: "status" },
    ...followed({ ...LEASES, namespace }),
    { verb: "create", ...LEASES, namespace },
    { verb: "get", ...LEASES, namespace, name: CONTROLLER_LEASE },
    { verb: "update", ...LEASES, namespace, name: CONTROLLER_LEASE },
  );
  if (configMap !== null) {
    rights.push(...followed({ group: "", resource: "configmaps", namespace, name: configMap }));
  }
  if (dashboard) rights.push(...dashboardRights());
  if (rightsizing) rights.push(...rightsizingRights());
  if (placement) rights.push(...placementRights(namespace));
  return rights;
}

function followed(kind: Omit<AccessRule, "verb">): AccessRule[] {
  return ["list", "watch"].map((verb) => ({ verb, ...kind }));
}
