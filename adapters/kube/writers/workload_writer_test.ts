import assert from "node:assert/strict";
import { type LogFields, silentLog } from "../../../shared/log.ts";
import { createWorkloadWriter } from "./workload_writer.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import {
  type CannedServer,
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import { parseWorkload } from "../kinds/workloads.ts";

const PATH = "/apis/apps/v1/namespaces/shop/deployments/web";
const cpuOf = (...names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [`k:{"name":"${name}"}`, {
      "f:resources": { "f:requests": { "f:cpu": {} } },
    }]),
  );

/** The managed fields of the containers' CPU requests. */
function managed(manager: string, operation: string, ...names: readonly string[]): unknown {
  const spec = { "f:template": { "f:spec": { "f:containers": cpuOf(...names) } } };
  return { manager, operation, fieldsV1: { "f:spec": spec } };
}

interface Raw {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly appCPU?: string;
  readonly image?: string;
  readonly managedFields?: readonly unknown[];
}

function raw({ uid = "u1", resourceVersion = "7", ...more }: Raw = {}): unknown {
  const { appCPU = "100m", image = "web:1", managedFields = [] } = more;
  const containers = [
    { name: "app", image, resources: { requests: { cpu: appCPU } } },
    { name: "log", image, resources: { requests: { cpu: "30m" }, limits: { memory: "64Mi" } } },
  ];
  return {
    metadata: { name: "web", namespace: "shop", uid, resourceVersion, managedFields },
    spec: { replicas: 2, template: { spec: { containers } } },
  };
}

function decidedOn(given: Raw = {}): RightsizedWorkload {
  return rightsizedWorkload(parseWorkload(raw(given), "Deployment")) ?? assert.fail();
}

const WANTED = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);
const APPLY = { serverSideApply: true };
const APP = { name: "app", resources: { requests: { cpu: "150m" } } };

/** A writer, and the fields that it logs. */
function writerOf({ connection }: CannedServer) {
  const logged: LogFields[] = [];
  const log = {
    ...silentLog,
    info: (_message: string, fields: LogFields = {}) => void logged.push(fields),
  };
  return { ...createWorkloadWriter(connection, { log }), logged };
}

/** Answers reads with the objects in turn, the last one for good, and patches with these statuses. */
function answers(
  objects: readonly unknown[],
  patched: (request: ReceivedRequest) => unknown = () => ({}),
) {
  let reads = 0;
  return (request: ReceivedRequest): unknown =>
    request.method === "GET" ? objects[Math.min(reads++, objects.length - 1)] : patched(request);
}

const methods = ({ requests }: CannedServer) => requests.map(({ method }) => method);

Deno.test("recreate() applies by force, under the version that it has read, and names what it owns", async () => {
  const managedFields = [managed("optipod", "Apply", "log"), managed("optipod", "Update", "app")];
  await using server = serveCanned(answers([raw({ resourceVersion: "9", managedFields })]));
  await writerOf(server).recreate(decidedOn(), WANTED, { ...APPLY, auditID: "id-1" });
  const [read, sent] = server.requests;
  assert.deepEqual([read?.method, read?.path], ["GET", PATH]);
  assert.deepEqual([sent?.method, sent?.path, sent?.query], ["PATCH", PATH, {
    fieldManager: "optipod",
    force: "true",
  }]);
  assert.equal(sent?.headers.get("content-type"), "application/apply-patch+yaml");
  assert.equal(sent?.headers.get("audit-id"), "id-1");
  assert.deepEqual(sent?.body, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "shop", uid: "u1", resourceVersion: "9" },
    spec: {
      template: {
        spec: { containers: [APP, { name: "log", resources: { requests: { cpu: "30m" } } }] },
      },
    },
  });
  assert.equal(server.requests.length, 2);
});

Deno.test("recreate() merges without force where nothing is to be applied", async () => {
  await using server = serveCanned(answers([raw()]));
  await writerOf(server).recreate(decidedOn(), WANTED, { serverSideApply: false });
  const sent = server.requests[1];
  assert.deepEqual(sent?.query, { fieldManager: "optipod" });
  assert.equal(sent?.headers.get("content-type"), "application/strategic-merge-patch+json");
  assert.deepEqual(sent?.body, {
    metadata: { name: "web", namespace: "shop", uid: "u1", resourceVersion: "7" },
    spec: { template: { spec: { containers: [APP] } } },
  });
});

Deno.test("recreate() logs the managers that lose values to it, and no others", async () => {
  const managedFields = [
    managed("kubectl-client-side-apply", "Update", "app", "log"),
    managed("helm", "Apply", "log"),
  ];
  await using server = serveCanned(answers([raw({ managedFields })]));
  const { recreate, logged } = writerOf(server);
  await recreate(decidedOn(), new Map([["app", { requests: { cpu: 100 }, limits: {} }]]), APPLY);
  assert.deepEqual(logged, []);
  await recreate(decidedOn(), WANTED, APPLY);
  assert.deepEqual(logged, [
    { workload: "Deployment shop/web", managers: "kubectl-client-side-apply" },
  ]);
});

Deno.test("recreate() writes nothing to another workload, or to another template", async () => {
  await using server = serveCanned(answers([raw({ uid: "u2" }), raw({ appCPU: "120m" }), {
    ...Object(raw()),
    spec: {},
  }]));
  const { recreate } = writerOf(server);
  for (const status of [404, 409, 409]) {
    await assert.rejects(recreate(decidedOn(), WANTED, APPLY), { name: "ApiError", status });
  }
  assert.deepEqual(methods(server), ["GET", "GET", "GET"]);
});

Deno.test("recreate() does not mind containers without resources", async () => {
  await using server = serveCanned(answers([raw({ image: "web:2" })]));
  await writerOf(server).recreate(decidedOn(), WANTED, APPLY);
  assert.deepEqual(methods(server), ["GET", "PATCH"]);
});

Deno.test("recreate() reads again what was overtaken by a status, three times at most", async () => {
  const versions = ["7", "8", "9", "10"].map((resourceVersion) => raw({ resourceVersion }));
  const sentVersion = ({ body }: ReceivedRequest) =>
    (body as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
  await using once = serveCanned(
    answers(versions, (request) => sentVersion(request) === "7" ? statusAnswer(409) : {}),
  );
  await writerOf(once).recreate(decidedOn(), WANTED, APPLY);
  assert.deepEqual(methods(once), ["GET", "PATCH", "GET", "PATCH"]);
  await using always = serveCanned(answers(versions, () => statusAnswer(409)));
  const { recreate, logged } = writerOf(always);
  await assert.rejects(recreate(decidedOn(), WANTED, APPLY), { status: 409 });
  assert.equal(always.requests.length, 6);
  assert.deepEqual(logged, []);
});

Deno.test("recreate() tries nothing again that the server refuses, nor what it can't answer", async () => {
  for (const status of [403, 422, 429, 500]) {
    await using server = serveCanned(answers([raw()], () => statusAnswer(status)));
    await assert.rejects(writerOf(server).recreate(decidedOn(), WANTED, APPLY), { status });
    assert.deepEqual(methods(server), ["GET", "PATCH"]);
  }
});
