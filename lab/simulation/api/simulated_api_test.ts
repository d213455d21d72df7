import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import {
  sampleAllocation,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { createVirtualClock } from "../virtual_clock.ts";
import { createSimulatedAPI, type SimulatedAPIOptions } from "./simulated_api.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { EventLog, type LogEntry } from "./event_sink.ts";
import { mergePatch } from "./api_writers.ts";

function server(options: Partial<SimulatedAPIOptions> = {}) {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const api = createSimulatedAPI({ clock, random: seededRandom(3), ...options });
  return { clock, api, tables: api.store.tables };
}

pure("failNext() fails as many requests of the verb and kind as instructed", async () => {
  const { clock, api, tables } = server();
  tables.Node.create(sampleNode("node-1"));
  const link = api.nodeLink("node-1");
  api.failNext({ verb: "get", kind: "Node", status: 429, retryAfterMs: 3000, times: 2 });
  await settleVirtually(clock, link.renewLease());
  for (let time = 0; time < 2; time++) {
    await assert.rejects(settleVirtually(clock, link.node()), {
      status: 429,
      reason: "TooManyRequests",
      retryAfterMs: 3000,
    });
  }
  await settleVirtually(clock, link.node());
});

pure("stop() refuses requests, loses answers and puts informers out of sync", async () => {
  const { clock, api, tables } = server({ latencyMs: 100 });
  tables.Node.create(sampleNode("node-1"));
  const informer = createInformer({
    source: api.listWatch("Node"),
    clock,
    random: seededRandom(1),
    log: silentLog,
    name: "nodes",
  });
  const abort = new AbortController();
  const run = informer.run(abort.signal);
  await clock.runUntil(10_000);
  assert.equal(informer.synced, true);
  const underWay = assert.rejects(api.nodeLink("node-1").renewLease(), { status: 0 });
  while (tables.Lease.all().length === 0) await clock.runUntil(clock.monotonic() + 1);
  api.stop();
  await clock.runUntil(10_200);
  await underWay;
  assert.equal(informer.synced, false);
  await assert.rejects(api.nodeLink("node-1").node(), { status: 0 });
  api.events.emit({
    about: { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "u" },
    type: "Normal",
    reason: "CPULimitHeld",
    message: "lost",
  });
  assert.deepEqual(api.events.all(), []);
  tables.Node.modify("node-1", (node) => ({ ...node, ready: false }));
  api.start();
  await clock.runUntil(60_000);
  assert.deepEqual([informer.synced, informer.get("node-1")?.ready], [true, false]);
  abort.abort();
  await clock.runUntil(60_001);
  await run;
});

pure("createSimulatedAPI() removes an allocation after its pod, and a late one", async () => {
  const { clock, api, tables } = server({ garbageDelayMs: 1000 });
  const pod = tables.Pod.create(samplePod("web"));
  const other = tables.Pod.create(samplePod("db"));
  tables.PodAllocation.create(sampleAllocation(pod));
  tables.PodAllocation.create(sampleAllocation(other));
  tables.Pod.remove("shop/web", pod.metadata.uid);
  tables.Pod.create(samplePod("web"));
  api.compact();
  await clock.runUntil(999);
  assert.equal(tables.PodAllocation.all().length, 2);
  await clock.runUntil(1000);
  const names = () => tables.PodAllocation.all().map(({ spec }) => spec.podName);
  assert.deepEqual(names(), ["db"]);
  tables.PodAllocation.create(sampleAllocation(pod));
  await clock.runUntil(2000);
  assert.deepEqual(names(), ["db"]);
});

pure("createSimulatedAPI() sends a bookmark to a watch that has been quiet", async () => {
  const { clock, api, tables } = server();
  const stop = new AbortController();
  const watch = api.listWatch("Pod").watch("0", stop.signal)[Symbol.asyncIterator]();
  tables.Node.create(sampleNode("node-1"));
  const next = await settleVirtually(clock, watch.next());
  assert.deepEqual(next.value, { type: "BOOKMARK", resourceVersion: "1" });
  assert.ok(clock.monotonic() >= 60_000 && clock.monotonic() <= 60_020);
  stop.abort();
  assert.equal((await settleVirtually(clock, watch.next())).done, true);
});

const expired = { name: "ApiError", status: 410 };

function entry(version: number): LogEntry<ApiObject> {
  const object = { metadata: { name: "a", uid: "u", resourceVersion: String(version) } };
  return { version, atMs: 0, before: undefined, after: object, object };
}

pure("EventLog gives all entries after a version, or says that they are gone", () => {
  fc.assert(fc.property(
    fc.uniqueArray(fc.integer({ min: 1, max: 60 })),
    fc.integer({ min: 0, max: 60 }),
    fc.integer({ min: 0, max: 60 }),
    (numbers, compactTo, from) => {
      const versions = numbers.toSorted((a, b) => a - b);
      const log = new EventLog<ApiObject>(100);
      for (const version of versions) log.append(entry(version));
      log.compact(compactTo);
      if (from < compactTo) return assert.throws(() => log.after(from), expired);
      const read: number[] = [];
      for (let at = log.after(from), next = log.at(at); next; next = log.at(++at)) {
        read.push(next.version);
      }
      assert.deepEqual(read, versions.filter((version) => version > from));
    },
  ));
});

pure("EventLog reports a reader that was overtaken by a compaction", () => {
  const log = new EventLog<ApiObject>(100);
  const position = log.after(0);
  [1, 2, 3].forEach((version) => log.append(entry(version)));
  assert.equal(log.at(position)?.version, 1);
  log.compact(2);
  assert.throws(() => log.at(position), expired);
  assert.equal(log.at(position + 2)?.version, 3);
});

pure("EventLog keeps the last entries up to its limit, and at most twice as many", () => {
  const log = new EventLog<ApiObject>(10);
  for (let version = 1; version <= 100; version++) log.append(entry(version));
  assert.equal(log.at(log.after(90))?.version, 91);
  assert.throws(() => log.after(79), expired);
});

pure("mergePatch() gives the results of RFC 7386, appendix A", () => {
  for (
    const [target, patch, result] of [
      [{ a: "b" }, { a: "c" }, { a: "c" }],
      [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
      [{ a: "b" }, { a: null }, {}],
      [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
      [{ a: ["b"] }, { a: "c" }, { a: "c" }],
      [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
      [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
      [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
      [["a", "b"], ["c", "d"], ["c", "d"]],
      [{ a: "b" }, ["c"], ["c"]],
      [{ a: "foo" }, null, null],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: "b", c: null }, { a: "b" }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ]
  ) assert.deepEqual(mergePatch(target, patch), result);
});
