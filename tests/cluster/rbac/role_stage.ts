/**
 * A namespace with one object of each kind that the programs' acts are about. It stands in for users'
 * namespaces, and for `mbcas-system` where a right counts there only.
 *
 * @module
 */
import { servesResource } from "../../../adapters/kube/client/api_checks.ts";
import { type OpenKubeConnection, resourcePath } from "../../../adapters/kube/client/connection.ts";
import { listOf, numberOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import {
  allocationPath,
  allocationsPath,
  parseAllocation,
} from "../../../adapters/kube/kinds/allocations.ts";
import { LEASES, parseLease } from "../../../adapters/kube/kinds/leases.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { MEMORY_LABEL } from "../../../shared/placement/status.ts";
import { USAGE_LABEL } from "../../../controller/rightsizing/sources/usage_sampler.ts";
import { agentLeaseRef } from "../../../shared/api/lease.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../../shared/api/optimization_policy.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { SAMPLE_POLICY_SPEC } from "../../contract/support/sample_objects.ts";
import { scratchNamespace } from "../scene/scratch_namespace.ts";

/** The name of all objects that have no other one. */
export const MADE = "rbac-test";

/** The name of the ConfigMap with what placement remembers. */
export const REMEMBERED = "rbac-test-memory";

/** The stage while it stands; `admin` has all rights. */
export interface RoleStage extends AsyncDisposable {
  readonly admin: OpenKubeConnection;
  readonly namespace: string;
  /** A real node, to which agents' tokens are bound. */
  readonly nodeName: string;
  readonly nodeUID: string;
  /** A pod that no scheduler and no kubelet sees: container `app`, limit 200m. */
  readonly pod: Pod;
  /** An allocation of the node. */
  readonly own: PodAllocation;
  /** Allocations of another node: to be made, to have a status written, to be deleted. */
  readonly fresh: PodAllocation;
  readonly reported: PodAllocation;
  readonly gone: PodAllocation;
  /** Whether the cluster serves VerticalPodAutoscalers; then there is one here. */
  readonly servesVPA: boolean;
  /** The allocation as it is now; throws an `ApiError` when it is not there. */
  allocation(allocation: PodAllocation): Promise<PodAllocation>;
  /** Limit of the pod's container now, millicores. */
  limitOf(pod: Pod): Promise<number | undefined>;
  /** When the node's agent, the one that was tried here, last gave a sign of life; ms. */
  agentRenewedAt(): Promise<number | undefined>;
  /** How often the one event of this message has come about; throws when there is not just one. */
  loggedTimes(message: string): Promise<number>;
}

const CONTAINERS = [{
  name: "app",
  image: "busybox:stable",
  resources: { requests: { cpu: "100m" }, limits: { cpu: "200m" } },
}];
const LABELS = { app: MADE };
const SELECTOR = { matchLabels: LABELS };
const TEMPLATE = { metadata: { labels: LABELS }, spec: { containers: CONTAINERS } };

/** Objects beside pod and allocations: collection below the namespace, and what is made there. */
const OBJECTS: readonly (readonly [group: string, plural: string, body: object])[] = [
  ["api/v1", "limitranges", { spec: { limits: [{ type: "Container", max: { cpu: "64" } }] } }],
  ["api/v1", "resourcequotas", { spec: { hard: { pods: "100" } } }],
  ["api/v1", "configmaps", { metadata: { name: "mbcas-config" }, data: {} }],
  ["api/v1", "configmaps", { metadata: { name: MADE, labels: { [USAGE_LABEL]: "true" } } }],
  ["api/v1", "configmaps", { metadata: { name: REMEMBERED, labels: { [MEMORY_LABEL]: "true" } } }],
  ["apis/policy/v1", "poddisruptionbudgets", {
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: "none" } } },
  }],
  // Of a policy that is switched off an installed controller wants nothing.
  [`apis/${OPTIPOD_GROUP_VERSION}`, "optimizationpolicies", {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "OptimizationPolicy",
    spec: { ...SAMPLE_POLICY_SPEC, mode: "Disabled" },
  }],
  [`apis/${OPTIPOD_GROUP_VERSION}`, "recommendationreports", {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    workloads: [],
  }],
  ["apis/apps/v1", "deployments", {
    spec: { replicas: 0, selector: SELECTOR, template: TEMPLATE },
  }],
  ["apis/apps/v1", "statefulsets", {
    spec: { replicas: 0, serviceName: MADE, selector: SELECTOR, template: TEMPLATE },
  }],
  ["apis/apps/v1", "daemonsets", {
    spec: {
      selector: SELECTOR,
      template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, nodeSelector: { [MADE]: "nowhere" } } },
    },
  }],
  ["apis/apps/v1", "replicasets", {
    spec: { replicas: 0, selector: SELECTOR, template: TEMPLATE },
  }],
  ["apis/apps/v1", "controllerrevisions", { revision: 1, data: { spec: { template: TEMPLATE } } }],
  ["apis/batch/v1", "jobs", {
    spec: { suspend: true, template: { spec: { ...TEMPLATE.spec, restartPolicy: "Never" } } },
  }],
  ["apis/autoscaling/v2", "horizontalpodautoscalers", {
    spec: {
      maxReplicas: 1,
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: MADE },
    },
  }],
];

