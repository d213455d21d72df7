import assert from "node:assert/strict";
import fc from "fast-check";
import type { UsageQuestion } from "../ports.ts";
import { createPrometheusUsage, type RangeAnswer, type RangeQueries } from "./prometheus_usage.ts";
import { countMoments } from "./usage_queries.ts";

const NEVER = new AbortController().signal;
const NOW_MS = 1_767_225_600_000;

const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: { kind: "StatefulSet", name: "web", uid: "u" },
  pods: ["web-0"],
  otherPods: ["web-7"],
  containers: ["app", "proxy"],
  window: { fromMs: NOW_MS - 3_600_000, toMs: NOW_MS },
};

type Asked = Parameters<RangeQueries["ask"]>[0];

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A source whose server answers like this, and what it was asked. */
function source(
  answer: (asked: Asked) => RangeAnswer,
  options: { server?: string | null; pointsPerAnswer?: number } = {},
) {
  const { server = "http://prometheus", ...rest } = options;
  const asked: Asked[] = [];
  const queries: RangeQueries = {
    ask(question) {
      asked.push(question);
      return Promise.resolve(answer(question));
    },
  };
  return { subject: createPrometheusUsage({ queries, server: () => server, ...rest }), asked };
}

/** One point a moment, of this container. */
function everyMoment(question: Asked, labels = { pod: "web-0", container: "app" }) {
  const count = countMoments(question);
  const timesMs = Array.from({ length: count }, (_, at) => question.startMs + at * question.stepMs);
  return { labels, timesMs, values: timesMs.map(() => 0.25) };
}

test("createPrometheusUsage() asks twice, whatever the pods and containers", async () => {
  const { subject, asked } = source((question) => ({
    series: [
      everyMoment(question),
      everyMoment(question, { pod: "web-1", container: "app" }),
      everyMoment(question, { pod: "web-7", container: "app" }),
      everyMoment(question, { pod: "web-0", container: "init" }),
    ],
  }));
  const answer = await subject.usage(QUESTION, NEVER);
  assert.ok("usage" in answer);
  assert.equal(asked.length, 2);
  assert.deepEqual([...answer.usage.keys()], ["app", "proxy"]);
  const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
  assert.deepEqual([cpu.count, memory.count], [480, 480], "of two pods, not of the other's");
  assert.deepEqual([cpu.max, memory.max], [250, 0.25], "millicores, and bytes");
  assert.equal(answer.usage.get("proxy")?.cpu.count, 0);
});

test("createPrometheusUsage() asks nothing without a server, or for no containers", async () => {
  const nowhere = source(() => assert.fail(), { server: null });
  assert.deepEqual(await nowhere.subject.usage(QUESTION, NEVER), {
    problem: "unavailable",
    message: "no metrics.prometheusURL is configured",
  });
  const { subject } = source(() => assert.fail());
  assert.deepEqual(await subject.usage({ ...QUESTION, containers: [] }, NEVER), {
    usage: new Map(),
  });
});

test("createPrometheusUsage() passes problems of either query on", async () => {
  const problem = { problem: "refused", message: "no" } as const;
  for (const word of ["rate(", "working_set"]) {
    const { subject } = source(({ query }) => query.includes(word) ? problem : { series: [] });
    assert.deepEqual(await subject.usage(QUESTION, NEVER), problem);
  }
});

test("createPrometheusUsage() asks for large answers in parts, and halves what is too large still", async () => {
  const tooMuch = { problem: "unreadable", message: "too long", tooMuch: true } as const;
  const most = fc.integer({ min: 2, max: 300 });
  await fc.assert(
    fc.asyncProperty(most, fc.integer({ min: 50, max: 1000 }), async (most, expected) => {
      const { subject, asked } = source(
        (question) => countMoments(question) > most ? tooMuch : { series: [everyMoment(question)] },
        { pointsPerAnswer: expected },
      );
      const answer = await subject.usage(QUESTION, NEVER);
      assert.ok("usage" in answer);
      // One pod, one container: each of the 240 moments came once.
      const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
      assert.deepEqual([cpu.count, memory.count], [240, 240]);
      assert.deepEqual([cpu.oldestMs, cpu.newestMs], [NOW_MS - 3_585_000, NOW_MS]);
      const fits = most >= 240 && expected >= 480;
      assert.equal(asked.length === 2, fits, `${asked.length} questions`);
    }),
  );
  const { subject, asked } = source(() => tooMuch);
  const answer = await subject.usage(QUESTION, NEVER);
  assert.deepEqual(answer, { problem: "unreadable", message: "too long" });
  assert.ok(asked.length < 20, "what can't be answered at all is given up");
});
