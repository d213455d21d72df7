import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createPlacementReader } from "./placement_reader.ts";

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
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/apis/apps/v1/namespaces/mbcas-system/deployments/mbcas-controller": {
    spec: { template: { spec: { containers: [CONTROLLER] } } },
  },
  [`${PLACE}/mbcas-placement-shop`]: SHOP,
  [PLACE]: { items: [SHOP, map("mbcas-moves-0", "entries")], metadata: { resourceVersion: "9" } },
};

Deno.test("createPlacementReader() reads what is published of placement, and writes nothing", async () => {
  await using server = serveCanned(({ path }) => {
    if (path.endsWith("-secret")) return statusAnswer(403, { reason: "Forbidden" });
    return ANSWERS[path] ?? statusAnswer(404, { reason: "NotFound" });
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
