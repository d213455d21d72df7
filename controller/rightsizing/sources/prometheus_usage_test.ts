import fc from "fast-check";
import assert from "node:assert/strict";
import {
  createRangeQueries,
  type PrometheusRange,
  type PrometheusRangeQueries,
} from "../../../adapters/prometheus/range_queries.ts";
import {
  SERVED_END_MS,
  servedSource,
  usageSourceContract,
} from "../../../tests/contract/usage_contracts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { servePrometheusStandIn } from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import type { UsageQuery } from "../ports.ts";
import { countMoments, momentsOf, splitMoments } from "./moments.ts";
import { createPrometheusUsageSource, usageQueries } from "./prometheus_usage.ts";
import { foreignPodFilter, podNamePattern } from "./pod_names.ts";

for (const maxBytes of [1_000_000, 4000]) {
  usageSourceContract(`createPrometheusUsageSource() in answers of ${maxBytes} bytes`, () => {
    const server = servePrometheusStandIn(SERVED_END_MS);
    const subject = createPrometheusUsageSource({
      queries: createRangeQueries({ program: "test", maxBytes }),
      server: () => server.url,
      matchers: () => [],
    });
    return servedSource(server, subject);
  });
}

const HOUR_MS = 3_600_000;
const NOW_MS = 1_767_225_600_000;
const QUESTION: UsageQuery = {
  namespace: "shop",
  workload: { kind: "StatefulSet", name: "web", uid: "u" },
  pods: ["web-0"],
  otherPods: ["web-7"],
  containers: ["app", "proxy"],
  window: { fromMs: NOW_MS - HOUR_MS, toMs: NOW_MS },
};

pure("usageQueries() asks for rates over 2 min and working sets, the largest of doubles", () => {
  const selector = 'namespace="shop",pod=~"web-(?:0|[1-9][0-9]*)",container=~"app|proxy",a="b"';
  assert.deepEqual(usageQueries(QUESTION, ['a="b"']), {
    cpu: `max by (pod,container) (rate(container_cpu_usage_seconds_total{${selector}}[2m]))`,
    memory: `max by (pod,container) (container_memory_working_set_bytes{${selector}})`,
  });
  // Pods that don't follow the rule are asked for by name; all is escaped.
  const { memory } = usageQueries({
    ...QUESTION,
    namespace: 'a"b\\',
    workload: { kind: "DaemonSet", name: "n.x", uid: "u" },
    pods: ["n.x-x2b7z", "odd.one"],
  }, []);
  assert.ok(memory.includes('namespace="a\\"b\\\\"'), memory);
  assert.ok(memory.includes('pod=~"n\\\\.x-[bcdfghjklmnpqrstvwxz2456789]{5}|odd\\\\.one"'), memory);
});

pure("property 11: usageQueries() covers each container in both resources", () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
  fc.assert(fc.property(fc.uniqueArray(name, { minLength: 1 }), (containers) => {
    for (const query of Object.values(usageQueries({ ...QUESTION, containers }, []))) {
      const [, pattern = ""] = /container=~"([^"]*)"/.exec(query) ?? [];
      const finds = new RegExp(`^(?:${JSON.parse(`"${pattern}"`)})$`);
      assert.ok(containers.every((one) => finds.test(one)));
      assert.equal(finds.test("POD"), false);
      assert.equal(finds.test(""), false);
    }
  }));
});

/** A source with a server that answers like this, and its queries. */
function source(
  answer: (asked: PrometheusRange) => Awaited<ReturnType<PrometheusRangeQueries["ask"]>>,
  server: string | null = "http://prometheus",
) {
  const asked: PrometheusRange[] = [];
  const { usage } = createPrometheusUsageSource({
    queries: { ask: (range) => (asked.push(range), Promise.resolve(answer(range))) },
    server: () => server,
    matchers: () => [],
  });
  const ask = (question = QUESTION) => usage(question, new AbortController().signal);
  return { asked, ask };
}

