import assert from "node:assert/strict";
import type { KubeRequest } from "../../../adapters/kube/client/connection.ts";
import type { UserConnection } from "../../../adapters/kube/client/user_connection.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { sampleNodeView } from "../../../tests/fixtures/cli/node_views.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { ownedBy } from "../../../tests/fixtures/sample_workloads.ts";
import type { Cluster } from "../ports.ts";
import { createKubeCluster } from "./kube_cluster.ts";
import { createPlacementReader, createRecommendationReader } from "./readers.ts";

const WALL = Date.UTC(2026, 0, 1);
const POD = { namespace: "shop", name: "web" };

interface Server {
  readonly cluster: Cluster;
  readonly requests: KubeRequest[];
  /** The user's Ctrl-C. */
  readonly ending: AbortController;
}

/** A server with these answers by method and path; an unknown path is 404. */
function server(answers: Readonly<Record<string, unknown>>): Server {
  const requests: KubeRequest[] = [];
  const connection: UserConnection = {
    namespace: "shop",
    request(request) {
      requests.push(request);
      const answer = answers[`${request.method ?? "GET"} ${request.path}`];
      if (answer instanceof Error) return Promise.reject(answer);
      return answer === undefined
        ? Promise.reject(new ApiError(404, "NotFound", `${request.path} not found`))
        : Promise.resolve(answer);
    },
    lines: () => {
      throw new TypeError("Cannot watch: not expected here");
    },
    podGet({ pod }) {
      const { idleCPU: _none, ...older } = sampleNodeView([]);
      return pod === "older-agent"
        ? Promise.resolve(older)
        : Promise.reject(new ApiError(0, "Unreachable", "no agent"));
    },
    tunnel: () => Promise.reject(new Error("Cannot forward: not expected here")),
    bearerToken: () => Promise.resolve("own"),
    close: () => {},
  };
  const clock = createVirtualClock({ wallStart: WALL });
  const ending = new AbortController();
  const { signal } = ending;
  return { requests, ending, cluster: createKubeCluster(connection, { clock, signal }) };
}

const list = (...items: readonly unknown[]) => ({ items, metadata: { resourceVersion: "9" } });
const FORBIDDEN = new ApiError(403, "Forbidden", "no");

const metadata = (name: string, more = {}) => ({
  metadata: { name, namespace: "shop", uid: "u", resourceVersion: "1", ...more },
});

const RAW_POD = {
  ...metadata("web"),
  spec: {
    nodeName: "node-1",
    containers: [{ name: "app", resources: { limits: { cpu: "200m" } } }],
  },
  status: { phase: "Running", qosClass: "Burstable" },
};

pure("createClusterReader() reads objects, and undefined for what is not there", async () => {
  const { cluster: { reader } } = server({
    "GET /api/v1/namespaces/shop/pods/web": RAW_POD,
    "GET /api/v1/namespaces/shop/pods": list(RAW_POD),
    "GET /api/v1/pods": list(RAW_POD, RAW_POD),
    "GET /api/v1/namespaces/shop": { metadata: { name: "shop", uid: "n", resourceVersion: "1" } },
    "GET /apis/allocation.mbcas.io/v1alpha1/podallocations": list(),
    "GET /api/v1/namespaces/mbcas-system/configmaps/mbcas-config": {
      data: { "config.yaml": "market: off\n" },
    },
  });
  assert.equal((await reader.pod(POD))?.containers[0]?.limits.cpu, 200);
  assert.equal(await reader.pod({ namespace: "shop", name: "gone" }), undefined);
  assert.equal((await reader.pods("shop")).length, 1);
  assert.equal((await reader.pods()).length, 2);
  assert.equal((await reader.namespace("shop"))?.metadata.name, "shop");
  assert.equal(await reader.namespace("gone"), undefined);
  assert.deepEqual(await reader.allocations(), []);
  await assert.rejects(reader.allocations("shop"), ApiError);
  assert.equal(await reader.settingsText(), "market: off\n");
  assert.equal(await reader.templateLimits(samplePod("web")), undefined);
});

