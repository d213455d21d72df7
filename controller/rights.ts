/**
 * The rights that the controller needs: the list behind its ClusterRoles and Roles.
 *
 * @module
 */
import { CONTROLLER_LEASE } from "../shared/installation.ts";
import type { AccessRule } from "../adapters/kube/client/api_checks.ts";
import type { CertificateSource } from "./webhook/settings.ts";
import {
  ENDPOINT_SLICES,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
} from "./webhook/webhook_objects.ts";

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
  /** Where the certificates of the webhook come from; absent without a webhook. */
  readonly webhook?: CertificateSource;
}

const CORE = { group: "" } as const;
const APPS = { group: "apps" } as const;
const ALLOCATIONS = { group: "allocation.mbcas.io", resource: "podallocations" } as const;
const POLICIES = { group: "optipod.io", resource: "optimizationpolicies" } as const;
const REPLICA_SETS = { ...APPS, resource: "replicasets" } as const;

/** Kinds that are followed in the whole cluster, whatever is on. */
const FOLLOWED = [
  ...["pods", "namespaces", "nodes", "limitranges", "resourcequotas"].map((resource) => ({
    ...CORE,
    resource,
  })),
  ...["deployments", "statefulsets", "daemonsets"].map((resource) => ({ ...APPS, resource })),
  { group: "autoscaling", resource: "horizontalpodautoscalers" },
  { group: "autoscaling.k8s.io", resource: "verticalpodautoscalers" },
];

/** Each right by itself, so that a missing one can be named. */
export function controllerRights(place: RightsPlace): readonly AccessRule[] {
  const { namespace, configMap, rightsizing, placement, dashboard, webhook } = place;
  const leases = { group: "coordination.k8s.io", resource: "leases", namespace };
  return [
    ...FOLLOWED.flatMap((kind) => rights("list watch", kind)),
    ...rights("patch", { ...CORE, resource: "pods", subresource: "resize" }),
    ...rights("list watch create delete", ALLOCATIONS),
    ...rights("update", { ...ALLOCATIONS, subresource: "status" }),
    ...rights("list watch create", leases),
    ...rights("get update", { ...leases, name: CONTROLLER_LEASE }),
    ...(configMap === null
      ? []
      : rights("list watch", { ...CORE, resource: "configmaps", namespace, name: configMap })),
    ...(dashboard ? dashboardRights() : []),
    ...(rightsizing ? rightsizingRights() : []),
    ...(placement ? placementRights(namespace) : []),
    ...(webhook === undefined
      ? []
      : webhookRights(namespace, { keepsCertificates: webhook === "self" })),
  ];
}

/** The rights of these verbs, separated by spaces. */
function rights(verbs: string, kind: Omit<AccessRule, "verb">): AccessRule[] {
  return verbs.split(" ").map((verb) => ({ verb, ...kind }));
}

/** Reviews of tokens and of their users' rights. */
function dashboardRights(): readonly AccessRule[] {
  return [
    ...rights("create", { group: "authentication.k8s.io", resource: "tokenreviews" }),
    ...rights("create", { group: "authorization.k8s.io", resource: "subjectaccessreviews" }),
  ];
}

function rightsizingRights(): readonly AccessRule[] {
  return [
    ...rights("list watch", POLICIES),
    ...rights("list watch", REPLICA_SETS),
    ...rights("update", { ...POLICIES, subresource: "status" }),
    ...rights("list watch create patch delete", {
      group: POLICIES.group,
      resource: "recommendationreports",
    }),
  ];
}

/** The rights of placement beside those of the market. */
export function placementRights(namespace: string): readonly AccessRule[] {
  return [
    ...rights("list watch", REPLICA_SETS),
    ...rights("list watch", { group: "policy", resource: "poddisruptionbudgets" }),
    ...rights("list watch", { ...CORE, resource: "persistentvolumes" }),
    ...rights("create", { ...CORE, resource: "pods", subresource: "eviction" }),
    // Deletion costs.
    ...rights("patch", { ...CORE, resource: "pods" }),
    ...rights("list create patch delete", { ...CORE, resource: "configmaps", namespace }),
  ];
}

/** The rights of a webhook that makes certificates, and has API servers trust them, or does not. */
export function webhookRights(
  namespace: string,
  { keepsCertificates }: { readonly keepsCertificates: boolean },
): readonly AccessRule[] {
  const slices = { group: "discovery.k8s.io", resource: "endpointslices", namespace };
  const secrets = { ...CORE, resource: "secrets", namespace };
  return [
    // RBAC can't allow the creation of one name alone.
    ...rights("create", slices),
    ...ENDPOINT_SLICES.flatMap((name) => rights("get update", { ...slices, name })),
    ...(!keepsCertificates ? [] : [
      ...rights("create", secrets),
      ...rights("get update", { ...secrets, name: WEBHOOK_SECRET }),
      ...rights("get patch", {
        group: "admissionregistration.k8s.io",
        resource: "mutatingwebhookconfigurations",
        name: WEBHOOK_CONFIGURATION,
      }),
    ]),
  ];
}
