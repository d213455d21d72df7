import assert from "node:assert/strict";
import {
  type CannedServer,
  sentRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import type { ApiError } from "../../../shared/api/api_error.ts";
import { createSecretStore, createTrustStore } from "./webhook_stores.ts";

const PLACE = { namespace: "mbcas-system", name: "mbcas-webhook", labels: { app: "webhook" } };
const SECRETS = "/api/v1/namespaces/mbcas-system/secrets";
const CONFIGURATION =
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mbcas-webhook";

const sent = ({ requests }: CannedServer) => requests.map(sentRequest);

Deno.test("createSecretStore() sends labels on creation, and keeps type and metadata in a replacement", async () => {
  const identity = { name: "mbcas-webhook", namespace: "mbcas-system", uid: "u" };
  const others = { labels: { team: "a" }, annotations: { note: "b" } };
  const secret = { apiVersion: "v1", kind: "Secret" };
  const kept = {
    ...secret,
    metadata: { ...identity, resourceVersion: "4", ...others },
    type: "kubernetes.io/tls",
  };
  const data = { "tls.crt": btoa("CERT"), latin: btoa("\xff") };
  await using server = serveCanned(({ method }) => method === "GET" ? { ...kept, data } : {});
  const store = createSecretStore(server.connection, PLACE);
  await store.create({ "tls.crt": "größer" });
  const seen = await store.read() ?? assert.fail("there is a Secret");
  assert.deepEqual(seen, { resourceVersion: "4", data: { "tls.crt": "CERT", latin: "\ufffd" } });
  await store.replace(seen, { "tls.key": "KEY" });
  await store.replace({ resourceVersion: "3", data: {} }, {});
  const { labels, ...place } = PLACE;
  assert.deepEqual(sent(server), [
    {
      to: `POST ${SECRETS}`,
      body: {
        ...{ ...secret, metadata: { ...place, labels }, type: "Opaque" },
        data: { "tls.crt": "Z3LDtsOfZXI=" },
      },
    },
    { to: `GET ${SECRETS}/mbcas-webhook` },
    {
      to: `PUT ${SECRETS}/mbcas-webhook`,
      body: { ...kept, data: { "tls.key": btoa("KEY") } },
    },
    {
      to: `PUT ${SECRETS}/mbcas-webhook`,
      body: { metadata: { ...place, resourceVersion: "3" }, data: {} },
    },
  ]);
});

Deno.test("createTrustStore() patches bundles of the version that it has read, and nothing else", async () => {
  await using server = serveCanned(() => ({
    metadata: { name: "mbcas-webhook", uid: "u", resourceVersion: "9" },
    webhooks: [
      { name: "pods.mbcas.io", clientConfig: { caBundle: btoa("OLD"), service: {} } },
      { name: "other.mbcas.io", clientConfig: {} },
    ],
  }));
  const store = createTrustStore(server.connection, { name: "mbcas-webhook" });
  const seen = await store.read() ?? assert.fail("there is a configuration");
  assert.deepEqual(seen.bundles, [["pods.mbcas.io", "OLD"], ["other.mbcas.io", ""]]);
  await store.write(seen, "NEW");
  const value = btoa("NEW");
  assert.deepEqual(sent(server), [{ to: `GET ${CONFIGURATION}` }, {
    to: `PATCH ${CONFIGURATION}`,
    query: { fieldManager: "mbcas-webhook" },
    type: "json",
    body: [
      { op: "replace", path: "/metadata/resourceVersion", value: "9" },
      { op: "test", path: "/webhooks/0/name", value: "pods.mbcas.io" },
      { op: "add", path: "/webhooks/0/clientConfig/caBundle", value },
      { op: "test", path: "/webhooks/1/name", value: "other.mbcas.io" },
      { op: "add", path: "/webhooks/1/clientConfig/caBundle", value },
    ],
  }]);
});

Deno.test("createSecretStore() and createTrustStore() pass refusals on, but an object that is not there is no error", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status, { reason: "Any" }));
  const secrets = createSecretStore(server.connection, PLACE);
  const trust = createTrustStore(server.connection, { name: "mbcas-webhook" });
  for (const store of [secrets, trust]) assert.equal(await store.read(), undefined);
  status = 403;
  const seen = { resourceVersion: "1", data: {}, bundles: [] };
  for (
    const call of [
      ...[secrets.read(), secrets.create({}), secrets.replace(seen, {})],
      ...[trust.read(), trust.write(seen, "")],
    ]
  ) await assert.rejects(call, { status: 403 });
});

Deno.test("createSecretStore() repeats nothing of an answer that can't be read", async () => {
  await using server = serveCanned(() => new Response(`{"data":{"tls.key":c2VjcmV0`));
  const store = createSecretStore(server.connection, PLACE);
  for (const call of [store.read(), store.create({}), store.replace({} as never, {})]) {
    await assert.rejects(call, ({ cause, message }: ApiError) => {
      assert.equal(cause, undefined);
      assert.match(message, /secrets.*: .* not JSON$/);
      return true;
    });
  }
});
