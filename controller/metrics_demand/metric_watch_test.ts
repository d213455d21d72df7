import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { newAllocation } from "../allocation/bounds/publish_bounds.ts";
import type { DemandReading, MetricOutcome } from "./metric_fact.ts";
import type { MetricsConfig } from "./metric_question.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import { createMetricReports, createMetricWatch, type MetricWatch } from "./metric_watch.ts";
import type { InstantAnswer } from "./ports.ts";
import { readQueryTemplate } from "./query_template.ts";

const INTERVAL_MS = 10_000;
const LIFE_MS = 60_000;

function queries(texts: Readonly<Record<string, string>>): MetricsConfig["queries"] {
  return new Map(
    Object.entries(texts).map(([name, text]) => {
      const template = readQueryTemplate(text);
      assert.ok("parts" in template);
      return [name, template];
    }),
  );
}

interface Asked {
  readonly atMs: number;
  readonly query: string;
}

/** Pods that name queries, and a server that answers as `answer` says, after `delayMs`. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const pods = new Map<string, Pod>();
  const allocations = new Map<string, PodAllocation>();
  const state = {
    delayMs: 0,
    underWay: 0,
    mostUnderWay: 0,
    answer: (_query: string): number | InstantAnswer => 1,
    metrics: {
      server: "http://metrics",
      queries: queries({ own: 'jobs{p="$pod"}', all: "sum(jobs)" }),
      intervalMs: INTERVAL_MS,
      staleAfterMs: LIFE_MS,
    } as MetricsConfig,
  };
  const asked: Asked[] = [];
  const changed: string[] = [];
  const outcomes: MetricOutcome[] = [];
  const warnings: string[] = [];
  const newWatch = (): MetricWatch =>
    createMetricWatch({
      caches: {
        pods: { all: () => pods.values() },
        allocations: { get: (key) => allocations.get(key) },
      },
      clock,
      log: { ...silentLog, warn: (message) => void warnings.push(message) },
      config: state,
      source: {
        async ask({ query }, signal): Promise<InstantAnswer> {
          asked.push({ atMs: clock.monotonic(), query });
          state.mostUnderWay = Math.max(state.mostUnderWay, ++state.underWay);
          await clock.sleep(state.delayMs, signal);
          state.underWay--;
          const value = state.answer(query);
          return typeof value === "number" ? { samples: [{ value, atMs: clock.wall() }] } : value;
        },
      },
      onChange: (podKey) => void changed.push(podKey),
      observe: (outcome) => void outcomes.push(outcome),
    });
  const put = (name: string, query: string, managed = true): void => {
    const sample = samplePod(name, { containers: [sampleContainer()] });
    const metadata = { ...sample.metadata, uid: name, annotations: { [DEMAND_QUERY]: query } };
    pods.set(name, { ...sample, metadata });
    if (managed) allocations.set(`shop/${name}`, newAllocation({ pod: { ...sample, metadata } }));
  };
  const of = (watch: MetricWatch, name: string) => {
    const pod = pods.get(name);
    const allocation = allocations.get(`shop/${name}`);
    assert.ok(pod !== undefined && allocation !== undefined);
    return watch.of(pod, allocation);
  };
  return { clock, state, allocations, asked, changed, outcomes, warnings, newWatch, put, of };
}

type Stage = ReturnType<typeof stage>;

/** Runs the watch during the test. */
function watchTest(
  name: string,
  check: (
    subject: Stage & { watch: MetricWatch; at: (ms: number) => Promise<void> },
  ) => Promise<void>,
): void {
  Deno.test({
    name,
    permissions: "none",
    async fn() {
      const subject = stage();
      const { clock } = subject;
      const watch = subject.newWatch();
      const stop = new AbortController();
      const ended: Promise<void>[] = [];
      const at = async (ms: number): Promise<void> => {
        if (ended.length === 0) ended.push(watch.run(stop.signal));
        await clock.runUntil(ms);
      };
      try {
        await check({ ...subject, watch, at });
      } finally {
        stop.abort();
        await clock.runUntil(clock.monotonic() + 1);
        await Promise.all(ended);
      }
    },
  });
}

