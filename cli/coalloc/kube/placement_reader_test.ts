import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createPlacementReader } from "./placement_reader.ts";

const object = (name: string) => ({
  metadata: { name, namespace: "shop", uid: name, resourceVersion: "1" },
  spec: { template: { spec: { containers: [] } } },
});
const list = (...names: string[]): unknown => ({
  items: names.map(object),
  metadata: { resourceVersion: "9" },
});

const ANSWERS: Readonly<Record<string, unknown>> = {
  "/apis/apps/v1/namespaces/shop/deployments": list("web"),
  "/apis/apps/v1/statefulsets": list("db", "cache"),
  "/apis/apps/v1/namespaces/shop/replicasets": list("web-5f"),
  "/apis/policy/v1/namespaces/shop/poddisruptionbudgets": list("web"),
  "/api/v1/namespaces": list("shop", "far"),
  "/api/v1/namespaces/shop": object("shop"),
  "/api/v1/nodes": list("node-1"),
  "/api/v1/persistentvolumes": list("pv"),
  "/apis/apps/v1/namespaces/mbcas-system/deployments/mbcas-controller": {
    spec: {
      template: {
        spec: {
          containers: [{
            args: ["--market=on"],
            env: [
              { name: "MBCAS_PLACEMENT", value: "on" },
              { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
            ],
          }],
        },
      },
    },
  },
  "/api/v1/namespaces/mbcas-system/configmaps/mbcas-placement-shop": {
    ...object("mbcas-placement-shop"),
    data: { "Deployment.web": "{}" },
  },
};

Deno.test("createPlacementReader() reads what placement looks at, and writes nothing", async () => {
  await using server = serveCanned(({ path }) =>
    ANSWERS[path] ??
      (path.includes("/configmaps/") || path.endsWith("/gone")
        ? statusAnswer(404, { reason: "NotFound" })
        : statusAnswer(403, { reason: "Forbidden" }))
  );
  const { signal } = new AbortController();
  const reader = createPlacementReader(server.connection, { signal });
  const names = async (
    answer: Promise<readonly { readonly metadata: { readonly name: string } }[]>,
  ): Promise<string> => (await answer).map(({ metadata }) => metadata.name).join();
  assert.equal(await names(reader.workloads("Deployment", "shop")), "web");
  assert.equal(await names(reader.workloads("StatefulSet")), "db,cache");
  assert.equal(await names(reader.replicaSets("shop")), "web-5f");
  assert.equal(await names(reader.budgets("shop")), "web");
  assert.equal(await names(reader.namespaces()), "shop,far");
  assert.equal(await names(reader.namespaces("shop")), "shop");
  assert.equal(await names(reader.namespaces("gone")), "");
  assert.equal(await names(reader.nodes()), "node-1");
  assert.equal(await names(reader.volumes()), "pv");
  assert.deepEqual(await reader.memory("shop"), { "Deployment.web": "{}" });
  // Nothing is remembered of it.
  assert.deepEqual(await reader.memory("far"), {});
  assert.deepEqual(await reader.controllerCommand(), {
    variables: { MBCAS_PLACEMENT: "on" },
    args: ["--market=on"],
  });
  await assert.rejects(reader.budgets(), ApiError);
  assert.ok(server.requests.every(({ method }) => method === "GET"));
});
