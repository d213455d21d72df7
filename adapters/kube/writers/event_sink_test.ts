import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { MarketEvent, ObjectEvent } from "../../../shared/api/ports.ts";
import { type LogFields, silentLog } from "../../../shared/log.ts";
import type { WantedResources } from "../../../shared/resize/inputs/resources.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import {
  type CannedServer,
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import { parseWorkload } from "../kinds/workloads.ts";
import { createEventSeries, createEventSink } from "./event_sink.ts";
import { createWorkloadWriter } from "./workload_writer.ts";

const POD = { namespace: "shop", name: "web-0", uid: "u1" };
const IN_POD = { apiVersion: "v1", kind: "Pod", ...POD };
const EVENT: MarketEvent = {
  ...{ about: IN_POD, type: "Normal", reason: "CPULimitApplied", message: "app: 200m to 400m" },
};

const ABOUT = { namespace: "shop", name: "web", uid: "u7" };
const OF_WORKLOAD: ObjectEvent = {
  about: { apiVersion: "apps/v1", kind: "Deployment", ...ABOUT },
  type: "Normal",
  reason: "OptimizationApplied",
  message: "app cpu 150m, in place",
};
const OF_POLICY: ObjectEvent = {
  ...OF_WORKLOAD,
  about: { apiVersion: "optipod.io/v1alpha1", kind: "OptimizationPolicy", ...ABOUT, uid: "u8" },
};

/** A request of the sink. */
type Sent = Pick<ReceivedRequest, "method" | "path"> & {
  readonly body: Readonly<Record<"note" | "regarding" | "related" | "series", unknown>> & {
    readonly metadata: { readonly name: string; readonly namespace: string };
  };
};

/** Requests of a sink until the server has had `count` of them. */
async function sent(
  count: number,
  events: readonly ObjectEvent[],
  answer: (request: ReceivedRequest) => unknown = () => ({}),
): Promise<readonly Sent[]> {
  const enough = Promise.withResolvers<void>();
  let seen = 0;
  await using server = serveCanned((request) => {
    if (++seen === count) enough.resolve();
    return answer(request);
  });
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const sink = createEventSink(server.connection, { clock, log: silentLog, instance: "pod-1" });
  const stop = new AbortController();
  const run = sink.run(stop.signal);
  for (const event of events) sink.emit(event);
  await enough.promise;
  stop.abort();
  await run;
  return server.requests as readonly Sent[];
}

const SHOP_EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events";

Deno.test("emit() makes an event of the pod, and cuts its note to the bytes that a server takes", async () => {
  const message = "app × 2; ".repeat(200);
  const [made, long] = await sent(2, [EVENT, { ...EVENT, message }]);
  assert.equal(made?.path, SHOP_EVENTS);
  assert.partialDeepStrictEqual(made?.body, {
    ...{ eventTime: "2026-01-01T00:00:00.000000Z", type: "Normal", reason: "CPULimitApplied" },
    ...{ reportingController: "mbcas.io/controller", reportingInstance: "pod-1" },
    note: "app: 200m to 400m",
    regarding: { kind: "Pod", ...POD },
  });
  const note = String(long?.body.note);
  assert.equal(new TextEncoder().encode(note).length, 1024);
  assert.ok(note.length > 900 && message.startsWith(note.slice(0, -1)));
});

Deno.test("emit() makes an event of a node or workload, and names the pod that it came about by", async () => {
  const node = { apiVersion: "v1", kind: "Node", name: "it", uid: "u2" };
  const workload = { ...IN_POD, apiVersion: "apps/v1", kind: "Deployment", name: "it", uid: "u3" };
  const events = [node, workload].map((about) => ({ ...EVENT, about, pod: POD }));
  const [ofNode, ofWorkload] = await sent(2, events);
  const related = { kind: "Pod", ...POD };
  // The server accepts events about cluster-scoped objects in this namespace only.
  assert.equal(ofNode?.path, "/apis/events.k8s.io/v1/namespaces/default/events");
  assert.equal(ofNode?.body.metadata.namespace, "default");
  assert.deepEqual(ofNode?.body.regarding, node);
  assert.equal(ofWorkload?.path, SHOP_EVENTS);
  assert.deepEqual(ofWorkload?.body.regarding, workload);
  for (const one of [ofNode, ofWorkload]) assert.partialDeepStrictEqual(one?.body, { related });
});

Deno.test("emit() makes an event of a policy or a workload that no pod has come up for", async () => {
  const requests = await sent(2, [OF_WORKLOAD, OF_POLICY]);
  for (const [index, { about, reason, message }] of [OF_WORKLOAD, OF_POLICY].entries()) {
    const { path, body } = requests[index] ?? assert.fail();
    assert.equal(path, SHOP_EVENTS);
    assert.match(body.metadata.name, /^web\.[0-9a-f]+$/);
    assert.deepEqual(body.regarding, about);
    assert.ok(!("related" in body));
    assert.partialDeepStrictEqual(body, { reason, note: message, action: "Rightsize" });
  }
  assert.equal(new Set(requests.map(({ body }) => body.metadata.name)).size, 2);
});

Deno.test("emit() names events as the server takes them, also where a long name is cut", async () => {
  const names = ["a", "-", ".", "-.-"].map((cut) => `${"a".repeat(200 - cut.length)}${cut}b`);
  const events = names.map((name) => ({ ...EVENT, about: { ...IN_POD, name, uid: name } }));
  for (const { body } of await sent(names.length, events)) {
    // A DNS subdomain, as `validation.IsDNS1123Subdomain` has it.
    const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
    assert.match(body.metadata.name, subdomain);
  }
});