watchTest(
  "run() asks each question once an interval, however many pods it is about",
  async (subject) => {
    const { asked, changed, put, of, watch, at } = subject;
    put("a", "all");
    put("b", "all");
    put("c", "own");
    put("other", "own", false);
    put("lost", "no-such-query");
    await at(INTERVAL_MS - 1);
    assert.deepEqual(asked.map(({ query }) => query).sort(), ['jobs{p="c"}', "sum(jobs)"]);
    assert.deepEqual(changed.sort(), ["shop/a", "shop/b", "shop/c"]);
    await at(INTERVAL_MS);
    assert.equal(asked.length, 4);
    assert.equal(changed.length, 3, "nothing new");
    const fact = of(watch, "b");
    assert.ok(fact !== undefined && "demand" in fact);
    assert.equal(fact.demand, 1);
    assert.equal(fact.untilMs, INTERVAL_MS + LIFE_MS);
    assert.match(fact.source, / all .* 1 /);
    const lost = of(watch, "lost");
    assert.ok(lost !== undefined && "ignored" in lost);
  },
);

watchTest(
  "run() has few questions under way, and begins with those that waited longest",
  async (subject) => {
    const { state, asked, warnings, put, at } = subject;
    for (let i = 0; i < 30; i++) put(`pod-${i}`, "own");
    state.delayMs = 1000;
    await at(8500);
    assert.equal(asked.length, 30);
    assert.equal(state.mostUnderWay, 4);
    assert.deepEqual(warnings, []);
    state.delayMs = 3000;
    await at(60_000);
    // 24 s a round, and a pause of 1 s: all were asked again before any was asked a third time.
    const second = asked.slice(30, 60).map(({ query }) => query);
    assert.equal(new Set(second).size, 30);
    assertMatches(warnings, [/metrics\.interval/]);
  },
);

watchTest(
  "run() gives a round up without an answer, and tries others first in the next",
  async (subject) => {
    const { state, asked, outcomes, warnings, put, at } = subject;
    for (let i = 0; i < 30; i++) put(`pod-${i}`, "own");
    state.delayMs = 1000;
    state.answer = () => ({ problem: "unreachable", message: "refused" });
    await at(INTERVAL_MS - 1);
    const first = asked.map(({ query }) => query);
    assert.ok(first.length >= 3 && first.length < 8, `${first.length}`);
    assert.ok(outcomes.every((outcome) => outcome === "unreachable"));
    await at(2 * INTERVAL_MS - 1);
    const second = asked.slice(first.length).map(({ query }) => query);
    assert.ok(second.length >= 3);
    assert.deepEqual(second.filter((query) => first.includes(query)), []);
    assertMatches(warnings, [/^Prometheus /]);
  },
);

watchTest("wake() asks at once, by the settings of that moment", async (subject) => {
  const { state, asked, put, of, watch, at } = subject;
  put("a", "all");
  await at(1000);
  state.metrics = { ...state.metrics, queries: queries({ all: "max(jobs)" }) };
  assert.equal(of(watch, "a"), undefined, "another question, of which nothing is known");
  watch.wake();
  await at(1001);
  assert.deepEqual(asked.map(({ query }) => query), ["sum(jobs)", "max(jobs)"]);
  state.metrics = { ...state.metrics, server: null };
  const fact = of(watch, "a");
  assert.match(
    fact !== undefined && "ignored" in fact ? fact.ignored : "",
    /no metrics.prometheus/,
  );
  await at(100_000);
  assert.equal(asked.length, 2, "without an address nothing is asked");
});

watchTest(
  "of() has a new question asked soon, and the others when their time has come",
  async (subject) => {
    const { asked, put, of, watch, at } = subject;
    put("a", "own");
    await at(5000);
    put("b", "own");
    put("c", "own");
    assert.deepEqual([of(watch, "b"), of(watch, "c")], [undefined, undefined]);
    await at(5001);
    assert.deepEqual(asked.map(({ query }) => query), [
      'jobs{p="a"}',
      'jobs{p="b"}',
      'jobs{p="c"}',
    ]);
    await at(14_999);
    assert.deepEqual(asked.slice(3), [{ atMs: 10_000, query: 'jobs{p="a"}' }]);
    await at(15_000);
    assert.deepEqual(asked.slice(4).map(({ atMs }) => atMs), [15_000, 15_000]);
  },
);

