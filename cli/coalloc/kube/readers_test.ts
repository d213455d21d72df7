import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createPlacementReader, createRecommendationReader } from "./readers.ts";

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
  const reader = createPlacementReader(server.connection, { signal });
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