pure("createClusterReader() goes without what the user may not read", async () => {
  const ranges = "GET /api/v1/namespaces/shop/limitranges";
  const node1 = "GET /api/v1/nodes/node-1";
  const { cluster: { reader } } = server({
    [node1]: { ...metadata("node-1"), status: { nodeInfo: { kubeletVersion: "v1.36.3" } } },
    [ranges]: list(
      { ...metadata("r"), spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } },
    ),
  });
  const pod = samplePod("web");
  const { limitRange, node } = await reader.limitInput(pod);
  assert.equal(limitRange?.cpu?.container.max, 1000);
  assert.equal(node?.kubeletVersion, "v1.36.3");
  assert.deepEqual(await reader.limitInput({ ...pod, nodeName: "" }), { limitRange });
  const closed = server({ [ranges]: FORBIDDEN, [node1]: FORBIDDEN });
  assert.deepEqual(await closed.cluster.reader.limitInput(pod), {});
});

pure("versions() are those of the server and of a controller that the user may see", async () => {
  const versions = (controller?: unknown) =>
    server({
      "GET /version": { gitVersion: "v1.36.3" },
      "GET /apis/apps/v1/namespaces/mbcas-system/deployments/mbcas-controller": controller,
    }).cluster.reader.versions();
  const none = { server: "v1.36.3", controllerImage: undefined };
  assert.deepEqual(await versions(FORBIDDEN), { ...none, controllerIsVisible: false });
  assert.equal((await versions()).controllerIsVisible, true);
  const controller = { spec: { template: { spec: { containers: [{ image: "c:1" }] } } } };
  assert.equal((await versions(controller)).controllerImage, "c:1");
});

/** The scope's input about a pod, by a server with these answers. */
const scopeOf = (answers: Readonly<Record<string, unknown>>, pod: Pod) =>
  server(answers).cluster.reader.scopeInput(pod);

pure("createClusterReader() finds VPAs of the pod's workload that the user may see", async () => {
  const vpas = "GET /apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers";
  const node = "GET /api/v1/nodes/node-1";
  const vpa = (name: string, kind: string) => ({
    ...metadata(name),
    spec: { targetRef: { kind, name: "web" }, updatePolicy: { updateMode: "Auto" } },
  });
  const pod = ownedBy("StatefulSet", samplePod("web-0"));
  const seen = await scopeOf({
    [vpas]: list(vpa("ours", "StatefulSet"), vpa("other", "Deployment")),
    [node]: { ...metadata("node-1"), status: { nodeInfo: { kubeletVersion: "v1.30.1" } } },
  }, pod);
  assert.deepEqual(seen.verticalAutoscalers?.map((one) => one.metadata.name), ["ours"]);
  assert.equal(seen.node?.kubeletVersion, "v1.30.1");
  assert.deepEqual(await scopeOf({ [vpas]: FORBIDDEN, [node]: FORBIDDEN }, pod), {});
  assert.deepEqual(await scopeOf({ [node]: FORBIDDEN }, pod), { verticalAutoscalers: [] });
  // VPAs are others' kind: their webhook may be down. Other errors of the server are reported.
  const fault = new ApiError(500, "InternalError", "no");
  assert.deepEqual(await scopeOf({ [vpas]: fault, [node]: FORBIDDEN }, pod), {});
  const unknown = { [vpas]: new ApiError(401, "Unauthorized", "no") };
  await assert.rejects(scopeOf(unknown, pod), { status: 401 });
  await assert.rejects(scopeOf({ [node]: fault }, pod), { status: 500 });
});

pure("createClusterReader() finds HPAs of a Guaranteed pod's workload alone", async () => {
  const hpas = "GET /apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers";
  const cpu = { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } };
  const hpa = (name: string, target: string) => ({
    ...metadata(name),
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "StatefulSet", name: target },
      metrics: [{ resource: cpu }],
    },
  });
  const annotations = { "mbcas.io/hpa-coordination": "false" };
  const answers = {
    [hpas]: list(hpa("ours", "web"), hpa("other", "api")),
    "GET /apis/apps/v1/namespaces/shop/statefulsets/web": {
      ...metadata("web", { annotations }),
      spec: { template: { spec: { containers: [] } } },
    },
  };
  const pod = ownedBy("StatefulSet", samplePod("web-0"));
  const guaranteed: Pod = { ...pod, qosClass: "Guaranteed" };
  const { autoscalers, workload } = await scopeOf(answers, guaranteed);
  assert.deepEqual(autoscalers?.map((one) => one.metadata.name), ["ours"]);
  assert.deepEqual(autoscalers?.[0]?.cpuTargets, [{ utilization: 0.7 }]);
  assert.deepEqual(workload?.metadata.annotations, annotations);
  assert.equal((await scopeOf(answers, pod)).autoscalers, undefined);
  assert.equal((await scopeOf({ [hpas]: FORBIDDEN }, guaranteed)).autoscalers, undefined);
});

