import fc from "fast-check";
import assert from "node:assert/strict";
import type { UsageQuestion } from "../ports.ts";
import {
  countMoments,
  createPrometheusUsage,
  momentsOf,
  othersPods,
  podNamePattern,
  type RangeAnswer,
  type RangeQueries,
  splitMoments,
  usageQueries,
} from "./prometheus_usage.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const SAFE = "bcdfghjklmnpqrstvwxz2456789";
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

function text(alphabet: string, lengths: { minLength: number; maxLength: number }) {
  return fc.string({ unit: fc.constantFrom(...alphabet), ...lengths });
}

const random = text(SAFE, { minLength: 5, maxLength: 5 });
const hash = text(SAFE, { minLength: 1, maxLength: 10 });

function matches(workload: Parameters<typeof podNamePattern>[0], pod: string): boolean {
  return new RegExp(`^(?:${podNamePattern(workload)})$`).test(pod);
}

/** As the API server makes a name of `metadata.generateName`. */
function generated(base: string, end: string): string {
  return base.slice(0, 58) + end;
}

test("podNamePattern() is the rule of each kind", () => {
  const web = (kind: "Deployment" | "StatefulSet" | "DaemonSet") => ({ kind, name: "web" });
  const deployment = ["web-6d4cf56db6-x2b7z", "web-6-x2b7z"];
  const statefulSet = ["web-0", "web-17"];
  const daemonSet = ["web-x2b7z"];
  const otherPods = [
    "web",
    "web-",
    "web-a1b2c",
    "web-6d4cf56db6-x2b7",
    "web-6d4cf56db6-x2b7ze",
    "web-6d4cf56db62-x2b7z",
    "web-b-6d4cf56db6-x2b7z",
    "webs-6d4cf56db6-x2b7z",
    "my-web-6d4cf56db6-x2b7z",
    "web-01",
    "web--1",
    "wxb-0",
  ];
  for (const pod of [...deployment, ...statefulSet, ...daemonSet, ...otherPods]) {
    assert.equal(matches(web("Deployment"), pod), deployment.includes(pod), pod);
    assert.equal(matches(web("StatefulSet"), pod), statefulSet.includes(pod), pod);
    assert.equal(matches(web("DaemonSet"), pod), daemonSet.includes(pod), pod);
  }
});

test("podNamePattern() holds for all names that Kubernetes makes, however long, with dots", () => {
  const name = fc.oneof(
    text(`${LETTERS}-.`, { minLength: 1, maxLength: 63 }),
    text(LETTERS, { minLength: 44, maxLength: 63 }),
  ).filter((one) => /^[a-z0-9].*[a-z0-9]$|^[a-z0-9]$/.test(one));
  fc.assert(
    fc.property(name, hash, random, fc.nat(1000), (name, hash, random, ordinal) => {
      const deployed = generated(`${name}-${hash}-`, random);
      assert.ok(matches({ kind: "Deployment", name }, deployed), deployed);
      assert.ok(matches({ kind: "DaemonSet", name }, generated(`${name}-`, random)));
      assert.ok(matches({ kind: "StatefulSet", name }, `${name}-${ordinal}`));
      // A dot is no wildcard.
      const other = `${name.replaceAll(".", "x")}-${ordinal}`;
      assert.equal(matches({ kind: "StatefulSet", name }, other), !name.includes("."));
    }),
  );
});

test("othersPods() knows others' pods, and those of the same maker that are gone", () => {
  const isOthers = othersPods({
    pods: ["web-6d4cf56db6-x2b7z"],
    otherPods: ["web-bcd-x2b7z", "web-6d4cf56db6-bbbbb", "alone"],
  });
  assert.equal(isOthers("web-6d4cf56db6-x2b7z"), false);
  assert.equal(isOthers("web-6d4cf56db6-zzzzz"), false, "gone, of the same ReplicaSet");
  assert.equal(isOthers("web-55555-zzzzz"), false, "gone, of an older ReplicaSet");
  assert.equal(isOthers("web-6d4cf56db6-bbbbb"), true);
  assert.equal(isOthers("web-bcd-x2b7z"), true);
  assert.equal(isOthers("web-bcd-zzzzz"), true, "gone, of the DaemonSet web-bcd");
  assert.equal(isOthers("alone"), true);
});

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

const NEVER = new AbortController().signal;
const START_MS = 1_767_225_600_000;

const WEB_QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: { kind: "StatefulSet", name: "web", uid: "u" },
  pods: ["web-0"],
  otherPods: ["web-7"],
  containers: ["app", "proxy"],
  window: { fromMs: START_MS - 3_600_000, toMs: START_MS },
};

type Asked = Parameters<RangeQueries["ask"]>[0];

/** A source with a server that answers like this, and its queries. */
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
  const answer = await subject.usage(WEB_QUESTION, NEVER);
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
  assert.deepEqual(await nowhere.subject.usage(WEB_QUESTION, NEVER), {
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
  for (const part of ["rate(", "working_set"]) {
    const { subject } = source(({ query }) => query.includes(part) ? problem : { series: [] });
    assert.deepEqual(await subject.usage(WEB_QUESTION, NEVER), problem);
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
      const answer = await subject.usage(WEB_QUESTION, NEVER);
      assert.ok("usage" in answer);
      // One pod, one container: each of the 240 moments came once.
      const { cpu, memory } = answer.usage.get("app") ?? assert.fail();
      assert.deepEqual([cpu.count, memory.count], [240, 240]);
      assert.deepEqual([cpu.oldestMs, cpu.newestMs], [START_MS - 3_585_000, START_MS]);
      const fits = most >= 240 && expected >= 480;
      assert.equal(asked.length === 2, fits, `${asked.length} questions`);
    }),
  );
  const { subject, asked } = source(() => tooMuch);
  const answer = await subject.usage(WEB_QUESTION, NEVER);
  assert.deepEqual(answer, { problem: "unreadable", message: "too long" });
  assert.ok(asked.length < 20, "what can't be answered at all is given up");
});