/** One point a moment, of this container. */
function everyMoment(range: PrometheusRange, labels = { pod: "web-0", container: "app" }) {
  const timesMs = new Float64Array(countMoments(range))
    .map((_, index) => range.startMs + index * range.stepMs);
  return { labels, timesMs, values: timesMs.map(() => 0.25) };
}

pure("createPrometheusUsageSource() asks twice, whatever the pods and containers", async () => {
  const { ask, asked } = source((range) => ({
    series: [
      everyMoment(range, { pod: "web-7", container: "app" }),
      everyMoment(range),
      everyMoment(range, { pod: "web-1", container: "app" }),
      everyMoment(range, { pod: "web-0", container: "init" }),
    ],
  }));
  const answer = await ask();
  assert.ok("usage" in answer);
  assert.equal(asked.length, 2);
  assert.deepEqual([...answer.usage.keys()], ["app", "proxy"]);
  const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
  assert.deepEqual([cpu.count, memory.count], [480, 480], "of two pods, not of the other's");
  assert.deepEqual([cpu.max, memory.max], [250, 0.25], "millicores, and bytes");
  assert.equal(answer.usage.get("proxy")?.cpu.count, 0);
});

pure("createPrometheusUsageSource() asks nothing without server or containers", async () => {
  assert.deepEqual(await source(() => assert.fail(), null).ask(), {
    problem: "unavailable",
    message: "no metrics.prometheusURL is configured",
  });
  const answer = await source(() => assert.fail()).ask({ ...QUESTION, containers: [] });
  assert.deepEqual(answer, { usage: new Map() });
});

pure("createPrometheusUsageSource() passes problems of either query on", async () => {
  const problem = { problem: "refused", message: "no" } as const;
  for (const part of ["rate(", "working_set"]) {
    const { ask } = source(({ query }) => query.includes(part) ? problem : { series: [] });
    assert.deepEqual(await ask(), problem);
  }
});

pure("createPrometheusUsageSource() halves questions with too large answers", async () => {
  const tooMuch = { problem: "unreadable", message: "too long", tooMuch: true } as const;
  const pods = fc.constantFrom(1, 2000);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 300 }), pods, async (most, pods) => {
      const { ask, asked } = source((range) =>
        countMoments(range) > most ? tooMuch : { series: [everyMoment(range)] }
      );
      const answer = await ask({
        ...QUESTION,
        pods: Array.from({ length: pods }, (_, index) => `web-${index + 10}`),
      });
      assert.ok("usage" in answer);
      // Each of the 240 moments came once.
      const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
      assert.deepEqual([cpu.count, memory.count], [240, 240]);
      assert.deepEqual([cpu.oldestMs, cpu.newestMs], [NOW_MS - 3_585_000, NOW_MS]);
      // 2 containers of 2,000 pods have 960,000 points, for three parts.
      if (pods === 2000 && most >= 80) assert.equal(asked.length, 6);
      assert.equal(asked.length === 2, pods === 1 && most >= 240, `${asked.length} questions`);
    }),
  );
  const { ask, asked } = source(() => tooMuch);
  assert.deepEqual(await ask(), { problem: "unreadable", message: "too long" });
  assert.ok(asked.length < 20, "what can't be answered at all is given up");
});

pure("momentsOf() takes steps of 15 s to 2 min, longer for many moments", () => {
  const hours = { 0.001: 15, 1: 15, 3: 15, 6: 30, 24: 120, 168: 120, 720: 236 };
  for (const [one, seconds] of Object.entries(hours)) {
    const windowMs = Number(one) * HOUR_MS;
    const { stepMs } = momentsOf({ fromMs: NOW_MS - windowMs, toMs: NOW_MS });
    assert.equal(stepMs, 1000 * seconds, `${one} h`);
  }
});

const windows = fc.double({ min: 1, max: 400 * 24 * HOUR_MS, noNaN: true })
  .map((windowMs) => ({ fromMs: NOW_MS + 781 - Math.ceil(windowMs), toMs: NOW_MS + 781 }));

