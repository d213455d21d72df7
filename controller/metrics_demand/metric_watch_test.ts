import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { DEMAND_QUERY } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { InstantAnswer } from "../../shared/instant_queries.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { newAllocation } from "../allocation/bounds/publish_bounds.ts";
import {
  demandParts,
  type DemandReading,
  demandReading,
  hasMoved,
  isFault,
  type MetricOutcome,
  publishedParts,
} from "./metric_answer.ts";
import type { MetricsConfig } from "./metric_question.ts";
import { createMetricReports, createMetricWatch } from "./metric_watch.ts";
import { queryTableKind } from "./query_template.ts";

const NOW_MS = 1_000_000;
const INTERVAL_MS = 10_000;
const LIFE_MS = 60_000;

type Samples = readonly (readonly [value: number, ageMs: number])[];

function readingOf(...samples: Samples): DemandReading {
  const answer = { samples: samples.map(([value, ageMs]) => ({ value, atMs: NOW_MS - ageMs })) };
  return demandReading(answer, { nowMs: NOW_MS, lifeMs: LIFE_MS });
}

const READINGS: readonly (readonly [Samples, MetricOutcome])[] = [
  [[], "empty"],
  [[[0.5, 1000]], "value"],
  [[[0, 1000]], "value"],
  [[[100_000, 1000]], "value"],
  [[[1, 0], [1, 0]], "ambiguous"],
  [[[NaN, 0]], "unusable"],
  [[[Infinity, 0]], "unusable"],
  [[[-Infinity, 0]], "unusable"],
  [[[-0.001, 0]], "unusable"],
  [[[100_001, 0]], "unusable"],
  [[[1, 59_999]], "value"],
  [[[1, 60_000]], "old"],
];

pure("demandReading() takes one fresh number from 0 on as cores", () => {
  for (const [samples, outcome] of READINGS) {
    const reading = readingOf(...samples);
    assert.equal(reading.kind, outcome, JSON.stringify(samples));
    // Waiting does not help.
    assert.equal(isFault(reading), outcome === "ambiguous" || outcome === "unusable", outcome);
  }
  assert.deepEqual(readingOf([0.5, 1000]), { kind: "value", cores: 0.5, ageMs: 1000 });
  // A clock ahead is no fault.
  assert.deepEqual(readingOf([1, -5000]), { kind: "value", cores: 1, ageMs: 0 });
  const refused = { problem: "refused", message: "no" } as const;
  const read = demandReading(refused, { nowMs: NOW_MS, lifeMs: LIFE_MS });
  assert.deepEqual(read, { kind: "refused", message: "no" });
  const faults = (["refused", "unreachable", "unreadable"] as const).map((kind) =>
    isFault({ kind })
  );
  assert.deepEqual(faults, [true, false, false]);
});

pure("demandParts() divides a pod's cores by request; publishedParts() finds them again", () => {
  const containers = [["app", 300], ["proxy", 100]].map(([name, cpu]) =>
    sampleContainer({ name: String(name), requests: { cpu: Number(cpu) } })
  );
  const pod = samplePod("web", { containers });
  assert.deepEqual([...demandParts(pod, 1.0004)], [["app", 750], ["proxy", 250]]);
  assert.deepEqual([...demandParts(pod, 0)], [["app", 0], ["proxy", 0]]);
  assert.equal(demandParts({ ...pod, containers: [] }, 1).size, 0);
  const allocation = newAllocation({ pod });
  assert.equal(publishedParts(allocation).size, 0);
  const bounds = { containerID: "a", floor: 0, ceiling: 9, weight: 1 };
  const published = [{ ...bounds, name: "app", demand: 5 }, { ...bounds, name: "proxy" }];
  const status = { bounds: { revision: 1, reason: "", containers: published } };
  assert.deepEqual([...publishedParts({ ...allocation, status })], [["app", 5]]);
});

pure("hasMoved() is true from a tenth of the demand on, and from the step of quotas", () => {
  const moves = [[1000, 1100], [1000, 900], [20, 30], [undefined, 10], [10, undefined]] as const;
  for (const [before, now] of moves) assert.equal(hasMoved(before, now), true, `${before} ${now}`);
  // A tenth of 20 would be 2 m.
  const stays = [[1000, 1099], [20, 29], [undefined, 9], [undefined, undefined]] as const;
  for (const [before, now] of stays) assert.equal(hasMoved(before, now), false, `${before} ${now}`);
});