const VPA = "autoscaling.k8s.io/v1";

/** Sets the stage. */
export async function setRoleStage(admin: OpenKubeConnection): Promise<RoleStage> {
  // Out of the market: the installed controller takes no interest in what is made here.
  const scratch = await scratchNamespace(admin, { annotations: { "mbcas.io/managed": "false" } });
  const { name: namespace } = scratch;
  const at = (group: string, plural: string): string =>
    `/${group}/namespaces/${namespace}/${plural}`;
  const create = (path: string, body: object): Promise<unknown> =>
    admin.request({ method: "POST", path, body: { metadata: { name: MADE }, ...body } });
  const { items } = objectOf(await admin.request({ path: "/api/v1/nodes" }));
  const node = parseIdentity(listOf(items)[0]);
  const draft = (name: string, nodeName: string): PodAllocation => ({
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name, namespace, uid: "", resourceVersion: "" },
    spec: { podName: name, podUID: name, nodeName, namespace },
  });
  const allocate = async (name: string, nodeName = "another-node"): Promise<PodAllocation> => {
    const { spec } = draft(name, nodeName);
    return parseAllocation(
      await create(allocationsPath(namespace), {
        apiVersion: "allocation.mbcas.io/v1alpha1",
        kind: "PodAllocation",
        metadata: { name },
        spec,
      }),
    );
  };
  const servesVPA = await servesResource(admin, {
    groupVersion: VPA,
    resource: "verticalpodautoscalers",
  });
  const pod = parsePod(
    await create(at("api/v1", "pods"), {
      spec: { schedulerName: "none", containers: CONTAINERS },
    }),
  );
  const objects = servesVPA
    ? [
      ...OBJECTS,
      [
        `apis/${VPA}`,
        "verticalpodautoscalers",
        {
          apiVersion: VPA,
          kind: "VerticalPodAutoscaler",
          spec: {
            targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: MADE },
            updatePolicy: { updateMode: "Off" },
          },
        },
      ] as const,
    ]
    : OBJECTS;
  await Promise.all(objects.map(([group, plural, body]) => create(at(group, plural), body)));

  async function loggedTimes(message: string): Promise<number> {
    const path = at("apis/events.k8s.io/v1", "events");
    const events = listOf(objectOf(await admin.request({ path })).items)
      .filter((event) => objectOf(event).note === message);
    if (events.length !== 1) throw new Error(`Cannot count: ${events.length} events "${message}"`);
    return numberOf(objectOf(objectOf(events[0]).series).count) ?? 1;
  }

  async function agentRenewedAt(): Promise<number | undefined> {
    const path = `${resourcePath({ ...LEASES, namespace })}/${agentLeaseRef(node.name).name}`;
    try {
      return parseLease(await admin.request({ path })).renewTimeMs;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  return {
    admin,
    namespace,
    nodeName: node.name,
    nodeUID: node.uid,
    pod,
    own: await allocate("own", node.name),
    fresh: draft("fresh", "another-node"),
    reported: await allocate("reported"),
    gone: await allocate("gone"),
    servesVPA,
    allocation: async ({ metadata }) =>
      parseAllocation(await admin.request({ path: allocationPath(metadata) })),
    limitOf: async ({ metadata: { name } }) =>
      parsePod(await admin.request({ path: `${at("api/v1", "pods")}/${name}` }))
        .containers[0]?.limits.cpu,
    agentRenewedAt,
    loggedTimes,
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}
