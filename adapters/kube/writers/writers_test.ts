/** Requests of each writer; the contract suites test what a real server makes of them. */
import assert from "node:assert/strict";
import { newAllocation } from "../../../controller/allocation/bounds/publish_bounds.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { ApiError } from "../../../shared/api/api_error.ts";
import type { Desired } from "../../../shared/api/pod_allocation.ts";
import { silentLog } from "../../../shared/log.ts";
import { publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import { sampleDesired, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import {
  type ReceivedRequest,
  type SentRequest,
  sentRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import {
  recommendation,
  rightsizingSnapshot,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import type { KubeConnection } from "../client/connection.ts";
import { parseVerticalPodAutoscaler } from "../kinds/autoscalers.ts";
import { parseOptimizationPolicy } from "../kinds/optimization_policies.ts";
import { createAllocationStore, createDesiredWriter } from "./allocation_writers.ts";
import { createCheckpointStore } from "./checkpoint_store.ts";
import { createLeaseStore, createNodeLink } from "./lease_writers.ts";
import { createDeletionCostWriter, createPodEvictor, createPodResizer } from "./pod_writers.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
  createVPAPublisher,
} from "./recommendation_writers.ts";
import { createSecretStore, createTrustStore } from "./webhook_stores.ts";
import { createWorkloadWriter } from "./workload_writer.ts";

const NEVER = new AbortController().signal;
const POD = { namespace: "shop", name: "web", uid: "u1" };
const WORKLOAD = {
  kind: "StatefulSet" as const,
  metadata: { ...POD, resourceVersion: "7", annotations: {} },
};
const MANAGED = { annotations: { "optipod.io/managed": "true", "optipod.io/policy": null } };
const NEW = newAllocation({
  pod: { ...samplePod("web"), metadata: { ...samplePod("web").metadata, uid: "u1" } },
});
const { apiVersion, kind, spec, metadata: { uid: _uid, resourceVersion: _version, ...created } } =
  NEW;
const { labels: _labels, ...kept } = created;
const STORED = { apiVersion, kind, spec, metadata: { ...kept, uid: "u2", resourceVersion: "7" } };
const { price: _price, ...infinite } = sampleDesired("350m").market ?? assert.fail();

function stored(name: "report" | "policy") {
  return JSON.parse(Deno.readTextFileSync(`tests/fixtures/optipod/stored/${name}.json`));
}
const [REPORT, POLICY] = [stored("report"), stored("policy")];
const { workloads, metadata: reported } = REPORT;
const ANEW = { namespace: "shop", name: "recommendations-1", workloads };
const VPA = publishedVPA(rightsizingSnapshot().workload, [recommendation()]);
const VPA_IDENTITY = { namespace: "shop", name: "optipod-deployment-web", uid: "uid-vpa" };
const { status: vpaStatus, ...vpaBody } = VPA;

const core = "/api/v1/namespaces/shop/pods/web";
const own = "/apis/allocation.mbcas.io/v1alpha1/namespaces/shop/podallocations";
const optipod = "/apis/optipod.io/v1alpha1/namespaces";
const reports = `${optipod}/shop/recommendationreports`;
const vpas = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers";
const maps = "/api/v1/namespaces/mbcas-system/configmaps";
const BY_CONTROLLER = { fieldManager: "mbcas-controller" };
const BY_AGENT = { fieldManager: "mbcas-agent" };
const BY_OPTIPOD = { fieldManager: "optipod" };
const AUDIT = { auditID: "id-1" };
const COST = "controller.kubernetes.io/pod-deletion-cost";

const checkpoints = (connection: KubeConnection) =>
  createCheckpointStore(connection, {
    namespace: "mbcas-system",
    label: "optipod.io/usage",
    manager: "optipod",
  });
const deletes = (preconditions: object) => ({
  kind: "DeleteOptions",
  apiVersion: "v1",
  preconditions,
});
const reportBody = (metadata: object) => ({
  apiVersion: REPORT.apiVersion,
  kind: REPORT.kind,
  metadata: { namespace: "shop", name: ANEW.name, labels: reported.labels, ...metadata },
  workloads,
});

const WEBHOOK = { namespace: "mbcas-system", name: "mbcas-webhook" };
const SECRET = { ...WEBHOOK, labels: { app: "webhook" } };
const STORED_SECRET = {
  ...{ apiVersion: "v1", kind: "Secret", type: "kubernetes.io/tls" },
  metadata: { ...WEBHOOK, uid: "u", resourceVersion: "4", labels: { team: "a" } },
  data: { "tls.crt": btoa("CERT"), latin: btoa("\xff") },
};
const BUNDLES = {
  resourceVersion: "9",
  bundles: [["pods.mbcas.io", "OLD"], ["other.mbcas.io", ""]],
} as const;
const secrets = "/api/v1/namespaces/mbcas-system/secrets";
const CONFIGURATION =
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mbcas-webhook";

/** A call and the request that it sends. */
interface Write extends SentRequest {
  readonly call: (connection: KubeConnection) => Promise<unknown>;
  /** The server's answer. @default {{}} */
  readonly answer?: unknown;
  readonly result?: unknown;
  /** Results of statuses that are no error. */
  readonly outcomes?: Readonly<Record<number, unknown>>;
}

/** A write of desired limits, and what is sent of them. */
const desired = (limits: Desired, spec: object = limits): Write => ({
  call: (c) => createDesiredWriter(c).writeDesired({ ...created, uid: "u2" }, limits),
  ...{ answer: STORED, result: "7", to: `PATCH ${own}/${created.name}`, query: BY_AGENT },
  ...{ body: { metadata: { uid: "u2" }, spec }, type: "merge" },
});

const WRITES: Readonly<Record<string, Write>> = {
  "a resize, under the resizer's own name": {
    call: (c) =>
      createPodResizer(c).resize("shop", "web", { metadata: { uid: "u1" }, spec: {} }, AUDIT),
    ...{ answer: STORED, result: "7", ...AUDIT },
    ...{ to: `PATCH ${core}/resize`, query: { fieldManager: "mbcas" }, type: "strategic" },
    body: { metadata: { uid: "u1" }, spec: {} },
  },
  "an eviction of this pod": {
    call: (c) => createPodEvictor(c).evict(POD, AUDIT),
    ...{ result: { is: "evicted" }, ...AUDIT, to: `POST ${core}/eviction` },
    body: {
      ...{ apiVersion: "policy/v1", kind: "Eviction" },
      metadata: { namespace: "shop", name: "web" },
      deleteOptions: { preconditions: { uid: "u1" } },
    },
    outcomes: { 403: { is: "forbidden", message: "no" }, 404: { is: "gone" }, 409: { is: "gone" } },
  },
  "a deletion cost of this pod": {
    call: (c) => createDeletionCostWriter(c).write(POD, -3),
    ...{ result: true, to: `PATCH ${core}`, type: "merge" },
    body: { metadata: { uid: "u1", annotations: { [COST]: "-3" } } },
    outcomes: { 404: false, 409: false },
  },
  "annotations of this workload": {
    call: (c) =>
      createWorkloadWriter(c, { log: silentLog }).annotate(WORKLOAD, { metadata: MANAGED }),
    ...{ to: "PATCH /apis/apps/v1/namespaces/shop/statefulsets/web", query: BY_OPTIPOD },
    ...{ body: { metadata: { uid: "u1", ...MANAGED } }, type: "merge" },
  },
  "an allocation, without identity and status": {
    call: (c) => createAllocationStore(c).create({ ...NEW, status: { phase: "Pending" } }),
    ...{ answer: STORED, result: STORED, to: `POST ${own}`, query: BY_CONTROLLER },
    body: { apiVersion, kind, metadata: created, spec },
  },
  "an allocation's status": {
    call: (c) => createAllocationStore(c).writeStatus(STORED),
    ...{ answer: STORED, result: STORED, body: STORED },
    ...{ to: `PUT ${own}/${created.name}/status`, query: BY_CONTROLLER },
  },
  "the end of this allocation": {
    call: (c) => createAllocationStore(c).remove(STORED),
    ...{ to: `DELETE ${own}/${created.name}`, body: deletes({ uid: "u2" }) },
  },
  "desired limits": desired(sampleDesired("350m")),
  "desired limits without a clearing": desired({ desiredCPULimit: "1" }),
  "a price that became infinite": desired({ market: infinite }, {
    market: { ...infinite, price: null },
  }),
  "a new report": {
    call: (c) => createReportStore(c).apply(ANEW),
    ...{ answer: REPORT, result: REPORT, to: `POST ${reports}` },
    ...{ query: BY_CONTROLLER, body: reportBody({}) },
  },
  "a report over the version that it replaces": {
    call: (c) => createReportStore(c).apply({ ...ANEW, resourceVersion: "4712" }),
    ...{ answer: REPORT, result: REPORT, to: `PATCH ${reports}/recommendations-1`, type: "apply" },
    query: { ...BY_CONTROLLER, force: "true" },
    body: reportBody({ resourceVersion: "4712" }),
  },
  "the reports of a namespace": {
    call: (c) => createReportStore(c).list("shop"),
    ...{ answer: { items: [REPORT] }, result: [REPORT], to: `GET ${reports}` },
  },
  "the end of this version of a report": {
    call: (c) => createReportStore(c).remove(REPORT),
    to: `DELETE ${reports}/recommendations-1`,
    body: deletes({ uid: reported.uid, resourceVersion: reported.resourceVersion }),
  },
  "a VPA without its status": {
    call: (c) => createVPAPublisher(c).create(VPA),
    answer: { metadata: { ...VPA_IDENTITY, resourceVersion: "7" } },
    ...{ result: "uid-vpa", to: `POST ${vpas}`, query: BY_OPTIPOD, body: vpaBody },
  },
  "the status of this VPA, without force": {
    call: (c) => createVPAPublisher(c).recommend(VPA, "uid-vpa"),
    ...{ to: `PATCH ${vpas}/optipod-deployment-web/status`, query: BY_OPTIPOD, type: "apply" },
    body: {
      ...{ apiVersion: VPA.apiVersion, kind: VPA.kind },
      ...{ metadata: VPA_IDENTITY, status: vpaStatus },
    },
  },
  "the end of this VPA": {
    call: (c) => createVPAPublisher(c).remove(VPA_IDENTITY),
    ...{ to: `DELETE ${vpas}/optipod-deployment-web`, body: deletes({ uid: "uid-vpa" }) },
  },
  "a policy's status as it was stored": {
    call(c) {
      const policy = parseOptimizationPolicy(POLICY);
      return createPolicyStatusWriter(c).writeStatus(policy, policy.status);
    },
    ...{ answer: STORED, result: "7", query: BY_CONTROLLER },
    to: `PUT ${optipod}/optipod-policies/optimizationpolicies/production/status`,
    body: {
      ...{ apiVersion: POLICY.apiVersion, kind: POLICY.kind, status: POLICY.status },
      metadata: {
        ...{ namespace: "optipod-policies", name: "production", uid: POLICY.metadata.uid },
        resourceVersion: POLICY.metadata.resourceVersion,
      },
    },
  },
  "the checkpoints with the label": {
    call: (c) => checkpoints(c).list(NEVER),
    answer: { items: [{ metadata: { name: "a" }, data: { key: "text" } }] },
    result: [{ name: "a", data: { key: "text" } }],
    ...{ to: `GET ${maps}`, query: { labelSelector: "optipod.io/usage=true" } },
  },
  "a checkpoint": {
    call: (c) => checkpoints(c).apply({ name: "b", data: { other: "1" } }, NEVER),
    ...{ to: `PATCH ${maps}/b`, query: { ...BY_OPTIPOD, force: "true" }, type: "apply" },
    body: {
      ...{ apiVersion: "v1", kind: "ConfigMap", data: { other: "1" } },
      metadata: { namespace: "mbcas-system", name: "b", labels: { "optipod.io/usage": "true" } },
    },
  },
  "the end of a checkpoint": {
    call: (c) => checkpoints(c).remove("a", NEVER),
    ...{ to: `DELETE ${maps}/a`, outcomes: { 404: undefined } },
  },
  "a new Secret with its labels": {
    call: (c) => createSecretStore(c, SECRET).create({ "tls.crt": "größer" }),
    to: `POST ${secrets}`,
    body: {
      ...{ apiVersion: "v1", kind: "Secret", metadata: SECRET, type: "Opaque" },
      data: { "tls.crt": "Z3LDtsOfZXI=" },
    },
  },
  "a Secret over the version that it replaces": {
    call: (c) => createSecretStore(c, SECRET).replace({ resourceVersion: "3", data: {} }, {}),
    to: `PUT ${secrets}/mbcas-webhook`,
    body: { metadata: { ...WEBHOOK, resourceVersion: "3" }, data: {} },
  },
  "the Secret": {
    call: (c) => createSecretStore(c, SECRET).read(),
    answer: STORED_SECRET,
    result: { resourceVersion: "4", data: { "tls.crt": "CERT", latin: "\ufffd" } },
    ...{ to: `GET ${secrets}/mbcas-webhook`, outcomes: { 404: undefined } },
  },
  "the bundles of webhooks": {
    call: (c) => createTrustStore(c, WEBHOOK).read(),
    answer: {
      metadata: { name: "mbcas-webhook", uid: "u", resourceVersion: "9" },
      webhooks: [
        { name: "pods.mbcas.io", clientConfig: { caBundle: btoa("OLD"), service: {} } },
        { name: "other.mbcas.io", clientConfig: {} },
      ],
    },
    ...{ result: BUNDLES, to: `GET ${CONFIGURATION}`, outcomes: { 404: undefined } },
  },
  "bundles of the version that it has read, and nothing else": {
    call: (c) => createTrustStore(c, WEBHOOK).write(BUNDLES, "NEW"),
    ...{ to: `PATCH ${CONFIGURATION}`, query: { fieldManager: "mbcas-webhook" }, type: "json" },
    body: [
      { op: "replace", path: "/metadata/resourceVersion", value: "9" },
      { op: "test", path: "/webhooks/0/name", value: "pods.mbcas.io" },
      { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: btoa("NEW") },
      { op: "test", path: "/webhooks/1/name", value: "other.mbcas.io" },
      { op: "add", path: "/webhooks/1/clientConfig/caBundle", value: btoa("NEW") },
    ],
  },
};

for (const [what, write] of Object.entries(WRITES)) {
  const { call, answer = {}, result, outcomes: _outcomes, ...sent } = write;
  Deno.test(`writers send ${what}`, async () => {
    await using server = serveCanned(() => answer);
    assert.deepEqual(await call(server.connection), result);
    assert.deepEqual(server.requests.map(sentRequest), [sent]);
  });
}

Deno.test("writers take expected refusals for outcomes, and throw all others", async () => {
  for (const [what, { call, outcomes = {} }] of Object.entries(WRITES)) {
    for (const status of [403, 404, 409, 422, 429, 500, 503]) {
      await using server = serveCanned(() => statusAnswer(status, { message: "no" }));
      const answer = call(server.connection);
      if (status in outcomes) assert.deepEqual(await answer, outcomes[status], what);
      else await assert.rejects(answer, { name: "ApiError", status }, what);
    }
  }
});

Deno.test("createPodEvictor() is blocked by a budget, and by several", async () => {
  const message = "This pod has more than one PodDisruptionBudget, which the eviction " +
    "subresource does not support.";
  const details = { causes: [{ reason: "DisruptionBudget" }] };
  for (const [code, status] of [[429, { message, details }], [500, { message }]] as const) {
    await using server = serveCanned(() => statusAnswer(code, status));
    const answer = await createPodEvictor(server.connection).evict(POD);
    assert.deepEqual(answer, { is: "blocked", message });
  }
});

Deno.test("createVPAPublisher() writes what the reader takes for published, until its mode changes", () => {
  const metadata = { ...VPA_IDENTITY, resourceVersion: "7", ...VPA.metadata };
  assert.equal(parseVerticalPodAutoscaler({ ...vpaBody, metadata }).published, true);
  const spec = { ...VPA.spec, updatePolicy: { updateMode: "Auto" } };
  assert.equal(parseVerticalPodAutoscaler({ ...vpaBody, metadata, spec }).published, undefined);
});

Deno.test("createLeaseStore() finds no Lease where there is none", async () => {
  await using server = serveCanned(() => statusAnswer(404));
  const store = createLeaseStore(server.connection, { namespace: "n", name: "leader" });
  assert.equal(await store.read(), undefined);
});

Deno.test("createNodeLink() renews the Lease, and makes it when it is not there", async () => {
  let known = false;
  await using server = serveCanned(({ method }: ReceivedRequest) => {
    if (method === "GET") return { metadata: { name: "node-1", uid: "n1", resourceVersion: "3" } };
    if (method === "PATCH" && !known) return statusAnswer(404);
    known = true;
    return {};
  });
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const options = { nodeName: "node-1", clock, durationSeconds: 60 };
  const link = createNodeLink(server.connection, options);
  await link.renewLease();
  await link.renewLease();
  const spec = {
    holderIdentity: "node-1",
    leaseDurationSeconds: 60,
    renewTime: "2026-01-01T00:00:00.000000Z",
  };
  const leases = "/apis/coordination.k8s.io/v1/namespaces/mbcas-system/leases";
  const renewal = { to: `PATCH ${leases}/mbcas-agent-node-1`, body: { spec }, type: "merge" };
  assert.deepEqual(server.requests.map(sentRequest), [
    renewal,
    { to: "GET /api/v1/nodes/node-1", query: { resourceVersion: "0" } },
    {
      to: `POST ${leases}`,
      body: {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: {
          namespace: "mbcas-system",
          name: "mbcas-agent-node-1",
          labels: { "app.kubernetes.io/name": "mbcas-agent" },
          ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "n1" }],
        },
        spec,
      },
    },
    renewal,
  ]);
  await using denying = serveCanned(() => statusAnswer(403));
  const denied = createNodeLink(denying.connection, options);
  await assert.rejects(denied.renewLease(), { status: 403 });
  await assert.rejects(denied.node(), { status: 403 });
});

Deno.test("createSecretStore() keeps type and metadata of what it has read in a replacement", async () => {
  await using server = serveCanned(({ method }) => method === "GET" ? STORED_SECRET : {});
  const store = createSecretStore(server.connection, SECRET);
  const seen = await store.read() ?? assert.fail("there is a Secret");
  await store.replace(seen, { "tls.key": "KEY" });
  const body = { ...STORED_SECRET, data: { "tls.key": btoa("KEY") } };
  assert.deepEqual(server.requests[1]?.body, body);
});

Deno.test("createSecretStore() repeats nothing of an answer that can't be read", async () => {
  await using server = serveCanned(() => new Response(`{"data":{"tls.key":c2VjcmV0`));
  const store = createSecretStore(server.connection, SECRET);
  for (const call of [store.read(), store.create({}), store.replace({} as never, {})]) {
    await assert.rejects(call, ({ cause, message }: ApiError) => {
      assert.equal(cause, undefined);
      assert.match(message, /secrets.*: .* not JSON$/);
      return true;
    });
  }
});