function queries(texts: Readonly<Record<string, string>>): MetricsConfig["queries"] {
  return queryTableKind.parse(JSON.stringify(texts));
}

/** Pods that name queries, and a server that answers as `answer` says, after `delayMs`. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const pods = new Map<string, Pod>();
  const allocations = new Map<string, PodAllocation>();
  const state = {
    ...{ delayMs: 0, underWay: 0, mostUnderWay: 0 },
    answer: (): number | InstantAnswer => 1,
    metrics: {
      queries: queries({ own: 'jobs{p="$pod"}', all: "sum(jobs)" }),
      ...{ server: "http://metrics", intervalMs: INTERVAL_MS, staleAfterMs: LIFE_MS },
    } as MetricsConfig,
  };
  const asked: { readonly atMs: number; readonly query: string }[] = [];
  const changed: string[] = [];
  const outcomes: MetricOutcome[] = [];
  const warnings: string[] = [];
  const watch = createMetricWatch({
    caches: {
      pods: { all: () => pods.values() },
      allocations: { get: (key) => allocations.get(key) },
    },
    ...{ clock, config: state },
    log: { ...silentLog, warn: (message) => void warnings.push(message) },
    source: {
      async ask({ query }, signal): Promise<InstantAnswer> {
        asked.push({ atMs: clock.monotonic(), query });
        state.mostUnderWay = Math.max(state.mostUnderWay, ++state.underWay);
        await clock.sleep(state.delayMs, signal);
        state.underWay--;
        const value = state.answer();
        return typeof value === "number" ? { samples: [{ value, atMs: clock.wall() }] } : value;
      },
    },
    onChange: (...podKeys: readonly string[]) => void changed.push(...podKeys),
    observe: (outcome) => void outcomes.push(outcome),
  });
  const stop = new AbortController();
  let ended: Promise<void> | undefined;
  return {
    ...{ state, allocations, asked, changed, outcomes, warnings, watch },
    put(name: string, query: string, managed = true): void {
      const sample = samplePod(name, { containers: [sampleContainer()] });
      const metadata = { ...sample.metadata, uid: name, annotations: { [DEMAND_QUERY]: query } };
      pods.set(name, { ...sample, metadata });
      if (managed) allocations.set(`shop/${name}`, newAllocation({ pod: { ...sample, metadata } }));
    },
    /** The fact of a pod; its absent fields are those of other kinds of facts. */
    of(name: string):
      | Partial<Record<"demand" | "source" | "untilMs" | "missing" | "ignored", unknown>>
      | undefined {
      const [pod, allocation] = [pods.get(name), allocations.get(`shop/${name}`)];
      assert.ok(pod !== undefined && allocation !== undefined);
      return watch.answerFor(pod, allocation);
    },
    queries: () => asked.map(({ query }) => query),
    /** Goes on to a time, ms; the first call begins. */
    async at(ms: number): Promise<void> {
      ended ??= watch.run(stop.signal);
      await clock.runUntil(ms);
    },
    async end(): Promise<void> {
      stop.abort();
      await clock.runUntil(clock.monotonic() + 1);
      await ended;
    },
  };
}

function watchTest(name: string, check: (scene: ReturnType<typeof stage>) => Promise<void>): void {
  pure(name, async () => {
    const scene = stage();
    await check(scene);
    await scene.end();
  });
}

watchTest("run() asks each query once an interval, however many pods name it", async (scene) => {
  const { asked, changed, put, of, at } = scene;
  const named = [["a", "all"], ["b", "all"], ["c", "own"], ["lost", "no-such"]] as const;
  for (const [name, query] of named) put(name, query);
  put("other", "own", false);
  await at(INTERVAL_MS - 1);
  assert.deepEqual(scene.queries().sort(), ['jobs{p="c"}', "sum(jobs)"]);
  assert.deepEqual(changed.sort(), ["shop/a", "shop/b", "shop/c"]);
  await at(INTERVAL_MS);
  assert.deepEqual([asked.length, changed.length], [4, 3]);
  const { demand, untilMs, source } = of("b") ?? {};
  assert.deepEqual([demand, untilMs], [1, INTERVAL_MS + LIFE_MS]);
  assert.match(String(source), / all .* 1 /);
  assert.ok("ignored" in (of("lost") ?? {}));
});

