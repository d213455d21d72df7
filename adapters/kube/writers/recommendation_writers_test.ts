import assert from "node:assert/strict";
import { publishedVPA } from "../../../shared/rightsizing/published_vpa.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import {
  recommendation,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { parseVerticalPodAutoscaler } from "../kinds/autoscalers.ts";
import { parseOptimizationPolicy } from "../kinds/optimization_policies.ts";
import {
  createPolicyStatusWriter,
  createReportStore,
  createVPAPublisher,
} from "./recommendation_writers.ts";

const GOLDEN = JSON.parse(
  Deno.readTextFileSync(
    new URL("../../../tests/fixtures/optipod/stored/report.json", import.meta.url),
  ),
);
const COLLECTION = "/apis/optipod.io/v1alpha1/namespaces/shop/recommendationreports";
const OBJECT = `${COLLECTION}/recommendations-1`;

Deno.test("createReportStore() makes a report, and applies the whole of it over the version that it replaces", async () => {
  await using server = serveCanned(() => GOLDEN);
  const store = createReportStore(server.connection);
  const { workloads } = GOLDEN;
  const report = { namespace: "shop", name: "recommendations-1", workloads };
  assert.deepEqual(await store.apply(report), GOLDEN);
  await store.apply({ ...report, resourceVersion: "4712" });
  const [made, replaced] = server.requests;
  assert.deepEqual([made?.method, made?.path, made?.query], ["POST", COLLECTION, {
    fieldManager: "mbcas-controller",
  }]);
  assert.deepEqual([replaced?.method, replaced?.path, replaced?.query], ["PATCH", OBJECT, {
    fieldManager: "mbcas-controller",
    force: "true",
  }]);
  assert.equal(replaced?.headers.get("content-type"), "application/apply-patch+yaml");
  const { name, namespace, labels } = GOLDEN.metadata;
  const { apiVersion, kind } = GOLDEN;
  assert.deepEqual(made?.body, {
    apiVersion,
    kind,
    metadata: { namespace, name, labels },
    workloads,
  });
  assert.deepEqual(replaced?.body, {
    apiVersion,
    kind,
    metadata: { namespace, name, labels, resourceVersion: "4712" },
    workloads,
  });
});

Deno.test("createReportStore() lists what there is in a namespace now", async () => {
  await using server = serveCanned(() => ({ items: [GOLDEN] }));
  assert.deepEqual(await createReportStore(server.connection).list("shop"), [GOLDEN]);
  assert.deepEqual([server.requests[0]?.method, server.requests[0]?.path], ["GET", COLLECTION]);
});

Deno.test("createReportStore() deletes by UID and version, and passes refusals on", async () => {
  let refuse = false;
  await using server = serveCanned(() => refuse ? statusAnswer(403, { reason: "Forbidden" }) : {});
  const store = createReportStore(server.connection);
  await store.remove(GOLDEN);
  const [removed] = server.requests;
  assert.deepEqual([removed?.method, removed?.path], ["DELETE", OBJECT]);
  assert.partialDeepStrictEqual(removed?.body, {
    preconditions: {
      uid: GOLDEN.metadata.uid,
      resourceVersion: GOLDEN.metadata.resourceVersion,
    },
  });
  refuse = true;
  const report = { namespace: "shop", name: "recommendations-1", workloads: [] };
  await assert.rejects(store.remove(GOLDEN), { status: 403 });
  await assert.rejects(store.apply(report), { status: 403 });
});

const { workload } = rightsizingFacts();
const VPA = publishedVPA(workload, [recommendation()]);
const VPAS = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers";
const PATH = `${VPAS}/optipod-deployment-web`;
const IDENTITY = { namespace: "shop", name: "optipod-deployment-web", uid: "uid-vpa" };

Deno.test("create() creates the object without a status, and returns its UID", async () => {
  const stored = { metadata: { ...IDENTITY, resourceVersion: "7" } };
  await using server = serveCanned(() => stored);
  assert.equal(await createVPAPublisher(server.connection).create(VPA), "uid-vpa");
  const { status: _status, ...body } = VPA;
  assert.deepEqual(
    server.requests.map(({ method, path, query, body: sent }) => [method, path, query, sent]),
    [["POST", VPAS, { fieldManager: "optipod" }, body]],
  );
  // The reader recognizes it as published, until its mode is changed.
  const metadata = { ...stored.metadata, ...VPA.metadata };
  assert.equal(parseVerticalPodAutoscaler({ ...body, metadata }).published, true);
  const spec = { ...VPA.spec, updatePolicy: { updateMode: "Auto" } };
  assert.equal(parseVerticalPodAutoscaler({ ...body, metadata, spec }).published, undefined);
});

Deno.test("recommend() applies the status of this one object, and takes nothing by force", async () => {
  await using server = serveCanned(() => ({}));
  await createVPAPublisher(server.connection).recommend(VPA, "uid-vpa");
  const [request] = server.requests;
  const { apiVersion, kind, status } = VPA;
  assert.deepEqual([request?.method, request?.path, request?.query, request?.body], [
    "PATCH",
    `${PATH}/status`,
    { fieldManager: "optipod" },
    { apiVersion, kind, metadata: IDENTITY, status },
  ]);
  assert.equal(request?.headers.get("content-type"), "application/apply-patch+yaml");
});

Deno.test("remove() deletes this one object alone", async () => {
  await using server = serveCanned(() => ({}));
  await createVPAPublisher(server.connection).remove(IDENTITY);
  assert.deepEqual(server.requests.map(({ method, path, body }) => [method, path, body]), [
    [
      "DELETE",
      PATH,
      { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "uid-vpa" } },
    ],
  ]);
});

Deno.test("createVPAPublisher() throws each error of the server", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status));
  const { create, recommend, remove } = createVPAPublisher(server.connection);
  for (status of [403, 404, 409, 500]) {
    await assert.rejects(create(VPA), { status });
    await assert.rejects(recommend(VPA, "uid-vpa"), { status });
    await assert.rejects(remove(IDENTITY), { status });
  }
});

const POLICY = JSON.parse(
  Deno.readTextFileSync(
    new URL("../../../tests/fixtures/optipod/stored/policy.json", import.meta.url),
  ),
);

Deno.test("createPolicyStatusWriter() sends back the status that was stored, unchanged", async () => {
  await using server = serveCanned(() => ({ metadata: { resourceVersion: "4712" } }));
  const policy = parseOptimizationPolicy(POLICY);
  const writer = createPolicyStatusWriter(server.connection);
  assert.equal(await writer.writeStatus(policy, policy.status), "4712");
  const [sent] = server.requests;
  assert.deepEqual([sent?.method, sent?.path, sent?.query], [
    "PUT",
    "/apis/optipod.io/v1alpha1/namespaces/optipod-policies/optimizationpolicies/production/status",
    { fieldManager: "mbcas-controller" },
  ]);
  const { name, namespace, uid, resourceVersion } = POLICY.metadata;
  assert.deepEqual(sent?.body, {
    apiVersion: POLICY.apiVersion,
    kind: POLICY.kind,
    metadata: { name, namespace, uid, resourceVersion },
    status: POLICY.status,
  });
});

Deno.test("createPolicyStatusWriter() throws a conflict", async () => {
  await using server = serveCanned(() => statusAnswer(409, { reason: "Conflict" }));
  const writer = createPolicyStatusWriter(server.connection);
  await assert.rejects(writer.writeStatus(parseOptimizationPolicy(POLICY), {}), {
    status: 409,
    reason: "Conflict",
  });
});
