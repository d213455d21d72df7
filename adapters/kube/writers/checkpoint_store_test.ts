import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createCheckpointStore } from "./checkpoint_store.ts";

const NEVER = new AbortController().signal;
const OPTIONS = { namespace: "mbcas-system", label: "optipod.io/usage", manager: "optipod" };
const PATH = "/api/v1/namespaces/mbcas-system/configmaps";

Deno.test("list() reads the ConfigMaps of the label, and apply() writes one by server-side apply", async () => {
  const metadata = { name: "a", namespace: "mbcas-system", uid: "u", resourceVersion: "1" };
  await using server = serveCanned(({ method }) =>
    method === "GET" ? { items: [{ metadata, data: { key: "text" } }] } : {}
  );
  const store = createCheckpointStore(server.connection, OPTIONS);
  assert.deepEqual(await store.list(NEVER), [{ name: "a", data: { key: "text" } }]);
  await store.apply({ name: "b", data: { other: "1" } }, NEVER);
  const [listed, applied] = server.requests;
  assert.deepEqual([listed?.path, listed?.query], [PATH, {
    labelSelector: "optipod.io/usage=true",
  }]);
  assert.deepEqual([applied?.method, applied?.path], ["PATCH", `${PATH}/b`]);
  assert.deepEqual(applied?.query, { fieldManager: "optipod", force: "true" });
  assert.equal(applied?.headers.get("content-type"), "application/apply-patch+yaml");
  assert.deepEqual(applied?.body, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "mbcas-system", name: "b", labels: { "optipod.io/usage": "true" } },
    data: { other: "1" },
  });
});

Deno.test("remove() takes one away, also when it is gone, and throws other refusals", async () => {
  await using server = serveCanned(({ path }) =>
    path.endsWith("/there") ? {} : statusAnswer(path.endsWith("/gone") ? 404 : 403)
  );
  const store = createCheckpointStore(server.connection, OPTIONS);
  await store.remove("there", NEVER);
  await store.remove("gone", NEVER);
  await assert.rejects(store.remove("kept", NEVER), ApiError);
  assert.deepEqual(server.requests.map(({ method, path }) => `${method} ${path}`), [
    `DELETE ${PATH}/there`,
    `DELETE ${PATH}/gone`,
    `DELETE ${PATH}/kept`,
  ]);
});
