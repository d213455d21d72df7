/** Requests of each writer; the contract suites test what a real server makes of them. */
import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { serveCanned, statusAnswer } from "../../../tests/fixtures/canned_server.ts";
import { createAllocationStore, createDesiredWriter } from "./allocation_writers.ts";
import { createLeaseStore, createNodeLink } from "./lease_writers.ts";
import { createPodResizer } from "./pod_writers.ts";

const POD = { ...samplePod("web"), metadata: { ...samplePod("web").metadata, uid: "u1" } };
const ALLOCATION = sampleAllocation(POD);
const STORED = {
  ...ALLOCATION,
  metadata: { ...ALLOCATION.metadata, uid: "u2", resourceVersion: "7" },
};
const COLLECTION = "/apis/allocation.mbcas.io/v1alpha1/namespaces/shop/podallocations";

Deno.test("createPodResizer() patches the subresource under its own name", async () => {
  await using server = serveCanned(() => ({ metadata: { resourceVersion: "8" } }));
  const patch = { metadata: { uid: "u1" }, spec: {} };
  assert.equal(await createPodResizer(server.connection).resize("shop", "web", patch), "8");
  const [sent] = server.requests;
  assert.deepEqual([sent?.method, sent?.path, sent?.query, sent?.body], [
    "PATCH",
    "/api/v1/namespaces/shop/pods/web/resize",
    { fieldManager: "mbcas" },
    patch,
  ]);
  assert.equal(sent?.headers.get("content-type"), "application/strategic-merge-patch+json");
});

Deno.test("createAllocationStore() creates without identity and status, and deletes by UID", async () => {
  await using server = serveCanned(() => STORED);
  const store = createAllocationStore(server.connection);
  assert.deepEqual(await store.create({ ...STORED, status: { phase: "Pending" } }), STORED);
  await store.writeStatus(STORED);
  await store.remove(STORED);
  const [created, status, removed] = server.requests;
  assert.deepEqual([created?.method, created?.path], ["POST", COLLECTION]);
  const { uid: _uid, resourceVersion: _version, ...metadata } = STORED.metadata;
  const { apiVersion, kind, spec } = STORED;
  assert.deepEqual(created?.body, { apiVersion, kind, metadata, spec });
  const path = `${COLLECTION}/${STORED.metadata.name}`;
  assert.deepEqual([status?.method, status?.path, status?.body], ["PUT", `${path}/status`, STORED]);
  assert.deepEqual([removed?.method, removed?.path], ["DELETE", path]);
  assert.partialDeepStrictEqual(removed?.body, { preconditions: { uid: "u2" } });
});

Deno.test("createDesiredWriter() deletes a price that became infinite, and returns the new version", async () => {
  await using server = serveCanned(() => STORED);
  const writer = createDesiredWriter(server.connection);
  assert.equal(await writer.writeDesired(STORED.metadata, sampleDesired("350m")), "7");
  await writer.writeDesired(STORED.metadata, { desiredCPULimit: "1" });
  const { price: _price, ...market } = sampleDesired("350m").market ?? assert.fail();
  await writer.writeDesired(STORED.metadata, { market });
  assert.deepEqual(server.requests.map(({ body }) => body), [
    { spec: sampleDesired("350m") },
    { spec: { desiredCPULimit: "1" } },
    { spec: { market: { ...market, price: null } } },
  ]);
});

Deno.test("createNodeLink() renews the Lease, and makes it when it is not there", async () => {
  let known = false;
  await using server = serveCanned(({ method }) => {
    if (method === "GET") {
      return { metadata: { name: "node-1", uid: "n1", resourceVersion: "3" }, status: {} };
    }
    if (method === "PATCH" && !known) return statusAnswer(404, { reason: "NotFound" });
    known = true;
    return {};
  });
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const link = createNodeLink(server.connection, {
    nodeName: "node-1",
    clock,
    durationSeconds: 60,
  });
  await link.renewLease();
  await link.renewLease();
  const spec = {
    holderIdentity: "node-1",
    leaseDurationSeconds: 60,
    renewTime: "2026-01-01T00:00:00.000000Z",
  };
  assert.deepEqual(
    server.requests.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`),
    [
      "PATCH mbcas-agent-node-1",
      "GET node-1",
      "POST leases",
      "PATCH mbcas-agent-node-1",
    ],
  );
  assert.deepEqual(server.requests[3]?.body, { spec });
  assert.partialDeepStrictEqual(server.requests[2]?.body, {
    metadata: {
      namespace: "mbcas-system",
      labels: { "app.kubernetes.io/name": "mbcas-agent" },
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "node-1", uid: "n1" }],
    },
    spec,
  });
  await using denying = serveCanned(() => statusAnswer(403));
  const denied = createNodeLink(denying.connection, {
    nodeName: "node-1",
    clock,
    durationSeconds: 60,
  });
  await assert.rejects(denied.renewLease(), { status: 403 });
  await assert.rejects(denied.node(), { status: 403 });
});

Deno.test("createLeaseStore() passes refusals on, but a Lease that is not there is no error", async () => {
  let status = 404;
  await using server = serveCanned(() => statusAnswer(status));
  const store = createLeaseStore(server.connection, { namespace: "n", name: "leader" });
  assert.equal(await store.read(), undefined);
  status = 500;
  await assert.rejects(store.read(), { status: 500 });
});
