import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import {
  serveCanned,
  statusAnswer,
  userKubeconfig,
} from "../../../tests/fixtures/canned_server.ts";
import { withUser } from "../../../tests/fixtures/kube_connections.ts";
import { createKubeCluster } from "./kube_cluster.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { parseNetworkPolicy } from "./network_policies.ts";
import type { Snapshot } from "./snapshot.ts";

const DATE = "Thu, 01 Jan 2026 00:00:00 GMT";
const identity = (name: string, more = {}) => ({ name, uid: "u", resourceVersion: "1", ...more });
const list = (...items: readonly unknown[]) => ({ items, metadata: { resourceVersion: "9" } });
const endpoints = (address: string, port: number, ready = true) =>
  list({ endpoints: [{ addresses: [address], conditions: { ready } }], ports: [{ port }] });
const SYSTEM = "/namespaces/mbcas-system";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PRIORITIES = "/debug/api_priority_and_fairness/dump_priority_levels";
const labels = { "app.kubernetes.io/version": "0.1.0" };
const READY = [{ type: "Ready", status: "True" }];
const unreadyPod = {
  metadata: identity("mbcas-agent-x", { namespace: "mbcas-system" }),
  spec: { containers: [] },
  status: { phase: "Pending", conditions: [] },
};

const NONE = { value: [] };
const KUBELET = {
  ...{ cgroupDriver: "systemd", cpuManagerPolicy: "none", cpuCFSQuota: true },
  clusterDNS: ["10.0.0.10"],
};

/** Answers by path; a path that is not here is not found. */
const ANSWERS: Readonly<Record<string, () => unknown>> = {
  "/version": () => Response.json({ gitVersion: "v1.36.3" }, { headers: { date: DATE } }),
  "/api/v1/nodes": () =>
    list({
      metadata: identity("node-1"),
      spec: {},
      status: { conditions: READY, nodeInfo: { kubeletVersion: "v1.36.3" } },
    }),
  "/api/v1/nodes/node-1/proxy/configz": () => ({ kubeletconfig: KUBELET }),
  "/api/v1/nodes/node-1/proxy/metrics": () =>
    new Response("# HELP kubelet_cgroup_version x\nkubelet_cgroup_version 2\n"),
  [`/api/v1${SYSTEM}/pods`]: () => list(unreadyPod),
  [`/api/v1${SYSTEM}/pods/mbcas-agent-x/log`]: () => new Response("started\nx: dns error: y\n"),
  [`/apis/apps/v1${SYSTEM}/daemonsets/mbcas-agent`]: () => ({
    spec: { template: { metadata: { labels } } },
    status: { desiredNumberScheduled: 2, numberReady: 1 },
  }),
  [`/apis/apps/v1${SYSTEM}/deployments/mbcas-controller`]: () => ({
    spec: { replicas: 2, template: {} },
    status: {},
  }),
  [`/apis/coordination.k8s.io/v1${SYSTEM}/leases`]: () =>
    list({
      metadata: identity("mbcas-agent-node-1", {
        managedFields: [{ time: "2025-12-31T00:00:00Z" }, { time: "2026-01-01T00:00:00Z" }],
      }),
      spec: { renewTime: "2026-01-01T00:00:07.000000Z" },
    }),
  "/api/v1/namespaces/kube-system/services/kube-dns": () => ({
    spec: { clusterIPs: ["10.0.0.10"] },
  }),
  "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices": () =>
    endpoints("10.1.0.2", 53, false),
  "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": () =>
    endpoints("192.168.0.1", 6443),
  [`${CRDS}/podallocations.allocation.mbcas.io`]: () => ({ metadata: { labels } }),
  [PRIORITIES]: () =>
    new Response(
      "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, " +
        "DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests\n" +
        "workload-low, 0, true, false, 0, 0, 120, 3, 1, 0\n" +
        "global-default, 0, true, false, 0, 0, 500, 0, 0, 0\n",
    ),
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mbcas-webhook": () => ({
    metadata: identity("mbcas-webhook"),
    webhooks: [{ name: "pods.mbcas.io", clientConfig: { caBundle: btoa("-----BEGIN nothing") } }],
  }),
};

interface Reading {
  /** The right that is missing, by the path that needs it. */
  readonly forbidden?: Readonly<Record<string, string>>;
  /** Takes the path and query of each request. */
  readonly requested?: (request: string) => void;
  /** More answers by path, or others. */
  readonly answers?: typeof ANSWERS;
}