watchTest("run() has few queries under way, and begins with the oldest", async (scene) => {
  const { state, asked, warnings, put, at } = scene;
  for (let i = 0; i < 30; i++) put(`pod-${i}`, "own");
  state.delayMs = 1000;
  await at(8500);
  assert.deepEqual([asked.length, state.mostUnderWay, warnings], [30, 4, []]);
  state.delayMs = 3000;
  await at(60_000);
  // 24 s a round, and a pause of 1 s: all were asked again before any was asked a third time.
  assert.equal(new Set(scene.queries().slice(30, 60)).size, 30);
  assertMatches(warnings, [/metrics\.interval/]);
});

watchTest("run() gives a round up without an answer, and begins with others", async (scene) => {
  const { state, outcomes, warnings, put, at } = scene;
  for (let i = 0; i < 30; i++) put(`pod-${i}`, "own");
  state.delayMs = 1000;
  state.answer = () => ({ problem: "unreachable", message: "refused" });
  await at(INTERVAL_MS - 1);
  const first = scene.queries();
  assert.ok(first.length >= 3 && first.length < 8, `${first.length}`);
  assert.deepEqual(new Set(outcomes), new Set(["unreachable"]));
  await at(2 * INTERVAL_MS - 1);
  const second = scene.queries().slice(first.length);
  assert.ok(second.length >= 3);
  assert.deepEqual(second.filter((query) => first.includes(query)), []);
  assertMatches(warnings, [/^Prometheus /]);
});

watchTest("of() does not hasten rounds for queries that were not reached", async (scene) => {
  const { state, asked, put, of, at } = scene;
  for (let i = 0; i < 30; i++) put(`pod-${i}`, "own");
  state.answer = () => ({ problem: "unreachable", message: "refused" });
  for (let ms = 0; ms < 3 * INTERVAL_MS; ms += 500) {
    for (let i = 0; i < 30; i++) of(`pod-${i}`);
    await at(ms);
  }
  assert.deepEqual([...new Set(asked.map(({ atMs }) => atMs))], [0, 10_000, 20_000]);
});

watchTest("run() takes any number of queries", async (scene) => {
  for (let i = 0; i < 150_000; i++) scene.put(`pod-${i}`, "own");
  scene.state.delayMs = 1000;
  await scene.at(0);
  // The round under way computes when the next one would be due.
  await scene.end();
});

watchTest("wake() asks at once, by the settings of that moment", async (scene) => {
  const { state, put, of, watch, at } = scene;
  put("a", "all");
  await at(1000);
  state.metrics = { ...state.metrics, queries: queries({ all: "max(jobs)" }) };
  assert.equal(of("a"), undefined, "another query, of which nothing is known");
  watch.wake();
  await at(1001);
  assert.deepEqual(scene.queries(), ["sum(jobs)", "max(jobs)"]);
  state.metrics = { ...state.metrics, server: null };
  assert.match(String(of("a")?.ignored), /no metrics.prometheus/);
  await at(100_000);
  assert.equal(scene.asked.length, 2, "without an address nothing is asked");
});

watchTest("of() has a new query asked soon, the others when their time has come", async (scene) => {
  const { asked, put, of, at } = scene;
  put("a", "own");
  await at(5000);
  for (const name of ["b", "c"]) {
    put(name, "own");
    assert.equal(of(name), undefined);
  }
  await at(5001);
  assert.deepEqual(scene.queries(), ["a", "b", "c"].map((name) => `jobs{p="${name}"}`));
  await at(14_999);
  assert.deepEqual(asked.slice(3), [{ atMs: 10_000, query: 'jobs{p="a"}' }]);
  await at(15_000);
  assert.deepEqual(asked.slice(4).map(({ atMs }) => atMs), [15_000, 15_000]);
});

