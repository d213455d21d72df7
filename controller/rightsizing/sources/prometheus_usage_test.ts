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
import { VERSION } from "../../../shared/version.ts";
import { assertMatches } from "../../../tests/fixtures/assert_matches.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import type { UsageQuery } from "../ports.ts";
import { createCustomUsageSource, type CustomUsageOptions } from "./custom_usage.ts";
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

pure("splitMoments() has each moment in one part", () => {
  const allOf = (moments: ReturnType<typeof momentsOf>): readonly number[] =>
    Array.from({ length: countMoments(moments) }, (_, at) => moments.startMs + at * moments.stepMs);
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

function matches(workload: Parameters<typeof podNamePattern>[0], pod: string): boolean {
  return new RegExp(`^(?:${podNamePattern(workload)})$`).test(pod);
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

pure("podNamePattern() holds for names that Kubernetes cuts, and dots stand for themselves", () => {
  // The server cuts `metadata.generateName` to 58 characters, and adds five.
  const generated = (base: string): string => `${base.slice(0, 58)}x2b7z`;
  for (const length of [1, 44, 46, 47, 48, 55, 56, 57, 58, 63]) {
    const name = "w".repeat(length);
    for (const hash of ["6", "6d4cf56db6"]) {
      assert.ok(matches({ kind: "Deployment", name }, generated(`${name}-${hash}-`)), `${length}`);
    }
    assert.ok(matches({ kind: "DaemonSet", name }, generated(`${name}-`)), `${length}`);
    assert.ok(matches({ kind: "StatefulSet", name }, `${name}-1000`), `${length}`);
  }
  const pods = ["n.x-0", "nyx-0"].map((pod) => matches({ kind: "StatefulSet", name: "n.x" }, pod));
  assert.deepEqual(pods, [true, false]);
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

usageSourceContract("createCustomUsageSource()", () => {
  const server = serveCustomUsage(SERVED_END_MS);
  return servedSource(server, createCustomUsageSource({ url: server.url }));
});

const NEVER = new AbortController().signal;
const ASKED: UsageQuery = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: ["web-a"],
  otherPods: ["secret"],
  containers: ["app", "idle"],
  window: { fromMs: 1000, toMs: 2000 },
};
const ANSWER = {
  version: 1,
  containers: {
    app: { cpuMillicores: [[1500, 120.5], [2000, 0]], memoryBytes: [[1500, 4096]] },
    idle: {},
  },
};

async function ask(
  answer: unknown,
  { question = ASKED, ...options }:
    & Partial<CustomUsageOptions>
    & { question?: UsageQuery } = {},
) {
  await using server = serveCanned(() => answer);
  const source = createCustomUsageSource({ url: `${server.url}/usage`, ...options });
  const answered = await source.usage(question, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown, options: Partial<CustomUsageOptions> = {}) {
  const { answered } = await ask(answer, options);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return [answered.problem, answered.message];
}

Deno.test("createCustomUsageSource() sends the question and reads the samples, as documented", async () => {
  const { answered, requests } = await ask(ANSWER);
  assert.ok("usage" in answered, JSON.stringify(answered));
  const seen = Array.from(answered.usage.values(), ({ cpu, memory, ...rest }) => ({
    ...rest,
    samples: [cpu, memory].map(({ count, min, max, oldestMs, newestMs }) =>
      count === 0 ? [] : [count, min, max, oldestMs, newestMs]
    ),
  }));
  assert.deepEqual(seen, [
    { container: "app", samples: [[2, 0, 120.5, 1500, 2000], [1, 4096, 4096, 1500, 1500]] },
    { container: "idle", samples: [[], []] },
  ]);
  const [request] = requests;
  assert.deepEqual([request?.method, request?.path], ["POST", "/usage"]);
  assert.equal(request?.headers.get("user-agent"), `coallocator-controller/${VERSION}`);
  const { otherPods: _, ...sent } = ASKED;
  assert.deepEqual(request?.body, { version: 1, ...sent });
});

Deno.test("createCustomUsageSource() understands the examples of its document", async () => {
  const page = await Deno.readTextFile("docs/custom-usage-source.md");
  const [asked = "", answer = ""] = Array.from(
    page.matchAll(/```json\n([\s\S]*?)```/g),
    ([, text]) => text ?? "",
  );
  const question: UsageQuery = { ...JSON.parse(asked), otherPods: [] };
  const { answered, requests } = await ask(JSON.parse(answer), { question });
  assert.deepEqual(requests[0]?.body, JSON.parse(asked));
  assert.ok("usage" in answered);
  const { cpu, memory } = answered.usage.get("app") ?? assert.fail();
  assert.deepEqual([cpu.count, memory.count], [2, 2]);
});

Deno.test("createCustomUsageSource() reports a rejected query and a failing server as different problems", async () => {
  const error = (status: number) => Response.json({ error: "no\nsuch" }, { status });
  const rows = [[422, "refused"], [404, "refused"], [503, "unreachable"]] as const;
  for (const [status, problem] of rows) {
    assert.deepEqual(await problemOf(error(status)), [problem, `HTTP ${status}: "no\\nsuch"`]);
  }
  const denied = new Response("no", { status: 401 });
  assert.deepEqual(await problemOf(denied), ["unreachable", "HTTP 401"]);
  assertMatches(await problemOf(ANSWER, { maxBytes: 20 }), [/^unreadable$/, / 20 bytes$/]);
});

Deno.test("createCustomUsageSource() reports which part of an answer is invalid", async () => {
  const [problem, message = ""] = await problemOf({
    containers: { app: { cpuMillicores: [[1, -2]] } },
  });
  assert.equal(problem, "unreadable");
  assert.match(message, /containers\.app\.cpuMillicores\.0\.1/);
  for (const other of ["x", null, {}, { ...ANSWER, version: 2 }, new Response("<html>")]) {
    assert.equal((await problemOf(other))[0], "unreadable");
  }
});

Deno.test("createCustomUsageSource() gives usage or a problem for any answer", async () => {
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const source = createCustomUsageSource({ url: server.url });
  await fc.assert(
    fc.asyncProperty(mutatedJSON(ANSWER), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const answered = await source.usage(ASKED, NEVER);
      if ("problem" in answered) return assert.notEqual(answered.message, "");
      assert.deepEqual([...answered.usage.keys()], ASKED.containers);
      for (const { cpu, memory } of answered.usage.values()) {
        for (const { count, min } of [cpu, memory]) assert.ok(count === 0 || min >= 0);
      }
    }),
  );
});