async function read(
  { forbidden = {}, requested = () => {}, answers = {} }: Reading = {},
): Promise<Snapshot> {
  await using server = serveCanned(({ path, query }) => {
    requested(`${path} ${query.labelSelector ?? ""}`);
    const right = forbidden[path];
    if (right !== undefined) {
      const message = `x is forbidden: User "a" cannot ${right} in API group ""`;
      return statusAnswer(403, { message });
    }
    return (answers[path] ?? ANSWERS[path])?.() ??
      statusAnswer(404, { reason: "NotFound", message: "not found" });
  });
  const clock = { ...createVirtualClock({ wallStart: 0 }), sleep: () => Promise.resolve() };
  const { signal } = new AbortController();
  return await withUser(
    userKubeconfig(server.url),
    (user) => createKubeCluster(user, { clock, signal }).diagnosis.snapshot(),
  );
}

Deno.test("snapshot() reads each part, and what is not there as empty", async () => {
  const { nodes, leases, unready, webhook, ...rest } = await read();
  const recent = { refused: 0, seconds: 3 };
  assert.deepEqual(rest, {
    server: { value: { version: "v1.36.3", atMs: Date.parse(DATE) } },
    kubelets: { value: [{ node: "node-1", ...KUBELET, cgroupVersion: 2 }] },
    ...{ pods: { unread: "not found" }, autoscalers: { unread: "not found" } },
    ...{ namespaces: NONE, allocations: NONE, reports: NONE, verticalAutoscalers: NONE },
    ...{ agents: NONE, controllerMetrics: NONE, policies: NONE, unknownFields: NONE },
    settings: { value: "" },
    programs: {
      value: [
        { name: "mbcas-controller", wanted: 2, ready: 0, podLabels: {} },
        { name: "mbcas-agent", wanted: 2, ready: 1, podLabels: labels },
      ],
    },
    apiAddresses: { value: [{ address: "192.168.0.1", port: 6443 }] },
    dns: { value: { addresses: ["10.0.0.10"], ready: 0 } },
    definitions: {
      value: [
        { name: "podallocations.allocation.mbcas.io", exists: true, version: "0.1.0" },
        { name: "optimizationpolicies.optipod.io", exists: false },
        { name: "recommendationreports.optipod.io", exists: false },
      ],
    },
    priorityLevels: {
      value: [
        { name: "workload-low", dispatched: 120, rejected: 3, timedOut: 1, recent },
        { name: "global-default", dispatched: 500, rejected: 0, timedOut: 0, recent },
      ],
    },
  });
  assert("value" in nodes && "value" in leases && "value" in unready && "value" in webhook);
  assert.deepEqual(nodes.value.map(({ kubeletVersion }) => kubeletVersion), ["v1.36.3"]);
  const [lease] = leases.value;
  assert.equal((lease?.renewTimeMs ?? 0) - (lease?.writtenAtMs ?? 0), 7000);
  assert.deepEqual(unready.value[0]?.dnsError, "x: dns error: y");
  assert.match(webhook.value?.bundles[0]?.problem ?? "", /certificates/);
});

Deno.test("snapshot() names the right that a part lacks", async () => {
  const { nodes, kubelets, server } = await read({
    forbidden: { "/api/v1/nodes": 'list resource "nodes"' },
  });
  for (const one of [nodes, kubelets]) {
    assert.match("unread" in one ? one.unread : "", / list nodes /);
  }
  assert("value" in server);
});

Deno.test("snapshot() asks for nothing twice but rejections that the server has counted", async () => {
  const requests: string[] = [];
  await read({ requested: (request) => requests.push(request) });
  const twice = requests.filter((one, index) => requests.indexOf(one) !== index);
  assert.deepEqual(twice.filter((one) => /version|mbcas-controller$|priority/.test(one)), [
    `${PRIORITIES} `,
  ]);
});

Deno.test("snapshot() goes on where kubelets may not be asked, with the right that is missing", async () => {
  const { kubelets, nodes } = await read({
    forbidden: { "/api/v1/nodes/node-1/proxy/configz": 'get resource "nodes/proxy"' },
  });
  assert("value" in kubelets && "value" in nodes);
  const [{ missingRight, ...kubelet } = { missingRight: "" }, ...others] = kubelets.value;
  assert.match(missingRight ?? "", / get nodes\/proxy /);
  assert.deepEqual([kubelet, others], [{ node: "node-1", clusterDNS: [] }, []]);
});

