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
} from "../../../tests/contract/usage_source_contract.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { servePrometheusStandIn } from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import type { UsageQuestion } from "../ports.ts";
import { countMoments } from "./moments.ts";
import { createPrometheusUsageSource, usageQueries } from "./prometheus_usage.ts";

for (const mostBytes of [1_000_000, 4000]) {
  usageSourceContract(`createPrometheusUsageSource() in answers of ${mostBytes} bytes`, () => {
    const server = servePrometheusStandIn(SERVED_END_MS);
    const subject = createPrometheusUsageSource({
      queries: createRangeQueries({ program: "test", mostBytes }),
      server: () => server.url,
      matchers: () => [],
    });
    return servedSource(server, subject);
  });
}

const HOUR_MS = 3_600_000;
const NOW_MS = 1_767_225_600_000;
const QUESTION: UsageQuestion = {
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
