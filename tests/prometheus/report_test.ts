/**
 * `kubectl coalloc report` from what a real Prometheus has of the programs' own metrics: their own code
 * serves them at each scrape.
 *
 * @module
 */
import assert from "node:assert/strict";
import { registerProgramMetrics } from "../../adapters/program_server.ts";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import type { Participant } from "../../agent/market/participants.ts";
import type { ContainerResult } from "../../agent/market/round.ts";
import { createAgentMetrics } from "../../agent/reporting/metrics.ts";
import type { ReportView } from "../../cli/coalloc/report/report_view.ts";
import { runCoalloc } from "../../cli/coalloc/run_coalloc.ts";
import { createControllerMetrics } from "../../controller/metrics.ts";
import type { ControllerSettings } from "../../controller/settings.ts";
import type { NodeView, PodView } from "../../shared/view/node_view.ts";
import { addMarketPod, coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sampleNodeView, samplePodView } from "../fixtures/cli/node_views.ts";
import { serveMetrics, startPrometheus, withoutPrometheus } from "./own_prometheus.ts";
import { Registry } from "prom-client";

/** The target's metrics at a time, ms since 1970. */
interface Scrape {
  readonly atMs: number;
  readonly text: string;
}

interface RecordedTarget {
  readonly labels: Readonly<Record<string, string>>;
  readonly scrapes: readonly Scrape[];
}

