import assert from "node:assert/strict";
import { publishedVPA } from "../../shared/actuation/methods/published_vpa.ts";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import { recommendation, rightsizingFacts } from "../../tests/fixtures/rightsizing_facts.ts";
import { parseVerticalPodAutoscaler } from "./vertical_pod_autoscalers.ts";
import { createVPAPublisher } from "./vpa_publisher.ts";

const { workload } = rightsizingFacts();
const VPA = publishedVPA(workload, [recommendation()]);
const COLLECTION = "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers";
const PATH = `${COLLECTION}/optipod-deployment-web`;
const IDENTITY = { namespace: "shop", name: "optipod-deployment-web", uid: "uid-vpa" };

Deno.test("create() makes the object and nothing of a status, and tells its UID", async () => {
  const stored = { metadata: { ...IDENTITY, resourceVersion: "7" } };
  await using server = serveCanned(() => stored);
  assert.equal(await createVPAPublisher(server.connection).create(VPA), "uid-vpa");
  const { status: _status, ...body } = VPA;
  assert.deepEqual(
    server.requests.map(({ method, path, query, body: sent }) => [method, path, query, sent]),
    [["POST", COLLECTION, { fieldManager: "optipod" }, body]],
  );
  // What it makes is known again as its own, until somebody switches it on.
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

Deno.test("createVPAPublisher() tells each refusal", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status));
  const { create, recommend, remove } = createVPAPublisher(server.connection);
  for (status of [403, 404, 409, 500]) {
    await assert.rejects(create(VPA), { status });
    await assert.rejects(recommend(VPA, "uid-vpa"), { status });
    await assert.rejects(remove(IDENTITY), { status });
  }
});
