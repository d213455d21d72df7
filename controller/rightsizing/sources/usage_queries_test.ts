import assert from "node:assert/strict";
import fc from "fast-check";
import type { UsageQuestion } from "../ports.ts";
import { countMoments, momentsOf, splitMoments, usageQueries } from "./usage_queries.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const HOUR_MS = 3_600_000;
const NOW_MS = 1_767_225_600_781;

const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: { kind: "StatefulSet", name: "web", uid: "u" },
  pods: ["web-0"],
  otherPods: ["web-7"],
  containers: ["app", "proxy"],
  window: { fromMs: NOW_MS - HOUR_MS, toMs: NOW_MS },
};

test("momentsOf() takes steps of 15 s to 2 min, and longer ones where there would be too many", () => {
  const hours = { 0.001: 15, 1: 15, 3: 15, 6: 30, 24: 120, 168: 120, 720: 236 };
  for (const [one, seconds] of Object.entries(hours)) {
    const windowMs = Number(one) * HOUR_MS;
    const { stepMs } = momentsOf({ fromMs: NOW_MS - windowMs, toMs: NOW_MS });
    assert.equal(stepMs, 1000 * seconds, `${one} h`);
  }
  assert.throws(() => momentsOf({ fromMs: 1, toMs: 1 }), RangeError);
});

const windows = fc.double({ min: 1, max: 400 * 24 * HOUR_MS, noNaN: true })
  .map((windowMs) => ({ fromMs: NOW_MS - Math.ceil(windowMs), toMs: NOW_MS }));

test("property 12: momentsOf() lie in (from, to], the last at its end, at most 11,000", () => {
  fc.assert(
    fc.property(windows, (window) => {
      const moments = momentsOf(window);
      assert.ok(moments.startMs > window.fromMs, JSON.stringify(moments));
      assert.ok(moments.startMs - moments.stepMs <= window.fromMs, "none is left out");
      assert.equal(moments.endMs, window.toMs);
      assert.ok(countMoments(moments) <= 11_000);
      assert.equal((moments.endMs - moments.startMs) % moments.stepMs, 0);
    }),
  );
});

test("splitMoments() has each moment in one part", () => {
  const all = (moments: ReturnType<typeof momentsOf>): number[] =>
    Array.from(
      { length: countMoments(moments) },
      (_, index) => moments.startMs + index * moments.stepMs,
    );
  const shortWindows = windows.map(({ fromMs, toMs }) => ({
    fromMs: toMs - ((toMs - fromMs) % HOUR_MS || 1),
    toMs,
  }));
  fc.assert(fc.property(shortWindows, fc.integer({ min: 1, max: 400 }), (window, parts) => {
    const moments = momentsOf(window);
    const split = splitMoments(moments, parts);
    assert.ok(split.length <= parts);
    assert.deepEqual(split.flatMap(all), all(moments));
  }));
});

test("usageQueries() asks for rates over 2 min and working sets, the largest of doubles", () => {
  const selector = 'namespace="shop",pod=~"web-(?:0|[1-9][0-9]*)",container=~"app|proxy"';
  assert.deepEqual(usageQueries(QUESTION), {
    cpu: `max by (pod,container) (rate(container_cpu_usage_seconds_total{${selector}}[2m]))`,
    memory: `max by (pod,container) (container_memory_working_set_bytes{${selector}})`,
  });
});

test("usageQueries() asks for pods that don't follow the rule by name, and escapes", () => {
  const { memory } = usageQueries({
    ...QUESTION,
    namespace: 'a"b\\',
    workload: { kind: "DaemonSet", name: "n.x", uid: "u" },
    pods: ["n.x-x2b7z", "odd.one"],
  });
  assert.ok(memory.includes('namespace="a\\"b\\\\"'), memory);
  assert.ok(
    memory.includes('pod=~"n\\\\.x-[bcdfghjklmnpqrstvwxz2456789]{5}|odd\\\\.one"'),
    memory,
  );
});

test("property 11: usageQueries() covers each container that is asked for, in both resources", () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
  fc.assert(fc.property(fc.uniqueArray(name, { minLength: 1 }), (containers) => {
    for (const query of Object.values(usageQueries({ ...QUESTION, containers }))) {
      const [, pattern = ""] = /container=~"([^"]*)"/.exec(query) ?? [];
      const finds = new RegExp(`^(?:${JSON.parse(`"${pattern}"`)})$`);
      assert.ok(containers.every((one) => finds.test(one)));
      assert.equal(finds.test("POD"), false);
      assert.equal(finds.test(""), false);
    }
  }));
});