/** OpenMetrics text with times, for `promtool tsdb create-blocks-from`; without histograms. */
function recordedText(targets: readonly RecordedTarget[]): string {
  const families = new Map<string, { readonly type: string; readonly lines: string[] }>();
  for (const { labels, scrapes } of targets) {
    const own = Object.entries(labels).map(([name, value]) => `${name}="${value}"`).join(",");
    for (const { atMs, text } of scrapes) {
      const types = new Map(
        text.matchAll(/^# TYPE (\w+) (\w+)$/gm).map(([, name = "", type = ""]) => [name, type]),
      );
      for (const [, name = "", served, value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
        const type = types.get(name);
        if (type !== "gauge" && type !== "counter") continue;
        const family = families.get(name) ?? { type, lines: [] };
        families.set(name, family);
        const all = served === undefined ? own : `${served},${own}`;
        family.lines.push(`${name}{${all}} ${value === "Nan" ? "NaN" : value} ${atMs / 1000}`);
      }
    }
  }
  const parts = [...families].flatMap(([name, { type, lines }]) => [
    `# TYPE ${type === "counter" ? name.replace(/_total$/, "") : name} ${type}`,
    ...lines,
  ]);
  return [...parts, "# EOF", ""].join("\n");
}

/** A pod as its agent has it, and how long it was throttled since the agent sees it. */
interface ServedPod {
  readonly name: string;
  readonly usage: number;
  readonly original: number;
  readonly throttledMs: number;
}

/** An agent that began at that time. */
function recordedAgent(startedAtMs: number): {
  /** Its metrics at that time for these pods; the node's CPU was scarce for so long, ms. */
  at(atMs: number, pods: readonly ServedPod[], scarceMs: number): Promise<Scrape>;
} {
  const registry = new Registry();
  registerProgramMetrics(registry, { program: "agent", startedAtMs });
  let view: NodeView | undefined;
  const metrics = createAgentMetrics({ registry, view: () => view });
  let scarceBefore = 0;
  return {
    async at(atMs, pods, scarceMs) {
      view = sampleNodeView(pods.map(viewOf));
      // A round begins the scarcity and one ends it.
      const lengths = [0, scarceMs - scarceBefore];
      for (const [index, now] of lengths.entries()) {
        metrics.cleared({
          now,
          nodeState: { state: index === 0 ? "scarce" : "ample", since: 0 },
          containers: pods.map(resultOf),
        }, 1);
      }
      scarceBefore = scarceMs;
      return { atMs, text: await registry.metrics() };
    },
  };
}

function viewOf({ name, usage, original: originalLimit }: ServedPod): PodView {
  return { ...samplePodView(name), usage, originalLimit };
}

function resultOf({ name, throttledMs }: ServedPod): ContainerResult {
  const participant = { containerID: name, allocation: { spec: { podUID: name } } } as Participant;
  return { participant, state: { throttledMs }, from: 0, limit: 0 } as unknown as ContainerResult;
}

/** A controller that began at that time. */
function recordedController(startedAtMs: number, leads: boolean): {
  /** Its metrics at that time, with so many resizes since the last scrape. */
  at(atMs: number, resizes?: readonly string[]): Promise<Scrape>;
} {
  const registry = new Registry();
  registerProgramMetrics(registry, { program: "controller", startedAtMs });
  const metrics = createControllerMetrics(registry, {
    allocations: () => [],
    synced: () => [],
    settings: () => ({ market: true, dryRun: false }) as ControllerSettings,
    settingsValid: () => true,
  });
  metrics.leads(leads);
  return {
    async at(atMs, resizes = []) {
      for (const outcome of resizes) {
        metrics.resized({
          ...{ reason: "Throttled", restoring: false },
          outcome: outcome as "accepted" | "refused",
        });
      }
      return { atMs, text: await registry.metrics() };
    },
  };
}

const MINUTE = 60_000;
const CLUSTER_A = { cluster: "a", job: "agents" };

/** The programs' last minutes, all of them at rest for the first and last three. */
interface Story {
  /** Minutes of history, collected once in each. @default {180} */
  readonly minutes?: number;
  /** Minutes before the end in which nothing was collected. @default {[], none} */
  readonly gap?: readonly [from: number, to: number];
}

/** Linear from 0 at `from` to `all` at `to`, minutes before the end. */
function grown(before: number, [from, to]: readonly [number, number], all: number): number {
  return all * Math.min(1, Math.max(0, (from - before) / (from - to)));
}

/**
 * A node with two pods. `front` is throttled for 30 s in the last hour, 12 s in the hour before, and
 * uses 300 m more than its original limit for half of the last hour. `gone` uses 100 m more for a
 * quarter of it and ends then. The agent begins anew half an hour before the end.
 */
async function agentOfA(moments: readonly Moment[], endMs: number): Promise<RecordedTarget[]> {
  const scrapes: [Scrape[], Scrape[]] = [[], []];
  const restartAt = 30;
  const agents = [
    recordedAgent(endMs - 400 * MINUTE),
    recordedAgent(endMs - restartAt * MINUTE),
  ] as const;
  for (const { atMs, before } of moments) {
    const life = before >= restartAt ? 0 : 1;
    const throttledMs = life === 0
      ? grown(before, [115, 65], 12_000) + grown(before, [55, 33], 18_000)
      : grown(before, [27, 5], 12_000);
    const front = { name: "front", original: 200, usage: before < 30 ? 500 : 100, throttledMs };
    const gone = { name: "gone", original: 200, usage: 300, throttledMs: 0 };
    const pods = before < 60 && before >= 45 ? [front, gone] : [front];
    const scarceMs = life === 0 ? grown(before, [55, 33], 120_000) : 0;
    scrapes[life].push(await agents[life].at(atMs, pods, scarceMs));
  }
  return scrapes.map((scrapes, index) => ({
    labels: { ...CLUSTER_A, instance: `agent-${index}` },
    scrapes,
  }));
}

/**
 * The first leader has made 40 changes before it is first collected and makes 3 in the last hour;
 * another one leads from then on, with 5 changes within a minute, and 2 refusals. A follower serves
 * none.
 */
async function controllersOfA(
  moments: readonly Moment[],
  endMs: number,
): Promise<RecordedTarget[]> {
  const first = recordedController(endMs - 400 * MINUTE, true);
  const second = recordedController(endMs - 29 * MINUTE, true);
  const follower = recordedController(endMs - 400 * MINUTE, false);
  const scrapes: Record<"first" | "second" | "follower", Scrape[]> = {
    ...{ first: [], second: [], follower: [] },
  };
  const accepted = (count: number): readonly string[] => Array(count).fill("accepted");
  let begun = false;
  for (const { atMs, before } of moments) {
    if (before >= 30) {
      const changes = accepted(begun ? before === 40 ? 3 : 0 : 40);
      begun = true;
      scrapes.first.push(await first.at(atMs, changes));
    } else {
      const changes = before === 28 ? [...accepted(5), "refused", "refused"] : [];
      scrapes.second.push(await second.at(atMs, changes));
    }
    scrapes.follower.push(await follower.at(atMs));
  }
  return Object.entries(scrapes).map(([instance, scrapes]) => ({
    labels: { cluster: "a", job: "controllers", instance },
    scrapes,
  }));
}

/** Containers of `shop` as two jobs collect the same kubelet; one restarts. */
function kubeletOfA(moments: readonly Moment[]): RecordedTarget[] {
  const counters = (id: string, cpu: number, throttled: number): string =>
    `# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{namespace="shop",pod="front",container="app",id="${id}"} ${cpu}
container_cpu_usage_seconds_total{namespace="shop",pod="front",container="",id="/pod"} ${9 * cpu}
# TYPE container_cpu_cfs_throttled_seconds_total counter
container_cpu_cfs_throttled_seconds_total{namespace="shop",pod="front",container="app",id="${id}"} ${throttled}
`;
  const scrapes = moments.map(({ atMs, before }) => {
    const text = before >= 30
      ? counters(
        "/one",
        grown(before, [115, 65], 3600) + grown(before, [55, 33], 900),
        grown(before, [115, 65], 500) + grown(before, [55, 33], 40),
      )
      : counters("/two", grown(before, [27, 5], 900), grown(before, [27, 5], 10));
    return { atMs, text };
  });
  return ["cadvisor", "kubelet"].map((job) => ({
    labels: { cluster: "a", job, instance: "node-1:10250" },
    scrapes,
  }));
}

/** Another cluster with pods of the same names. */
async function clusterB(moments: readonly Moment[], endMs: number): Promise<RecordedTarget[]> {
  const agent = recordedAgent(endMs - 400 * MINUTE);
  const controller = recordedController(endMs - 400 * MINUTE, true);
  const scrapes: [Scrape[], Scrape[]] = [[], []];
  for (const { atMs, before } of moments) {
    const throttledMs = 1000 * (1000 - before);
    const pods = [{ name: "front", usage: 4000, original: 100, throttledMs }];
    scrapes[0].push(await agent.at(atMs, pods, 0));
    scrapes[1].push(await controller.at(atMs, ["accepted"]));
  }
  return scrapes.map((scrapes, index) => ({
    labels: { cluster: "b", job: index === 0 ? "agents" : "controllers", instance: "b" },
    scrapes,
  }));
}

interface Moment {
  readonly atMs: number;
  /** Minutes before the end. */
  readonly before: number;
}

/** Runs the command on the last hour beside a Prometheus with this story; `-o` and more are flags. */
async function withReports(
  { minutes = 180, gap = [-1, -1] }: Story,
  check: (
    report: (...flags: string[]) => Promise<readonly [code: number, out: string]>,
  ) => Promise<void>,
): Promise<void> {
  const endMs = MINUTE * Math.floor(systemClock.wall() / MINUTE);
  const moments = Array.from({ length: minutes + 1 }, (_, index) => {
    const before = minutes - index;
    return { before, atMs: endMs - before * MINUTE };
  }).filter(({ before }) => before > gap[0] || before < gap[1]);
  const targets = [
    ...await agentOfA(moments, endMs),
    ...await controllersOfA(moments, endMs),
    ...kubeletOfA(moments),
    ...await clusterB(moments, endMs),
  ];
  await using exporter = serveMetrics();
  await using prometheus = await startPrometheus({
    target: exporter.address,
    history: recordedText(targets),
  });
  const scene = coallocScene();
  addMarketPod(scene, "front", { limit: 450, own: 200 });
  const world = {
    ...scene.world,
    queryRange: createRangeQueries({ program: "test" }).ask,
    clock: { ...scene.clock, wall: () => endMs },
  };
  await check(async (...flags) => {
    scene.out = scene.err = "";
    const line = ["report", "-A", "--since", "1h", "--prometheus", prometheus.url, ...flags];
    const code = await runCoalloc(line, world);
    assert.equal(scene.err, "");
    return [code, scene.out];
  });
  await scene.close();
}

const OF_A = ["--prometheus-matchers", 'cluster="a"'];

/** Figures of the sources in Prometheus: values, and those of the hour before, to two digits. */
function historyOf(out: string): Readonly<Record<string, readonly (number | undefined)[]>> {
  const { figures }: ReportView = JSON.parse(out);
  const rounded = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : Number(value.toFixed(2));
  return Object.fromEntries(
    figures.filter(({ source }) => source === "Prometheus" || source === "cAdvisor")
      .map(({ key, value, before }) => [key, [rounded(value), rounded(before)]]),
  );
}

/** `increase` extends what it has seen to the ends of the period: by 3 % where it has 58 minutes. */
function near(actual: number | undefined, expected: number): boolean {
  return actual !== undefined && Math.abs(actual - expected) <= 0.04 * expected;
}

if (withoutPrometheus()) {
  Deno.test.ignore("report from a real Prometheus", () => {});
} else {
  Deno.test("report has the figures of its cluster from a real Prometheus, over restarts and a change of leaders", async () => {
    await withReports({}, async (report) => {
      const [code, out] = await report("-o", "json", ...OF_A);
      assert.equal(code, 0);
      const figures = historyOf(out);
      const expected: Readonly<Record<string, readonly [number, number?]>> = {
        coveredHours: [1],
        // One is there for a quarter, and its last sample counts for 5 min.
        podsMeasured: [1.33, 1],
        // 300 m for half of the hour, and 100 m for a quarter.
        usageBeyondOriginal: [0.175, 0],
        throttledSeconds: [30, 12],
        limitChanges: [8, 0],
        scarceSeconds: [120, 0],
        containersThrottledSeconds: [50, 500],
        containersCPU: [0.5, 1],
      };
      assert.deepEqual(Object.keys(figures), Object.keys(expected));
      for (const [key, [value, before]] of Object.entries(expected)) {
        const [seen, seenBefore] = figures[key] ?? [];
        assert(near(seen, value), `${key}: ${seen} is not ${value}`);
        if (before === undefined) assert.equal(seenBefore, undefined, key);
        else assert(near(seenBefore, before), `${key} before: ${seenBefore} is not ${before}`);
      }
      const { missing }: ReportView = JSON.parse(out);
      assert.deepEqual(missing.map(({ key }) => key), ["presentUsage", "requestsSaved"]);
    });
  });

  Deno.test("report adds up no clusters that a Prometheus has together", async () => {
    await withReports({}, async (report) => {
      const [, out] = await report("-o", "json");
      assert.deepEqual(historyOf(out), {});
      const { missing }: ReportView = JSON.parse(out);
      const why = missing.find(({ key }) => key === "throttledSeconds")?.why ?? "";
      assert.match(why, /^2 .*--prometheus-matchers/);
      const [, none] = await report("-o", "json", "--prometheus-matchers", 'cluster="c"');
      assert.deepEqual(historyOf(none), {});
    });
  });

  Deno.test("report says of how much of the period a Prometheus has data, and compares nothing then", async () => {
    await withReports({ minutes: 40, gap: [25, 15] }, async (report) => {
      const [, out] = await report("-o", "json", ...OF_A);
      const { figures, missing }: ReportView = JSON.parse(out);
      const covered = figures.find(({ key }) => key === "coveredHours");
      // The last sample before the gap counts for 5 min: of 40 min, 7 have no data.
      assert(near((covered?.value ?? 0) * 60, 33), String(covered?.value));
      assert.match(covered?.note ?? "", / 1 hours: /);
      assert(figures.every(({ before }) => before === undefined));
      assert.deepEqual(
        missing.filter(({ key }) => key === "before").map(({ figure }) => figure),
        ["Before, by Prometheus", "Before, by cAdvisor"],
      );
      const usage = figures.find(({ key }) => key === "usageBeyondOriginal");
      // None of the 40 that the first leader made before it was collected.
      assert.equal(figures.find(({ key }) => key === "limitChanges")?.value, 5);
      // 300 m for 23 of the 33 min with data, which is not the whole hour.
      assert(near(usage?.value, 0.3 * 23 / 33), String(usage?.value));
    });
  });
}
