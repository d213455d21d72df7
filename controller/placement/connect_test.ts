import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { connectPlacementAPI } from "./connect.ts";

Deno.test("connectPlacementAPI() labels its ConfigMaps", async () => {
  await using server = serveCanned(() => ({ items: [] }));
  const { store, statuses } = connectPlacementAPI(server.connection, {
    namespace: "mbcas-system",
    events: { emit() {} },
    random: seededRandom(1),
    log: silentLog,
  });
  const { signal } = new AbortController();
  await store.list(signal);
  await statuses.apply({ name: "mbcas-placement-shop", data: { "Deployment.web": "{}" } }, signal);
  const [list, apply] = server.requests;
  assert.equal(list?.path, "/api/v1/namespaces/mbcas-system/configmaps");
  assert.equal(list?.query.labelSelector, "spotalis.io/memory=true");
  assert.equal(apply?.path, "/api/v1/namespaces/mbcas-system/configmaps/mbcas-placement-shop");
  assert.equal(apply?.query.fieldManager, "mbcas-placement");
  assert.match(JSON.stringify(apply?.body), /"labels":\{"spotalis.io\/placement-status":"true"\}/);
});
