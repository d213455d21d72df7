import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createRecommendationReader } from "./recommendation_reader.ts";

const OPTIPOD = "/apis/optipod.io/v1alpha1";

function list(...names: string[]): unknown {
  const items = names.map((name) => ({
    metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
    spec: { template: { spec: { containers: [] } } },
  }));
  return { items, metadata: { resourceVersion: "9" } };
}

const ANSWERS: Readonly<Record<string, unknown>> = {
  [`${OPTIPOD}/namespaces/shop/recommendationreports`]: list("recommendations-1"),
  [`${OPTIPOD}/optimizationpolicies`]: list("all"),
  "/apis/apps/v1/namespaces/shop/deployments": list("web"),
  "/apis/apps/v1/namespaces/shop/statefulsets": list("db"),
  "/apis/apps/v1/namespaces/shop/daemonsets": list(),
  "/apis/apps/v1/deployments": list("web"),
};

Deno.test("createRecommendationReader() reads reports, policies and templates of all kinds", async () => {
  await using server = serveCanned(({ path }) =>
    ANSWERS[path] ?? statusAnswer(403, { reason: "Forbidden" })
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