watchTest("run() informs pods of values that move and of problems, each once", async (subject) => {
  const { state, changed, put, of, watch, at } = subject;
  put("a", "all");
  const steps: readonly (readonly [number | InstantAnswer, number])[] = [
    [1, 1],
    [1.05, 1],
    [1.2, 2],
    [NaN, 2],
    [{ samples: [] }, 2],
  ];
  for (const [index, [answer, count]] of steps.entries()) {
    state.answer = () => answer;
    await at(index * INTERVAL_MS + 1);
    assert.equal(changed.length, count, `step ${index}`);
  }
  // The last value came at 20 s.
  await at(79_000);
  assert.ok("demand" in (of(watch, "a") ?? {}));
  await at(80_001);
  const missing = of(watch, "a");
  assert.ok(missing !== undefined && "missing" in missing);
  assert.equal(missing.fault, false);
  assert.match(missing.missing, /^query all: .* nothing$/);
  assert.equal(changed.length, 3);
});

Deno.test({
  name: "of() goes on with what was published, until the first value or for its time",
  permissions: "none",
  async fn() {
    const subject = stage();
    const { clock, state, allocations, newWatch, put, of } = subject;
    put("a", "all");
    const watch = newWatch();
    assert.equal(of(watch, "a"), undefined);
    const allocation = allocations.get("shop/a");
    assert.ok(allocation !== undefined);
    const app = { name: "app", containerID: "x", floor: 1, ceiling: 9, weight: 1, demand: 700 };
    const status = { bounds: { revision: 1, reason: "", containers: [app] } };
    allocations.set("shop/a", { ...allocation, status });
    const kept = of(watch, "a");
    assert.ok(kept !== undefined && "demand" in kept);
    assert.deepEqual([kept.demand, kept.untilMs], [new Map([["app", 700]]), LIFE_MS]);
    state.answer = () => ({ problem: "unreachable", message: "refused" });
    const stop = new AbortController();
    const run = watch.run(stop.signal);
    await clock.runUntil(LIFE_MS - 1);
    assert.deepEqual(of(watch, "a"), { ...kept, untilMs: LIFE_MS });
    await clock.runUntil(LIFE_MS);
    assert.deepEqual(of(watch, "a"), { missing: "query all: refused", fault: false });
    stop.abort();
    await clock.runUntil(LIFE_MS + 1);
    await run;
  },
});

Deno.test({
  name: "run() ends when it is called off, and notes nothing of what was under way",
  permissions: "none",
  async fn() {
    const { clock, state, changed, outcomes, newWatch, put } = stage();
    put("a", "all");
    state.delayMs = 5000;
    const stop = new AbortController();
    const run = newWatch().run(stop.signal);
    await clock.runUntil(1000);
    stop.abort();
    await clock.runUntil(1001);
    await run;
    assert.deepEqual([changed, outcomes], [[], []]);
  },
});

Deno.test({
  name: "createMetricReports() reports each matter once, and again when it has lasted",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const lines: string[] = [];
    const put = (level: string) => (_message: string, fields: object = {}): void =>
      void lines.push([level, ...Object.values(fields)].join("|"));
    const log: Log = {
      debug: put("debug"),
      info: put("info"),
      warn: put("warn"),
      error: put("error"),
    };
    const { answered, late } = createMetricReports({ log, clock });
    const about = (name: string, reading: DemandReading): void =>
      answered({ server: "http://s", name, query: "up" }, reading);
    const gone = { kind: "unreachable", message: "refused" } as const;
    const several = { kind: "ambiguous", message: "several" } as const;
    const taken = (): string[] => lines.splice(0);

    about("web", { kind: "value", cores: 1, ageMs: 0 });
    assert.deepEqual(taken(), []);
    for (const name of ["web", "jobs", "web"]) about(name, gone);
    assert.deepEqual(taken(), ["warn|http://s|refused"]);
    for (const name of ["web", "web", "jobs"]) about(name, several);
    assert.deepEqual(taken(), [
      "info|http://s",
      "warn|web|ambiguous|several",
      "warn|jobs|ambiguous|several",
    ]);
    about("web", gone);
    assert.deepEqual(taken(), ["warn|http://s|refused"]);
    await clock.runUntil(600_000);
    late({ questions: 7, tookMs: 20_000.4 });
    late({ questions: 7, tookMs: 20_000 });
    about("jobs", several);
    assert.deepEqual(taken(), [
      "warn|7|20000",
      "info|http://s",
      "warn|jobs|ambiguous|several",
    ]);
  },
});
