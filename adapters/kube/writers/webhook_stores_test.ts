import assert from "node:assert/strict";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createSecretStore, createTrustStore } from "./webhook_stores.ts";

/** The webhook's Secret and configuration: what is sent, and how answers are read. */

const PLACE = { namespace: "mbcas-system", name: "mbcas-webhook", labels: { app: "webhook" } };
const SECRETS = "/api/v1/namespaces/mbcas-system/secrets";
const CONFIGURATION =
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mbcas-webhook";

Deno.test("createSecretStore() reads the texts of one Secret by its name", async () => {
  await using server = serveCanned(() => ({
    metadata: { name: "mbcas-webhook", namespace: "mbcas-system", uid: "u", resourceVersion: "4" },
    data: { "tls.crt": btoa("CERT"), latin: btoa("\xff") },
  }));
  const secret = await createSecretStore(server.connection, PLACE).read();
  assert.deepEqual(secret, {
    resourceVersion: "4",
    data: { "tls.crt": "CERT", latin: "\ufffd" },
  });
  assert.deepEqual(server.requests.map(({ method, path }) => [method, path]), [
    ["GET", `${SECRETS}/mbcas-webhook`],
  ]);
});

Deno.test("createSecretStore() creates with labels, and replaces what it read and nothing newer", async () => {
  const identity = { name: "mbcas-webhook", namespace: "mbcas-system", uid: "u" };
  const others = { labels: { team: "a" }, annotations: { note: "b" } };
  await using server = serveCanned(({ method }) =>
    method === "GET"
      ? {
        metadata: { ...identity, resourceVersion: "4", ...others },
        type: "kubernetes.io/tls",
        data: {},
      }
      : {}
  );
  const store = createSecretStore(server.connection, PLACE);
  await store.create({ "tls.crt": "größer" });
  const seen = await store.read() ?? assert.fail("there is a Secret");
  await store.replace(seen, { "tls.key": "KEY" });
  const [created, , replaced] = server.requests;
  assert.deepEqual([created?.method, created?.path], ["POST", SECRETS]);
  assert.deepEqual(created?.body, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "mbcas-system", name: "mbcas-webhook", labels: { app: "webhook" } },
    type: "Opaque",
    data: { "tls.crt": "Z3LDtsOfZXI=" },
  });
  assert.deepEqual([replaced?.method, replaced?.path], ["PUT", `${SECRETS}/mbcas-webhook`]);
  assert.deepEqual(replaced?.body, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...identity, resourceVersion: "4", ...others },
    type: "kubernetes.io/tls",
    data: { "tls.key": btoa("KEY") },
  });
});

Deno.test("createSecretStore() passes refusals on, but a Secret that is not there is no error", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status, { reason: "Any" }));
  const store = createSecretStore(server.connection, PLACE);
  assert.equal(await store.read(), undefined);
  status = 403;
  await assert.rejects(store.read(), { status: 403 });
  status = 409;
  await assert.rejects(store.create({}), { status: 409 });
  await assert.rejects(store.replace({ resourceVersion: "1", data: {} }, {}), { status: 409 });
});

Deno.test("createSecretStore() repeats nothing of an answer that can't be read", async () => {
  await using server = serveCanned(() => new Response(`{"data":{"tls.key":c2VjcmV0`));
  const store = createSecretStore(server.connection, PLACE);
  for (const call of [store.read(), store.create({}), store.replace({} as never, {})]) {
    await assert.rejects(call, (error: unknown) => {
      assert.ok(error instanceof Error && error.cause === undefined);
      assert.match(error.message, /secrets.*: .* not JSON$/);
      return true;
    });
  }
});

Deno.test("createTrustStore() reads each webhook's bundle, and patches them and nothing else", async () => {
  await using server = serveCanned(() => ({
    metadata: { name: "mbcas-webhook", uid: "u", resourceVersion: "9" },
    webhooks: [
      { name: "pods.mbcas.io", clientConfig: { caBundle: btoa("OLD"), service: {} } },
      { name: "other.mbcas.io", clientConfig: {} },
    ],
  }));
  const store = createTrustStore(server.connection, { name: "mbcas-webhook" });
  const seen = await store.read() ?? assert.fail("there is a configuration");
  assert.deepEqual(seen, {
    resourceVersion: "9",
    bundles: [["pods.mbcas.io", "OLD"], ["other.mbcas.io", ""]],
  });
  await store.write(seen, "NEW");
  const [read, patched] = server.requests;
  assert.deepEqual([read?.method, read?.path], ["GET", CONFIGURATION]);
  assert.deepEqual([patched?.method, patched?.path, patched?.query], ["PATCH", CONFIGURATION, {
    fieldManager: "mbcas-webhook",
  }]);
  assert.equal(patched?.headers.get("content-type"), "application/json-patch+json");
  const value = btoa("NEW");
  assert.deepEqual(patched?.body, [
    { op: "replace", path: "/metadata/resourceVersion", value: "9" },
    { op: "test", path: "/webhooks/0/name", value: "pods.mbcas.io" },
    { op: "add", path: "/webhooks/0/clientConfig/caBundle", value },
    { op: "test", path: "/webhooks/1/name", value: "other.mbcas.io" },
    { op: "add", path: "/webhooks/1/clientConfig/caBundle", value },
  ]);
});

Deno.test("createTrustStore() passes refusals on, but a configuration that is not there is no error", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status));
  const store = createTrustStore(server.connection, { name: "mbcas-webhook" });
  assert.equal(await store.read(), undefined);
  status = 403;
  await assert.rejects(store.read(), { status: 403 });
  await assert.rejects(store.write({ resourceVersion: "1", bundles: [] }, ""), { status: 403 });
});