pure("createClusterReader() asks nothing that the user can't interrupt", async () => {
  const { cluster: { reader }, requests, ending } = server({
    "GET /version": { gitVersion: "v1.36.3" },
    "GET /api/v1/namespaces/shop/limitranges": list(),
    "GET /api/v1/pods": list(),
    "GET /apis/allocation.mbcas.io/v1alpha1/podallocations": list(),
  });
  const pod = samplePod("web");
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u" };
  await reader.pod(POD);
  await reader.pods();
  await reader.namespace("shop");
  await reader.allocations();
  await reader.settingsText();
  await reader.templateLimits({ ...pod, metadata: { ...pod.metadata, owner } });
  await reader.limitInput(pod);
  await reader.scopeInput(pod);
  await reader.versions();
  await reader.controllerIsAlive();
  assert.equal(requests.length, 13);
  for (const { path, signal } of requests) assert.equal(signal, ending.signal, path);
});

pure("controllerIsAlive() believes a lease that is held and fresh", async () => {
  const alive = (spec?: unknown): Promise<boolean> => {
    const path = "GET /apis/coordination.k8s.io/v1/namespaces/mbcas-system/leases/mbcas-controller";
    const { cluster } = server(spec === undefined ? {} : { [path]: { ...metadata("l"), spec } });
    return cluster.reader.controllerIsAlive();
  };
  const at = (secondsAgo: number): string => new Date(WALL - secondsAgo * 1000).toISOString();
  const lease = { holderIdentity: "a", leaseDurationSeconds: 15 };
  assert.equal(await alive(), false);
  assert.equal(await alive({ ...lease, renewTime: at(5) }), true);
  assert.equal(await alive({ ...lease, renewTime: at(31) }), false);
  assert.equal(await alive({ leaseDurationSeconds: 15, renewTime: at(5) }), false);
});

pure("createMarketSwitches() annotates, and writes settings that may not exist yet", async () => {
  const map = "/api/v1/namespaces/mbcas-system/configmaps";
  const { cluster: { switches }, requests } = server({
    "PATCH /api/v1/namespaces/shop/pods/web": {},
    "PATCH /api/v1/namespaces/shop": {},
    [`POST ${map}`]: {},
  });
  await switches.optOutPod(POD);
  await switches.optOutNamespace("shop");
  await switches.writeSettings("market: off\n");
  const annotations = { "mbcas.io/managed": "false" };
  assert.deepEqual(requests.map(({ method, path, body }) => [method, path, body]), [
    ["PATCH", "/api/v1/namespaces/shop/pods/web", { metadata: { annotations } }],
    ["PATCH", "/api/v1/namespaces/shop", { metadata: { annotations } }],
    ["PATCH", `${map}/mbcas-config`, { data: { "config.yaml": "market: off\n" } }],
    ["POST", map, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "mbcas-config", namespace: "mbcas-system" },
      data: { "config.yaml": "market: off\n" },
    }],
  ]);
  const closed = server({ [`PATCH ${map}/mbcas-config`]: FORBIDDEN });
  await assert.rejects(closed.cluster.switches.writeSettings(""), /no/);
});

pure("createKubeCluster() resizes under the field manager that it is reported", async () => {
  const path = "/api/v1/namespaces/shop/pods/web/resize";
  const { cluster, requests } = server({ [`PATCH ${path}`]: RAW_POD });
  await cluster.limitWriter("kubectl-coalloc").resize(POD, { metadata: { uid: "u" }, spec: {} });
  assert.equal(requests[0]?.path, path);
  assert.deepEqual(requests[0]?.query, { fieldManager: "kubectl-coalloc" });
});

pure("createAgentViews() finds running agents, and reports that one does not answer", async () => {
  const agent = { ...RAW_POD, ...metadata("mbcas-agent-1") };
  const waiting = { ...agent, status: { phase: "Pending", qosClass: "Burstable" } };
  const { cluster: { views }, requests } = server({
    "GET /api/v1/namespaces/mbcas-system/pods": list(agent, waiting),
  });
  assert.deepEqual(await views.agents(), [{ node: "node-1", pod: "mbcas-agent-1" }]);
  assert.equal(requests[0]?.query?.labelSelector, "app.kubernetes.io/name=mbcas-agent");
  await assert.rejects(views.view({ node: "node-1", pod: "mbcas-agent-1" }), /no agent/);
  await assert.rejects(views.view({ node: "node-2", pod: "older-agent" }), TypeError);
});