watchTest("run() informs pods of values that move and of problems, each once", async (scene) => {
  const { state, changed, put, of, at } = scene;
  put("a", "all");
  const [gone, empty] = [{ problem: "unreachable", message: "gone" }, { samples: [] }] as const;
  // Against what was published, not the last value; a problem counts once the value is stale.
  const steps = [[1, 1], [1.05, 1], [1.09, 1], [1.1, 2], [NaN, 2], [gone, 2], [empty, 2]] as const;
  for (const [index, [answer, count]] of steps.entries()) {
    state.answer = () => answer;
    await at(index * INTERVAL_MS + 1);
    assert.equal(changed.length, count, `step ${index}`);
  }
  // The last value came at 30 s.
  await at(89_999);
  assert.deepEqual(of("a")?.untilMs, 90_000);
  await at(90_001);
  assert.match(String(of("a")?.missing), /^query all: .* nothing$/);
  assert.deepEqual([of("a"), changed.length], [{ missing: of("a")?.missing, fault: false }, 3]);
  const later = [[empty, 3], [NaN, 4], [1.1, 5]] as const;
  for (const [index, [answer, count]] of later.entries()) {
    state.answer = () => answer;
    await at(100_001 + index * INTERVAL_MS);
    assert.equal(changed.length, count, `later step ${index}`);
  }
  // A query that no pod names is forgotten: asked again, it is a new one.
  put("a", "own");
  await at(140_000);
  put("a", "all");
  assert.equal(of("a"), undefined);
});

watchTest("of() goes on with what was published, until a value or for its time", async (scene) => {
  const { state, allocations, put, of, at } = scene;
  put("a", "all");
  assert.equal(of("a"), undefined);
  const app = { name: "app", containerID: "x", floor: 1, ceiling: 9, weight: 1, demand: 700 };
  const status = { bounds: { revision: 1, reason: "", containers: [app] } };
  for (const [key, one] of allocations) allocations.set(key, { ...one, status });
  const kept = of("a");
  assert.deepEqual([kept?.demand, kept?.untilMs], [new Map([["app", 700]]), LIFE_MS]);
  state.answer = () => ({ problem: "unreachable", message: "refused" });
  await at(LIFE_MS - 1);
  assert.deepEqual(of("a"), { ...kept, untilMs: LIFE_MS });
  await at(LIFE_MS);
  assert.deepEqual(of("a"), { missing: "query all: refused", fault: false });
});

watchTest("run() ends when it is called off, and notes nothing under way", async (scene) => {
  scene.put("a", "all");
  scene.state.delayMs = 5000;
  await scene.at(1000);
  await scene.end();
  assert.deepEqual([scene.changed, scene.outcomes], [[], []]);
});

pure("createMetricReports() reports each problem once, and again when it has lasted", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const lines: string[] = [];
  const put = (level: string) => (_message: string, fields: object = {}): void =>
    void lines.push([level, ...Object.values(fields)].join("|"));
  const log: Log = { ...silentLog, info: put("info"), warn: put("warn") };
  const { answered, late } = createMetricReports({ log, clock });
  const about = (reading: DemandReading, ...names: readonly string[]): readonly string[] => {
    for (const name of names) answered({ server: "http://s", name, query: "up" }, reading);
    return lines.splice(0);
  };
  const gone = { kind: "unreachable", message: "refused" } as const;
  const several = { kind: "ambiguous", message: "several" } as const;
  const silent = "warn|http://s|refused";
  assert.deepEqual(about({ kind: "value", cores: 1, ageMs: 0 }, "web"), []);
  assert.deepEqual(about(gone, "web", "jobs", "web"), [silent]);
  const [web, jobs] = ["web", "jobs"].map((name) => `warn|${name}|ambiguous|several`);
  assert.deepEqual(about(several, "web", "web", "jobs"), ["info|http://s", web, jobs]);
  assert.deepEqual(about(gone, "web"), [silent]);
  await clock.runUntil(600_000);
  for (const tookMs of [20_000.4, 20_000]) late({ questions: 7, tookMs });
  assert.deepEqual(about(several, "jobs"), ["warn|7|20000", "info|http://s", jobs]);
});
