/**
 * The programs' acts by each of their rights, by the product's own adapters. The objects need not
 * exist: the server asks RBAC before it looks for them. Contract suites test the effects of the
 * adapters' requests.
 *
 * @module
 */
import { createAccessReviews } from "../../../adapters/kube/client/api_checks.ts";
import { allocationListWatch } from "../../../adapters/kube/kinds/allocations.ts";
import {
  horizontalPodAutoscalerListWatch,
  verticalPodAutoscalerListWatch,
} from "../../../adapters/kube/kinds/autoscalers.ts";
import { configMapListWatch } from "../../../adapters/kube/kinds/config_maps.ts";
import { leaseListWatch } from "../../../adapters/kube/kinds/leases.ts";
import {
  limitRangeListWatch,
  namespaceListWatch,
  resourceQuotaListWatch,
} from "../../../adapters/kube/kinds/namespaces.ts";
import {
  nodeListWatch,
  persistentVolumeListWatch,
  readNode,
} from "../../../adapters/kube/kinds/nodes.ts";
import {
  optimizationPolicyListWatch,
  recommendationReportListWatch,
} from "../../../adapters/kube/kinds/optimization_policies.ts";
import { createOwnerTemplates } from "../../../adapters/kube/kinds/owner_templates.ts";
import { podDisruptionBudgetListWatch } from "../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import { createPodMetrics } from "../../../adapters/kube/kinds/pod_metrics.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { replicaSetListWatch, workloadListWatch } from "../../../adapters/kube/kinds/workloads.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import {
  createAllocationStore,
  createDesiredWriter,
} from "../../../adapters/kube/writers/allocation_writers.ts";
import { createCheckpointStore } from "../../../adapters/kube/writers/checkpoint_store.ts";
import { createEventSink } from "../../../adapters/kube/writers/event_sink.ts";
import { createLeaseStore, createNodeLink } from "../../../adapters/kube/writers/lease_writers.ts";
import {
  createDeletionCostWriter,
  createPodEvictor,
  createPodResizer,
} from "../../../adapters/kube/writers/pod_writers.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
  createVPAPublisher,
} from "../../../adapters/kube/writers/recommendation_writers.ts";
import {
  createEndpointSliceStore,
  createSecretStore,
  createTrustStore,
} from "../../../adapters/kube/writers/webhook_stores.ts";
import { createWorkloadWriter } from "../../../adapters/kube/writers/workload_writer.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { CONTROLLER_LEASE } from "../../../shared/installation.ts";
import { endpointSpec } from "../../../controller/webhook/keep_endpoint.ts";
import {
  ENDPOINT_SLICES,
  WEBHOOK_CONFIGURATION,
  WEBHOOK_SECRET,
} from "../../../controller/webhook/webhook_objects.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { silentLog } from "../../../shared/log.ts";
import { publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../contract/support/sample_objects.ts";
import { rightsizingSnapshot } from "../../fixtures/rightsizing/rightsizing_snapshot.ts";
import { until } from "../scene/until.ts";

/** Uses the right, in this namespace; what is not there may be an `ApiError`. */
export type Perform = (connection: KubeConnection, namespace: string) => Promise<unknown>;

/** An act for each right, which is written as `accessRuleText()` does. */
export type RoleActs = Readonly<Record<string, Perform>>;

type Source = (connection: KubeConnection, namespace: string) => ListWatch<ApiObject>;

const UID = "00000000-0000-0000-0000-000000000000";
const HERE = " in mbcas-system";
const ALLOCATIONS = "podallocations.allocation.mbcas.io";
const LEASES = "leases.coordination.k8s.io";
const POLICIES = "optimizationpolicies.optipod.io";
const REPORTS = "recommendationreports.optipod.io";
const VPAS = "verticalpodautoscalers.autoscaling.k8s.io";
const LIST_PODS = { verb: "list", group: "", resource: "pods" };
/** By then a watch that is permitted has begun. */
const WATCHED_MS = 5_000;

/** A watch of what is there ends with its first event, or when nothing comes and nothing is refused. */
async function watchBriefly(source: ListWatch<ApiObject>): Promise<void> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), WATCHED_MS);
  try {
    for await (const _event of source.watch("0", stop.signal)) return;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

function merged<T>(from: readonly T[], acts: (each: T) => RoleActs): RoleActs {
  return Object.assign({}, ...from.map(acts));
}

/** The two rights of a copy that is kept of a kind. */
function follow(rights: string, source: Source): RoleActs {
  return {
    [`list ${rights}`]: (...at) => source(...at).list(new AbortController().signal),
    [`watch ${rights}`]: (...at) => watchBriefly(source(...at)),
  };
}

/** The same for a kind that is followed in the whole cluster. */
function followAll(kinds: Readonly<Record<string, Source>>): RoleActs {
  return merged(Object.entries(kinds), ([rights, source]) => follow(rights, source));
}

/** The link of a node of its own, as acts run beside each other; it is not there, but to its link. */
function link(connection: KubeConnection, namespace: string): ReturnType<typeof createNodeLink> {
  const nodeName = `rbac-${crypto.randomUUID()}`;
  const node = { metadata: { name: nodeName, uid: UID, resourceVersion: "1" } };
  const withNode: KubeConnection = {
    ...connection,
    request: (request) =>
      request.path === `/api/v1/nodes/${nodeName}`
        ? Promise.resolve(node)
        : connection.request(request),
  };
  return createNodeLink(withNode, {
    nodeName,
    namespace,
    clock: systemClock,
    durationSeconds: 120,
  });
}

/** Without an owner: the garbage collector would look for a pod that never was. */
function allocationIn(namespace: string): PodAllocation {
  const pod = samplePod("web", { namespace });
  const owned = sampleAllocation({ ...pod, metadata: { ...pod.metadata, uid: UID } });
  const { ownerReferences: _pod, ...metadata } = owned.metadata;
  return { ...owned, metadata };
}

export const AGENT_ACTS: RoleActs = {
  ...follow(ALLOCATIONS, (connection) => allocationListWatch(connection)),
  [`patch ${ALLOCATIONS}`]: (connection, namespace) =>
    createDesiredWriter(connection).writeDesired({ namespace, name: UID }, sampleDesired("300m")),
  "get nodes": (connection) => readNode(connection, "none"),
  // The first makes the Lease, the second renews it.
  [`create ${LEASES}${HERE}`]: (...at) => link(...at).renewLease(),
  [`patch ${LEASES}${HERE}`]: async (...at) => {
    const own = link(...at);
    await own.renewLease();
    await own.renewLease();
  },
};

function leadership(connection: KubeConnection, namespace: string) {
  return createLeaseStore(connection, { namespace, name: CONTROLLER_LEASE });
}

function candidacy(namespace: string) {
  return {
    metadata: { name: CONTROLLER_LEASE, namespace, uid: "", resourceVersion: "1" },
    holder: "rbac-test",
    durationSeconds: 15,
    acquireTimeMs: undefined,
    renewTimeMs: undefined,
    transitions: 0,
  };
}

/** Reports the same event so many times: the first is created, the others are counted in it. */
function report(times: number): Perform {
  return async (connection, namespace) => {
    let answers = 0;
    const request: KubeConnection["request"] = (one) =>
      connection.request(one).finally(() => answers++);
    const counted = { ...connection, request };
    const sink = createEventSink(counted, { clock: systemClock, log: silentLog });
    const stop = new AbortController();
    const running = sink.run(stop.signal);
    // Unlike what was reported before, with fewer rights.
    const about = { apiVersion: "v1", kind: "Pod", namespace, name: "web", uid: UID };
    const message = crypto.randomUUID();
    for (let time = 0; time < times; time++) {
      sink.emit({ about, type: "Normal", reason: "CPULimitHeld", message });
    }
    await until(`${times} answers`, () => answers >= times || undefined, { everyMs: 5 })
      .finally(() => stop.abort());
    await running;
  };
}

/** Reads the template that a pod of this owner was made from. */
function templateOf(apiVersion: string, kind: string): Perform {
  return (connection, namespace) => {
    const pod = samplePod("web", { namespace });
    const owner = { apiVersion, kind, name: "web", uid: UID };
    // The name of the revision that a pod of a StatefulSet was made from.
    const labels = { "controller-revision-hash": "web" };
    const metadata = { ...pod.metadata, labels, owner };
    return createOwnerTemplates(connection).limitsOf({ ...pod, metadata });
  };
}

const WORKLOAD_KINDS: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

export const CONTROLLER_ACTS: RoleActs = {
  ...followAll({
    "deployments.apps": (connection) => workloadListWatch(connection, { kind: "Deployment" }),
    "statefulsets.apps": (connection) => workloadListWatch(connection, { kind: "StatefulSet" }),
    "daemonsets.apps": (connection) => workloadListWatch(connection, { kind: "DaemonSet" }),
    pods: (connection) => podListWatch(connection),
    nodes: (connection) => nodeListWatch(connection),
    namespaces: (connection) => namespaceListWatch(connection),
    resourcequotas: (connection) => resourceQuotaListWatch(connection),
    limitranges: (connection) => limitRangeListWatch(connection),
    [ALLOCATIONS]: (connection) => allocationListWatch(connection),
    "horizontalpodautoscalers.autoscaling": (connection) =>
      horizontalPodAutoscalerListWatch(connection),
    [VPAS]: (connection) => verticalPodAutoscalerListWatch(connection, { clock: systemClock }),
    [`${LEASES}${HERE}`]: (connection, namespace) => leaseListWatch(connection, { namespace }),
    [`configmaps "mbcas-config"${HERE}`]: (connection, namespace) =>
      configMapListWatch(connection, { namespace, name: "mbcas-config" }),
  }),
  "patch pods/resize": (connection, namespace) =>
    createPodResizer(connection).resize(namespace, "web", {
      metadata: { uid: UID },
      spec: { containers: [{ name: "app", resources: { limits: { cpu: "300m" } } }] },
    }),
  [`create ${ALLOCATIONS}`]: (connection, namespace) =>
    createAllocationStore(connection).create(allocationIn(namespace)),
  "update podallocations/status.allocation.mbcas.io": (connection, namespace) =>
    createAllocationStore(connection).writeStatus({ ...allocationIn(namespace), status: {} }),
  [`delete ${ALLOCATIONS}`]: (connection, namespace) =>
    createAllocationStore(connection).remove(allocationIn(namespace)),
  "get replicasets.apps": templateOf("apps/v1", "ReplicaSet"),
  "get controllerrevisions.apps": templateOf("apps/v1", "StatefulSet"),
  "get jobs.batch": templateOf("batch/v1", "Job"),
  "create events.events.k8s.io": report(1),
  "patch events.events.k8s.io": report(2),
  [`create ${LEASES}${HERE}`]: (connection, namespace) =>
    leadership(connection, namespace).create(candidacy(namespace)),
  [`get ${LEASES} "${CONTROLLER_LEASE}"${HERE}`]: (...at) => leadership(...at).read(),
  [`update ${LEASES} "${CONTROLLER_LEASE}"${HERE}`]: (connection, namespace) =>
    leadership(connection, namespace).update(candidacy(namespace)),
  // For the dashboard.
  "create tokenreviews.authentication.k8s.io": (connection) =>
    createAccessReviews(connection).userOf("none"),
  "create subjectaccessreviews.authorization.k8s.io": (connection) =>
    createAccessReviews(connection).isAllowed({ username: "none" }, LIST_PODS),
};

/** Memory in ConfigMaps; an apply of what is not there needs `patch` and `create`. */
function memoryActs(label: string): RoleActs {
  const rights = `configmaps${HERE}`;
  const store = (connection: KubeConnection, namespace: string) =>
    createCheckpointStore(connection, { namespace, label, manager: "rbac-test" });
  const { signal } = new AbortController();
  const apply: Perform = (...at) =>
    store(...at).apply({ name: `try-${crypto.randomUUID()}`, data: { a: "1" } }, signal);
  return {
    [`list ${rights}`]: (...at) => store(...at).list(signal),
    [`create ${rights}`]: apply,
    [`patch ${rights}`]: apply,
    [`delete ${rights}`]: (...at) => store(...at).remove("none", signal),
  };
}

/** A template is read before it is changed; annotations are written unread. */
function templateActs(kind: WorkloadKind): RoleActs {
  const { workload } = rightsizingSnapshot();
  const subject = (namespace: string) => ({
    ...workload,
    kind,
    metadata: { ...workload.metadata, namespace },
  });
  const writer = (connection: KubeConnection) =>
    createWorkloadWriter(connection, { log: silentLog });
  return {
    [`get ${kind.toLowerCase()}s.apps`]: (connection, namespace) =>
      writer(connection).recreate(subject(namespace), new Map(), { serverSideApply: true }),
    [`patch ${kind.toLowerCase()}s.apps`]: (connection, namespace) =>
      writer(connection).annotate(subject(namespace), {
        metadata: { annotations: { "optipod.io/policy": "a/b" } },
      }),
  };
}

function vpaIn(namespace: string) {
  const metadata = { name: "web", namespace, uid: UID, resourceVersion: "", annotations: {} };
  return publishedVPA({ kind: "Deployment", metadata }, []);
}

export const RIGHTSIZING_ACTS: RoleActs = {
  ...followAll({
    [POLICIES]: (connection) => optimizationPolicyListWatch(connection),
    [REPORTS]: (connection) => recommendationReportListWatch(connection),
    "replicasets.apps": (connection) => replicaSetListWatch(connection),
  }),
  "update optimizationpolicies/status.optipod.io": (connection, namespace) =>
    createPolicyStatusWriter(connection).writeStatus({
      metadata: { namespace, name: "all", uid: UID, resourceVersion: "1", generation: 1 },
    }, {}),
  [`create ${REPORTS}`]: (connection, namespace) =>
    createReportStore(connection).apply({ namespace, name: "first", workloads: [] }),
  [`patch ${REPORTS}`]: (connection, namespace) =>
    createReportStore(connection)
      .apply({ namespace, name: "next", resourceVersion: "1", workloads: [] }),
  [`delete ${REPORTS}`]: (connection, namespace) =>
    createReportStore(connection)
      .remove({ metadata: { namespace, name: "none", uid: UID, resourceVersion: "1" } }),
  ...merged(WORKLOAD_KINDS, templateActs),
  "list pods.metrics.k8s.io": (connection) =>
    createPodMetrics(connection).read(new AbortController().signal),
  ...memoryActs("try.mbcas.io/usage"),
  [`create ${VPAS}`]: (connection, namespace) =>
    createVPAPublisher(connection).create(vpaIn(namespace)),
  "patch verticalpodautoscalers/status.autoscaling.k8s.io": (connection, namespace) =>
    createVPAPublisher(connection).recommend(vpaIn(namespace), UID),
  [`delete ${VPAS}`]: (connection, namespace) =>
    createVPAPublisher(connection).remove({ namespace, name: "none", uid: UID }),
};

export const PLACEMENT_ACTS: RoleActs = {
  ...followAll({
    "replicasets.apps": (connection) => replicaSetListWatch(connection),
    "poddisruptionbudgets.policy": (connection) => podDisruptionBudgetListWatch(connection),
    persistentvolumes: (connection) => persistentVolumeListWatch(connection),
  }),
  "create pods/eviction": (connection, namespace) =>
    createPodEvictor(connection).evict({ namespace, name: "web", uid: UID }),
  "patch pods": (connection, namespace) =>
    createDeletionCostWriter(connection).write({ namespace, name: "web", uid: UID }, -7),
  ...memoryActs("try.mbcas.io/memory"),
};

function endpointActs(name: string): RoleActs {
  const object = `endpointslices.discovery.k8s.io "${name}"${HERE}`;
  const address = name.endsWith("6") ? "fd00::1" : "10.0.0.1";
  // An EndpointSlice of no existing Service: an installed webhook goes on with its own.
  const spec = endpointSpec("rbac-test", { address, port: 9443 });
  const store = (connection: KubeConnection, namespace: string) =>
    createEndpointSliceStore(connection, { namespace, name, labels: {} });
  return {
    [`get ${object}`]: (...at) => store(...at).read(),
    [`update ${object}`]: (connection, namespace) =>
      store(connection, namespace).replace({
        ...spec,
        metadata: { namespace, name, uid: UID, resourceVersion: "1" },
      }, spec),
    [`create endpointslices.discovery.k8s.io${HERE}`]: (...at) => store(...at).create(spec),
  };
}

const SECRET = `secrets "${WEBHOOK_SECRET}"${HERE}`;
const CONFIGURATION =
  `mutatingwebhookconfigurations.admissionregistration.k8s.io "${WEBHOOK_CONFIGURATION}"`;

const secret = (connection: KubeConnection, namespace: string) =>
  createSecretStore(connection, { namespace, name: WEBHOOK_SECRET, labels: {} });
const trust = (connection: KubeConnection) =>
  createTrustStore(connection, { name: WEBHOOK_CONFIGURATION });

/** The webhook's own certificates, which another component takes away. */
export const CERTIFICATE_ACTS: RoleActs = {
  [`create secrets${HERE}`]: (...at) => secret(...at).create({}),
  [`get ${SECRET}`]: (...at) => secret(...at).read(),
  [`update ${SECRET}`]: (...at) => secret(...at).replace({ resourceVersion: "1", data: {} }, {}),
  [`get ${CONFIGURATION}`]: (connection) => trust(connection).read(),
  // A version that is gone: an installed webhook goes on with what it has.
  [`patch ${CONFIGURATION}`]: (connection) =>
    trust(connection).write({ resourceVersion: "1", bundles: [["rbac-test.mbcas.io", ""]] }, ""),
};

export const WEBHOOK_ACTS: RoleActs = {
  ...merged(ENDPOINT_SLICES, endpointActs),
  ...CERTIFICATE_ACTS,
};