const map = (name: string, key: string) => ({
  metadata: { name, namespace: "mbcas-system", uid: name, resourceVersion: "1" },
  data: { [key]: "{}" },
});
const CONTROLLER = {
  args: ["--market=on"],
  env: [
    { name: "MBCAS_PLACEMENT", value: "on" },
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ],
};
const SHOP = map("mbcas-placement-shop", "Deployment.web");
const PLACE = "/api/v1/namespaces/mbcas-system/configmaps";
const PUBLISHED: Readonly<Record<string, unknown>> = {
  "/apis/apps/v1/namespaces/mbcas-system/deployments/mbcas-controller": {
    spec: { template: { spec: { containers: [CONTROLLER] } } },
  },
  [`${PLACE}/mbcas-placement-shop`]: SHOP,
  [PLACE]: { items: [SHOP, map("mbcas-moves-0", "entries")], metadata: { resourceVersion: "9" } },
};

Deno.test("createPlacementReader() reads what is published of placement, and writes nothing", async () => {
  await using server = serveCanned(({ path }) => {
    if (path.endsWith("-secret")) return statusAnswer(403, { reason: "Forbidden" });
    return PUBLISHED[path] ?? statusAnswer(404, { reason: "NotFound" });
  });
  const { signal } = new AbortController();
  const reader = createPlacementReader(server.connection, signal);
  const shop = [["shop", { "Deployment.web": "{}" }]];
  assert.deepEqual([...await reader.statuses("shop")], shop);
  assert.deepEqual([...await reader.statuses("far")], []);
  assert.deepEqual([...await reader.statuses()], shop);
  assert.equal(server.requests.at(-1)?.query.labelSelector, "spotalis.io/placement-status=true");
  await assert.rejects(reader.statuses("secret"), ApiError);
  assert.deepEqual(await reader.controllerCommand(), {
    variables: { MBCAS_PLACEMENT: "on" },
    args: ["--market=on"],
  });
  assert.ok(server.requests.every(({ method }) => method === "GET"));
});

const OPTIPOD = "/apis/optipod.io/v1alpha1";

function named(...names: string[]): unknown {
  const items = names.map((name) => ({
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
    spec: { template: { spec: { containers: [] } } },
    workloads: [],
  }));
  return { items, metadata: { resourceVersion: "9" } };
}

const REPORTS: Readonly<Record<string, unknown>> = {
  [`${OPTIPOD}/namespaces/shop/recommendationreports`]: named("recommendations-1"),
  [`${OPTIPOD}/optimizationpolicies`]: named("all"),
  "/apis/apps/v1/namespaces/shop/deployments": named("web"),
  "/apis/apps/v1/namespaces/shop/statefulsets": named("db"),
  "/apis/apps/v1/namespaces/shop/daemonsets": named(),
  "/apis/apps/v1/deployments": named("web"),
};

Deno.test("createRecommendationReader() reads reports, policies and templates of all kinds", async () => {
  await using server = serveCanned(({ path }) =>
    REPORTS[path] ?? statusAnswer(403, { reason: "Forbidden" })
  );
  const ending = new AbortController();
  const reader = createRecommendationReader(server.connection, { signal: ending.signal });
  assert.deepEqual((await reader.reports("shop"))[0]?.workloads, []);
  assert.equal((await reader.policies())[0]?.metadata.name, "all");
  const templates = await reader.templates("shop");
  assert.deepEqual(templates.map(({ kind, metadata: { name } }) => `${kind}/${name}`), [
    "Deployment/web",
    "StatefulSet/db",
  ]);
  await assert.rejects(reader.reports(), ApiError);
  // One kind that may not be read is enough.
  await assert.rejects(reader.templates(), ApiError);
  assert.ok(server.requests.every(({ method }) => method === "GET"), "nothing is written");
  ending.abort();
  await assert.rejects(reader.reports("shop"));
});

Deno.test("SYSTEM_NAMESPACE is that of the manifests, or the variable's", async () => {
  const namespaceOf = async (value: string): Promise<unknown> => {
    Deno.env.set("COALLOC_SYSTEM_NAMESPACE", value);
    try {
      return await import(`./system_namespace.ts?${value}`);
    } finally {
      Deno.env.delete("COALLOC_SYSTEM_NAMESPACE");
    }
  };
  assert.equal(Reflect.get(Object(await namespaceOf("")), "SYSTEM_NAMESPACE"), "mbcas-system");
  assert.equal(Reflect.get(Object(await namespaceOf("other")), "SYSTEM_NAMESPACE"), "other");
});