Deno.test("snapshot() has a program's pod that is not ready where its node gives no log", async () => {
  const path = `/api/v1${SYSTEM}/pods/mbcas-agent-x/log`;
  const down = () => statusAnswer(500, { message: "dial tcp 10.0.0.9:10250: i/o timeout" });
  const { unready } = await read({ answers: { [path]: down } });
  assert("value" in unready, JSON.stringify(unready));
  assert.deepEqual(new Set(unready.value.map(({ dnsError }) => dnsError)), new Set([undefined]));
  const right = 'get resource "pods/log"';
  assert("unread" in (await read({ forbidden: { [path]: right } })).unready);
});

Deno.test("snapshot() goes on beside an object that it can't parse", async () => {
  const path = `/apis/networking.k8s.io/v1${SYSTEM}/networkpolicies`;
  const { policies, nodes } = await read({
    answers: { [path]: () => list({ metadata: identity("a") }) },
  });
  assert("unread" in policies && "value" in nodes);
});

Deno.test("snapshot() takes another server's counts for no rejections, and waits for no other level", async () => {
  const levels = (...rows: readonly string[]) => new Response(["head", ...rows].join("\n"));
  const low = (counts: string): string => `workload-low, 0, true, false, 0, 0, ${counts}, 0`;
  const other = (counts: string): string => `global-default, 0, true, false, 0, 0, ${counts}, 0`;
  const answersOf = (...all: Response[]) => ({ [PRIORITIES]: () => all.shift() });
  const fewer = answersOf(
    levels(low("120, 3, 1"), other("500, 0, 0")),
    levels(low("900, 700, 1"), other("100, 0, 0")),
  );
  const { priorityLevels } = await read({ answers: fewer });
  assert("value" in priorityLevels);
  assert.deepEqual(priorityLevels.value.map(({ recent }) => recent), [undefined, undefined]);
  // There is one answer.
  const once = await read({ answers: answersOf(levels(low("1, 0, 0"), other("9, 9, 9"))) });
  assert("value" in once.priorityLevels);
  assert.deepEqual(once.priorityLevels.value.map(({ recent }) => recent), [undefined, undefined]);
});

Deno.test("snapshot() asks more than a few nodes at a time", async () => {
  const names = Array.from({ length: 40 }, (_, index) => `node-${index}`);
  const nodes = list(...names.map((name) => ({
    metadata: identity(name),
    spec: {},
    status: { conditions: READY, nodeInfo: { kubeletVersion: "v1.36.3" } },
  })));
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  // None answers before 20 are asked.
  const answer = async (): Promise<unknown> => {
    if (++asked === 20) resolve();
    await promise;
    return { kubeletconfig: {} };
  };
  const proxies = names.flatMap((name) => [
    [`/api/v1/nodes/${name}/proxy/configz`, answer] as const,
    [`/api/v1/nodes/${name}/proxy/metrics`, () => new Response("")] as const,
  ]);
  const { kubelets } = await read({
    answers: { "/api/v1/nodes": () => nodes, ...Object.fromEntries(proxies) },
  });
  assert("value" in kubelets && kubelets.value.length === 40);
  assert(kubelets.value.every(({ problem }) => problem === undefined));
});

pure("parseNetworkPolicy() reads the directions that it restricts, with peers and ports", () => {
  const spec = {
    podSelector: { matchLabels: { app: "web" } },
    policyTypes: ["Ingress", "Egress"],
    egress: [
      { to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }, { podSelector: {} }] },
      { to: [{ namespaceSelector: {} }], ports: [{ port: 53, protocol: "UDP" }, { port: "dns" }] },
    ],
  };
  const all = { matchLabels: {}, matchExpressions: [] };
  assert.deepEqual(parseNetworkPolicy({ metadata: identity("a", { namespace: "shop" }), spec }), {
    metadata: identity("a", { namespace: "shop" }),
    pods: { matchLabels: { app: "web" }, matchExpressions: [] },
    ingress: [],
    egress: [
      { peers: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }, {}], ports: [] },
      {
        peers: [{ namespaces: all }],
        ports: [{ protocol: "UDP", port: 53 }, { protocol: "TCP", port: "dns" }],
      },
    ],
  });
  const ingressOnly = parseNetworkPolicy({
    metadata: identity("a", { namespace: "shop" }),
    spec: { podSelector: {}, policyTypes: ["Ingress"] },
  });
  assert.deepEqual([ingressOnly.ingress, "egress" in ingressOnly], [[], false]);
});
