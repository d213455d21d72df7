/** Evictions and deletion costs as they are sent, and what is made of the answers. */
import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { createDeletionCostWriter, createPodEvictor } from "./pod_writers.ts";

const POD = { namespace: "shop", name: "web-1", uid: "u1" };

function refusal(code: number, more: object = {}): Response {
  const body = { kind: "Status", code, message: "no", ...more };
  return Response.json(body, { status: code });
}

Deno.test("createPodEvictor() evicts this pod and no other of its name", async () => {
  await using server = serveCanned(() => ({ kind: "Status", status: "Success" }));
  assert.deepEqual(await createPodEvictor(server.connection).evict(POD), { is: "evicted" });
  const [request] = server.requests;
  assert.equal(request?.method, "POST");
  assert.equal(request?.path, "/api/v1/namespaces/shop/pods/web-1/eviction");
  assert.deepEqual(request?.body, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { namespace: "shop", name: "web-1" },
    deleteOptions: { preconditions: { uid: "u1" } },
  });
});

Deno.test("createPodEvictor() reports a budget as blocked, and throws the server's rate limit", async () => {
  let answer = refusal(404);
  await using server = serveCanned(() => answer);
  const evict = () => createPodEvictor(server.connection).evict(POD);
  assert.deepEqual(await evict(), { is: "gone" });
  answer = refusal(409);
  assert.deepEqual(await evict(), { is: "gone" });
  answer = refusal(403);
  assert.deepEqual(await evict(), { is: "forbidden", message: "no" });
  answer = refusal(429, { details: { causes: [{ reason: "DisruptionBudget" }] } });
  assert.deepEqual(await evict(), { is: "blocked", message: "no" });
  const several = "This pod has more than one PodDisruptionBudget, which the eviction " +
    "subresource does not support.";
  answer = refusal(500, { message: several });
  assert.deepEqual(await evict(), { is: "blocked", message: several });
  for (const [code, more] of [[429, {}], [500, {}], [503, {}]] as const) {
    answer = refusal(code, more);
    await assert.rejects(evict, (error) => error instanceof ApiError && error.status === code);
  }
});

Deno.test("createDeletionCostWriter() writes the annotation of this pod alone", async () => {
  let answer = Response.json({});
  await using server = serveCanned(() => answer);
  const writer = createDeletionCostWriter(server.connection);
  assert.equal(await writer.write(POD, -3), true);
  const [request] = server.requests;
  assert.equal(request?.method, "PATCH");
  assert.equal(request?.path, "/api/v1/namespaces/shop/pods/web-1");
  assert.equal(request?.headers.get("content-type"), "application/merge-patch+json");
  assert.deepEqual(request?.body, {
    metadata: {
      uid: "u1",
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-3" },
    },
  });
  for (const code of [404, 409]) {
    answer = refusal(code);
    assert.equal(await writer.write(POD, -3), false);
  }
  answer = refusal(403);
  await assert.rejects(() => writer.write(POD, -3), ApiError);
});
