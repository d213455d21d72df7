import assert from "node:assert/strict";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import {
  type CannedServer,
  type ReceivedRequest,
  serveCanned,
  statusAnswer,
} from "../../../tests/fixtures/canned_server.ts";
import {
  createEventSeries,
  createEventSink,
  type KubeEventSink,
  type ObjectEvent,
  type PodEvent,
} from "./event_sink.ts";

const EVENT: PodEvent = {
  namespace: "shop",
  podName: "web-0",
  podUID: "u1",
  type: "Normal",
  reason: "CPULimitApplied",
  message: "app: 200m to 400m",
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

/** Runs a sink until the server has had `count` requests. */
async function running(
  answer: (request: ReceivedRequest) => unknown,
  count: number,
  act: (sink: KubeEventSink) => void,
): Promise<CannedServer["requests"]> {
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
  act(sink);
  await enough.promise;
  stop.abort();
  await run;
  return server.requests;
}

Deno.test("emit() makes an event of the pod", async () => {
  const [made] = await running(() => ({}), 1, (sink) => sink.emit(EVENT));
  assert.equal(made?.path, "/apis/events.k8s.io/v1/namespaces/shop/events");
  assert.partialDeepStrictEqual(made?.body, {
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "mbcas.io/controller",
    reportingInstance: "pod-1",
    reason: "CPULimitApplied",
    type: "Normal",
    note: "app: 200m to 400m",
    regarding: { kind: "Pod", namespace: "shop", name: "web-0", uid: "u1" },
  });
});

Deno.test("emit() makes an event of a node or workload, and names the pod that it came about by", async () => {
  const named = { name: "it", uid: "u2" };
  const other = { name: "it", uid: "u3" };
  const [ofNode, ofWorkload] = await running(() => ({}), 2, (sink) => {
    sink.emit({ ...EVENT, about: { apiVersion: "v1", kind: "Node", ...named } });
    sink.emit({ ...EVENT, about: { apiVersion: "apps/v1", kind: "Deployment", ...other } });
  });
  const related = { kind: "Pod", namespace: "shop", name: "web-0", uid: "u1" };
  // The server accepts events about cluster-scoped objects in this namespace only.
  assert.equal(ofNode?.path, "/apis/events.k8s.io/v1/namespaces/default/events");
  const node = ofNode?.body as { metadata: { namespace: string }; regarding: unknown };
  assert.equal(node.metadata.namespace, "default");
  assert.deepEqual(node.regarding, { apiVersion: "v1", kind: "Node", ...named });
  assert.partialDeepStrictEqual(node, { related });
  assert.equal(ofWorkload?.path, "/apis/events.k8s.io/v1/namespaces/shop/events");
  assert.partialDeepStrictEqual(ofWorkload?.body, {
    regarding: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", ...other },
    related,
  });
});

Deno.test("emit() makes an event of a policy or a workload that no pod has come up for", async () => {
  const requests = await running(() => ({}), 2, (sink) => {
    sink.emit(OF_WORKLOAD);
    sink.emit(OF_POLICY);
  });
  for (const [index, { about, reason, message }] of [OF_WORKLOAD, OF_POLICY].entries()) {
    const sent = requests[index];
    assert.equal(sent?.path, "/apis/events.k8s.io/v1/namespaces/shop/events");
    const body = sent?.body as { metadata: { name: string }; regarding: unknown };
    assert.match(body.metadata.name, /^web\.[0-9a-f]+$/);
    assert.deepEqual(body.regarding, about);
    assert.ok(!("related" in body));
    assert.partialDeepStrictEqual(body, { reason, note: message, action: "Rightsize" });
  }
  const names = requests.map(({ body }) => (body as { metadata: { name: string } }).metadata.name);
  assert.notEqual(names[0], names[1]);
});

Deno.test("emit() names events as the server takes them, also where a long name is cut", async () => {
  const names = ["a", "-", ".", "-.-"].map((cut) => `${"a".repeat(200 - cut.length)}${cut}b`);
  const sent = await running(() => ({}), names.length, (sink) => {
    for (const podName of names) sink.emit({ ...EVENT, podName, podUID: podName });
  });
  for (const { body } of sent) {
    const { name } = (body as { metadata: { name: string } }).metadata;
    // A DNS subdomain, as `validation.IsDNS1123Subdomain` has it.
    assert.match(name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  }
});

Deno.test("emit() counts repetitions of the same object's events alone", async () => {
  const requests = await running(() => ({}), 3, (sink) => {
    for (const note of [OF_WORKLOAD, OF_POLICY, OF_WORKLOAD]) sink.emit(note);
  });
  assert.deepEqual(requests.map(({ method }) => method), ["POST", "POST", "PATCH"]);
  assert.partialDeepStrictEqual(requests[2]?.body, { series: { count: 2 } });
});

Deno.test("emit() sends warnings before what else waits", async () => {
  const requests = await running(() => ({}), 3, (sink) => {
    for (const message of ["one", "two"]) sink.emit({ ...EVENT, message });
    sink.emit({ ...EVENT, type: "Warning", reason: "CPULimitFailed", message: "no room" });
  });
  const notes = requests.map(({ body }) => (body as { note: string }).note);
  assert.deepEqual(notes, ["no room", "one", "two"]);
});

Deno.test("emit() cuts a note to the bytes that a server takes", async () => {
  const message = "app × 2; ".repeat(200);
  const [made] = await running(() => ({}), 1, (sink) => sink.emit({ ...EVENT, message }));
  const { note } = made?.body as { note: string };
  assert.equal(new TextEncoder().encode(note).length, 1024);
  assert.ok(note.length > 900 && message.startsWith(note.slice(0, -1)));
});

Deno.test("emit() counts repetitions in the first event, and begins anew when that is gone", async () => {
  let patches = 0;
  const answer = ({ method }: ReceivedRequest): unknown =>
    method === "PATCH" && ++patches === 2 ? statusAnswer(404) : {};
  const requests = await running(answer, 4, (sink) => {
    for (let time = 0; time < 3; time++) sink.emit(EVENT);
  });
  assert.deepEqual(requests.map(({ method }) => method), ["POST", "PATCH", "PATCH", "POST"]);
  assert.partialDeepStrictEqual(requests[1]?.body, { series: { count: 2 } });
});

Deno.test("run() goes on after an event that was refused", async () => {
  const answer = ({ path }: ReceivedRequest): unknown =>
    path.includes("/gone/") ? statusAnswer(404) : {};
  const requests = await running(answer, 2, (sink) => {
    sink.emit({ ...EVENT, namespace: "gone" });
    sink.emit(EVENT);
  });
  assert.equal(requests.length, 2);
});

Deno.test("createEventSeries() takes a different or late event for a new one", () => {
  const series = createEventSeries();
  series.begin(EVENT, { name: "e1", nowMs: 0 });
  assert.deepEqual(series.repeat(EVENT, 60_000), { name: "e1", count: 2 });
  assert.equal(series.repeat({ ...EVENT, message: "other" }, 60_000), undefined);
  assert.equal(series.repeat({ ...EVENT, podUID: "u2" }, 60_000), undefined);
  assert.equal(series.repeat(EVENT, 60_000 + 10 * 60_000 + 1), undefined);
});

Deno.test("createEventSeries() drops the event that was repeated longest ago", () => {
  const series = createEventSeries();
  const note = (index: number): PodEvent => ({ ...EVENT, podUID: `u${index}` });
  for (let index = 0; index <= 4096; index++) series.begin(note(index), { name: "e", nowMs: 0 });
  assert.equal(series.repeat(note(0), 0), undefined);
  assert.notEqual(series.repeat(note(1), 0), undefined);
});

Deno.test("emit() sends warnings first, and drops the oldest other event when too many wait", async () => {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const all = Promise.withResolvers<void>();
  const sent: unknown[] = [];
  await using server = serveCanned(({ body }) => {
    sent.push((body as { note: string }).note);
    if (sent.length === 3) all.resolve();
    return {};
  });
  const warned: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, fields: unknown) => void warned.push(fields),
  };
  const sink = createEventSink(server.connection, { clock, log, capacity: 3 });
  const emit = (type: PodEvent["type"], message: string) => sink.emit({ ...EVENT, type, message });
  for (const message of ["a", "b", "c"]) emit("Normal", message);
  emit("Warning", "d");
  emit("Warning", "e");
  const stop = new AbortController();
  const run = sink.run(stop.signal);
  await all.promise;
  emit("Normal", "f");
  while (sent.length < 4) await new Promise((resolve) => setTimeout(resolve));
  stop.abort();
  await run;
  assert.deepEqual(sent, ["d", "e", "c", "f"]);
  assert.deepEqual(warned, [{ count: 2 }]);
});