pure("property 12: momentsOf() lie in (from, to], the last at its end, at most 11,000", () => {
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

function allOf(moments: ReturnType<typeof momentsOf>): number[] {
  return Array.from(
    { length: countMoments(moments) },
    (_, index) => moments.startMs + index * moments.stepMs,
  );
}

pure("splitMoments() has each moment in one part", () => {
  const shortWindows = windows.map(({ fromMs, toMs }) => ({
    fromMs: toMs - ((toMs - fromMs) % HOUR_MS || 1),
    toMs,
  }));
  fc.assert(fc.property(shortWindows, fc.integer({ min: 1, max: 400 }), (window, parts) => {
    const moments = momentsOf(window);
    const split = splitMoments(moments, parts);
    assert.ok(split.length <= parts);
    assert.deepEqual(split.flatMap(allOf), allOf(moments));
  }));
});

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function text(alphabet: string, minLength: number, maxLength: number) {
  return fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
}

function matches(workload: Parameters<typeof podNamePattern>[0], pod: string): boolean {
  return new RegExp(`^(?:${podNamePattern(workload)})$`).test(pod);
}

/** As the API server makes a name of `metadata.generateName`. */
function generated(base: string, end: string): string {
  return base.slice(0, 58) + end;
}

pure("podNamePattern() is the rule of each kind", () => {
  const rules = {
    Deployment: ["web-6d4cf56db6-x2b7z", "web-6-x2b7z"],
    StatefulSet: ["web-0", "web-17"],
    DaemonSet: ["web-x2b7z"],
  };
  const none = [
    ...["web", "web-", "web-a1b2c", "web-6d4cf56db6-x2b7", "web-6d4cf56db6-x2b7ze", "web-01"],
    ...["web-6d4cf56db62-x2b7z", "web-b-6d4cf56db6-x2b7z", "webs-6d4cf56db6-x2b7z", "web--1"],
    ...["my-web-6d4cf56db6-x2b7z", "wxb-0"],
  ];
  for (const pod of [...Object.values(rules).flat(), ...none]) {
    for (const kind of ["Deployment", "StatefulSet", "DaemonSet"] as const) {
      assert.equal(matches({ kind, name: "web" }, pod), rules[kind].includes(pod), pod);
    }
  }
});

pure("podNamePattern() holds for all names that Kubernetes makes, however long, with dots", () => {
  const name = fc.oneof(text(`${LETTERS}-.`, 1, 63), text(LETTERS, 44, 63))
    .filter((one) => /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/.test(one));
  const [hash, random] = [text(SAFE, 1, 10), text(SAFE, 5, 5)];
  fc.assert(
    fc.property(name, hash, random, fc.nat(1000), (name, hash, random, ordinal) => {
      const deployed = generated(`${name}-${hash}-`, random);
      assert.ok(matches({ kind: "Deployment", name }, deployed), deployed);
      assert.ok(matches({ kind: "DaemonSet", name }, generated(`${name}-`, random)));
      assert.ok(matches({ kind: "StatefulSet", name }, `${name}-${ordinal}`));
      // A dot stands for itself.
      const other = `${name.replaceAll(".", "x")}-${ordinal}`;
      assert.equal(matches({ kind: "StatefulSet", name }, other), !name.includes("."));
    }),
  );
});

pure("foreignPodFilter() knows others' pods, and those of the same maker that are gone", () => {
  const isOthers = foreignPodFilter({
    pods: ["web-6d4cf56db6-x2b7z"],
    otherPods: ["web-bcd-x2b7z", "web-6d4cf56db6-bbbbb", "alone"],
  });
  const rows: readonly (readonly [string, boolean])[] = [
    ["web-6d4cf56db6-x2b7z", false],
    ["web-6d4cf56db6-zzzzz", false],
    ["web-55555-zzzzz", false],
    ["web-6d4cf56db6-bbbbb", true],
    ["web-bcd-x2b7z", true],
    ["web-bcd-zzzzz", true],
    ["alone", true],
  ];
  for (const [pod, expected] of rows) assert.equal(isOthers(pod), expected, pod);
});