Deno.test("emit() counts repetitions of one object's events, and begins anew when the first is gone", async () => {
  const ofTwo = await sent(3, [OF_WORKLOAD, OF_POLICY, OF_WORKLOAD]);
  assert.deepEqual(ofTwo.map(({ method }) => method), ["POST", "POST", "PATCH"]);
  assert.partialDeepStrictEqual(ofTwo[2]?.body, { series: { count: 2 } });
  let patches = 0;
  const requests = await sent(
    4,
    [EVENT, EVENT, EVENT],
    ({ method }) => method === "PATCH" && ++patches === 2 ? statusAnswer(404) : {},
  );
  assert.deepEqual(requests.map(({ method }) => method), ["POST", "PATCH", "PATCH", "POST"]);
  assert.partialDeepStrictEqual(requests[1]?.body, { series: { count: 2 } });
});

Deno.test("run() goes on after an event that was refused", async () => {
  const requests = await sent(
    2,
    [{ ...EVENT, about: { ...IN_POD, namespace: "gone" } }, EVENT],
    ({ path }) => path.includes("/gone/") ? statusAnswer(404) : {},
  );
  assert.equal(requests.length, 2);
});

Deno.test("createEventSeries() takes a different or late event for a new one", () => {
  const series = createEventSeries();
  series.begin(EVENT, { name: "e1", nowMs: 0 });
  assert.deepEqual(series.repeat(EVENT, 60_000), { name: "e1", count: 2 });
  assert.equal(series.repeat({ ...EVENT, message: "other" }, 60_000), undefined);
  assert.equal(series.repeat({ ...EVENT, about: { ...IN_POD, uid: "u2" } }, 60_000), undefined);
  assert.equal(series.repeat(EVENT, 60_000 + 10 * 60_000 + 1), undefined);
});

Deno.test("createEventSeries() drops the event that was repeated longest ago", () => {
  const series = createEventSeries();
  const note = (index: number) => ({ ...EVENT, about: { ...IN_POD, uid: `u${index}` } });
  for (let index = 0; index <= 4096; index++) series.begin(note(index), { name: "e", nowMs: 0 });
  assert.equal(series.repeat(note(0), 0), undefined);
  assert.notEqual(series.repeat(note(1), 0), undefined);
});

Deno.test("emit() sends warnings first, and drops the oldest other event when too many wait", async () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const all = Promise.withResolvers<void>();
  const notes: unknown[] = [];
  await using server = serveCanned(({ body }) => {
    notes.push((body as { note: string }).note);
    if (notes.length === 3) all.resolve();
    return {};
  });
  const warned: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, fields: unknown) => void warned.push(fields),
  };
  const sink = createEventSink(server.connection, { clock, log, capacity: 3 });
  const emit = (type: MarketEvent["type"], message: string) =>
    sink.emit({ ...EVENT, type, message });
  for (const message of ["a", "b", "c"]) emit("Normal", message);
  emit("Warning", "d");
  emit("Warning", "e");
  const stop = new AbortController();
  const run = sink.run(stop.signal);
  await all.promise;
  emit("Normal", "f");
  while (notes.length < 4) await new Promise((resolve) => setTimeout(resolve));
  stop.abort();
  await run;
  assert.deepEqual(notes, ["d", "e", "c", "f"]);
  assert.deepEqual(warned, [{ count: 2 }]);
});

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

Deno.test("recreate() logs each manager that loses a value to it, and no others", async () => {
  const owned = [
    managed("kubectl-client-side-apply", "Update", "app", "log"),
    managed("helm", "Apply", "log"),
  ];
  // Several own the value, this product among them.
  const shared = ["kubectl", "argocd-controller", "optipod"].map((manager, hour) => ({
    ...Object(managed(manager, "Apply", "app")),
    time: `2026-01-01T0${hour}:00:00Z`,
  }));
  const present = new Map([["app", { requests: { cpu: 100 }, limits: {} }]]);
  const rows: readonly (readonly [unknown[], WantedResources, managers?: string])[] = [
    [owned, present],
    [owned, WANTED, "kubectl-client-side-apply"],
    [shared, WANTED, "argocd-controller, kubectl"],
  ];
  for (const [managedFields, wanted, managers] of rows) {
    await using server = serveCanned(answers([raw({ managedFields })]));
    const { recreate, logged } = writerOf(server);
    await recreate(decidedOn(), wanted, APPLY);
    const expected = managers === undefined ? [] : [{ workload: "Deployment shop/web", managers }];
    assert.deepEqual(logged, expected);
  }
});

Deno.test("recreate() writes nothing to another workload, or to another template", async () => {
  const bare = { ...Object(raw()), spec: {} };
  await using server = serveCanned(
    answers([raw({ uid: "u2" }), raw({ appCPU: "120m" }), bare]),
  );
  const { recreate } = writerOf(server);
  for (const status of [404, 409, 409]) {
    await assert.rejects(recreate(decidedOn(), WANTED, APPLY), { name: "ApiError", status });
  }
  assert.deepEqual(methods(server), ["GET", "GET", "GET"]);
});

Deno.test("recreate() reads again what was overtaken by a status, three times at most", async () => {
  // The image is not what was decided on.
  const versions = ["7", "8", "9", "10"].map((resourceVersion) =>
    raw({ resourceVersion, image: "web:2" })
  );
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
