import assert from "node:assert/strict";
import { publishedVPA } from "../../shared/actuation/methods/published_vpa.ts";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import { recommendation, rightsizingFacts } from "../../tests/fixtures/rightsizing_facts.ts";
import { createVPAPublisher } from "./vpa_publisher.ts";

const { workload } = rightsizingFacts();
const PATH =
  "/apis/autoscaling.k8s.io/v1/namespaces/shop/verticalpodautoscalers/optipod-deployment-web";

Deno.test("publish() applies the object, then its status, and takes nothing by force", async () => {
  await using server = serveCanned(() => ({}));
  const all = [recommendation()];
  assert.equal(await createVPAPublisher(server.connection).publish(workload, all), true);
  const { apiVersion, kind, metadata, spec, status } = publishedVPA(workload, all);
  const { namespace, name } = metadata;
  assert.deepEqual(server.requests.map(({ method, path, body }) => [method, path, body]), [
    ["PATCH", PATH, { apiVersion, kind, metadata, spec }],
    ["PATCH", `${PATH}/status`, { apiVersion, kind, metadata: { namespace, name }, status }],
  ]);
  for (const { query, headers } of server.requests) {
    assert.deepEqual(query, { fieldManager: "optipod" });
    assert.equal(headers.get("content-type"), "application/apply-patch+yaml");
  }
});

Deno.test("publish() is false where the kind is not served, and tells other refusals", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status));
  const { publish } = createVPAPublisher(server.connection);
  assert.equal(await publish(workload, [recommendation()]), false);
  assert.equal(server.requests.length, 1);
  for (status of [403, 409, 500]) {
    await assert.rejects(publish(workload, [recommendation()]), { status });
  }
});

Deno.test("withdraw() deletes the workload's own one, and minds none that is not there", async () => {
  let answer: unknown = {};
  await using server = serveCanned(() => answer);
  const { withdraw } = createVPAPublisher(server.connection);
  await withdraw(workload);
  answer = statusAnswer(404);
  await withdraw(workload);
  assert.deepEqual(server.requests.map(({ method, path }) => [method, path]), [
    ["DELETE", PATH],
    ["DELETE", PATH],
  ]);
  answer = statusAnswer(403);
  await assert.rejects(withdraw(workload), { status: 403 });
});
