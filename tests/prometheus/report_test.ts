/** `kubectl coalloc report` from what a real Prometheus has of the programs' own metrics. */
import assert from "node:assert/strict";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import type { ReportView } from "../../cli/coalloc/report/report_view.ts";
import { runCoalloc } from "../../cli/coalloc/run_coalloc.ts";
import { addMarketPod, coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { serveMetrics, startPrometheus, withoutPrometheus } from "./own_prometheus.ts";

const MINUTE = 60_000;

/** A series of one of the programs' or of cAdvisor's metrics. */
interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its value so many minutes before the end; undefined where it is not served. */
  readonly at: (before: number) => number | undefined;
}

/** OpenMetrics text with times, for `promtool tsdb create-blocks-from`. */
function historyText(all: readonly Series[], befores: readonly number[], endMs: number): string {
  const parts = [...Map.groupBy(all, ({ name }) => name)].flatMap(([name, series]) => [
    `# TYPE ${name.replace(/_total$/, "")} ${name.endsWith("_total") ? "counter" : "gauge"}`,
    ...series.flatMap(({ labels, at }) => {
      const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`).join(",");
      return befores.flatMap((before) => {
        const value = at(before);
        const time = (endMs - before * MINUTE) / 1000;
        return value === undefined ? [] : [`${name}{${text}} ${value} ${time}`];
      });
    }),
  ]);
  return [...parts, "# EOF", ""].join("\n");
}

/** The metrics of a target while it lives: values by name, with labels of their own where they have some. */
function target(
  labels: Series["labels"],
  lives: (before: number) => boolean,
  metrics: Readonly<Record<string, Series["at"] | readonly [Series["labels"], Series["at"]][]>>,
): Series[] {
  return Object.entries(metrics).flatMap(([name, values]) =>
    (typeof values === "function" ? [[{}, values] as const] : values).map(([own, at]) => ({
      ...{ name, labels: { ...labels, ...own } },
      at: (before: number) => lives(before) ? at(before) : undefined,
    }))
  );
}

/** Linear from 0 at `from` to `all` at `to`, minutes before the end. */
function grown(before: number, [from, to]: readonly [number, number], all: number): number {
  return all * Math.min(1, Math.max(0, (from - before) / (from - to)));
}

const FRONT = { namespace: "shop", pod: "front" };
const GONE = { namespace: "shop", pod: "gone" };
/** Agent, leader and a container end and begin anew half an hour before the end. */
const first = (before: number): boolean => before >= 30;
const second = (before: number): boolean => before < 30;
const always = (): boolean => true;

/**
 * A node with two pods. `front` is throttled for 30 s in the last hour, 12 s in the hour before, and
 * uses 300 m more than its original limit for half of the last hour. `gone` uses 100 m more for a
 * quarter of it and ends then.
 */
function agentsOfA(): Series[] {
  const whileThere = (value: number) => (before: number) =>
    before < 60 && before >= 45 ? value : undefined;
  const labels = { cluster: "a", job: "agents" };
  return [
    ...target({ ...labels, instance: "0" }, first, {
      mbcas_node_allocatable_cores: () => 8,
      mbcas_node_scarce_seconds_total: (before) => grown(before, [55, 33], 120),
      mbcas_pod_usage_cores: [[FRONT, () => 0.1], [GONE, whileThere(0.3)]],
      mbcas_pod_original_limit_cores: [[FRONT, () => 0.2], [GONE, whileThere(0.2)]],
      mbcas_pod_throttled_seconds_total: [
        [FRONT, (before) => grown(before, [115, 65], 12) + grown(before, [55, 33], 18)],
        [GONE, whileThere(0)],
      ],
    }),
    ...target({ ...labels, instance: "1" }, second, {
      mbcas_node_allocatable_cores: () => 8,
      mbcas_node_scarce_seconds_total: () => 0,
      mbcas_pod_usage_cores: [[FRONT, () => 0.5]],
      mbcas_pod_original_limit_cores: [[FRONT, () => 0.2]],
      mbcas_pod_throttled_seconds_total: [[FRONT, (before) => grown(before, [27, 5], 12)]],
    }),
  ];
}

/**
 * The first leader has made 40 changes before it is first collected and makes 3 in the last hour;
 * another one leads from then on, with 5 changes within a minute, and 2 refusals. A follower serves
 * none.
 */
function controllersOfA(): Series[] {
  const labels = { cluster: "a", job: "controllers" };
  const later = (value: number) => (before: number) => before <= 28 ? value : undefined;
  return [
    ...target({ ...labels, instance: "first" }, first, {
      mbcas_leader: () => 1,
      mbcas_resizes_total: [[{ outcome: "accepted" }, (before) => before > 40 ? 40 : 43]],
    }),
    ...target({ ...labels, instance: "second" }, second, {
      mbcas_leader: () => 1,
      mbcas_resizes_total: [
        [{ outcome: "accepted" }, later(5)],
        [{ outcome: "refused" }, later(2)],
      ],
    }),
    ...target({ ...labels, instance: "follower" }, always, { mbcas_leader: () => 0 }),
  ];
}

/** Containers of `shop` as two jobs collect the same kubelet; one restarts. */
function kubeletOfA(): Series[] {
  const cpu = (before: number): number =>
    first(before)
      ? grown(before, [115, 65], 3600) + grown(before, [55, 33], 900)
      : grown(before, [27, 5], 900);
  const throttled = (before: number): number =>
    first(before)
      ? grown(before, [115, 65], 500) + grown(before, [55, 33], 40)
      : grown(before, [27, 5], 10);
  return ["cadvisor", "kubelet"].flatMap((job) => {
    const labels = { cluster: "a", job, instance: "node-1:10250", ...FRONT };
    return [
      ...([["/one", first], ["/two", second]] as const).flatMap(([id, lives]) =>
        target({ ...labels, container: "app", id }, lives, {
          container_cpu_usage_seconds_total: cpu,
          container_cpu_cfs_throttled_seconds_total: throttled,
        })
      ),
      ...target({ ...labels, container: "", id: "/pod" }, always, {
        container_cpu_usage_seconds_total: (before) => 9 * cpu(before),
      }),
    ];
  });
}

/** Another cluster with pods of the same names. */
function clusterB(): Series[] {
  return target({ cluster: "b", job: "all", instance: "b" }, always, {
    mbcas_node_allocatable_cores: () => 8,
    mbcas_pod_usage_cores: [[FRONT, () => 4]],
    mbcas_pod_original_limit_cores: [[FRONT, () => 0.1]],
    mbcas_pod_throttled_seconds_total: [[FRONT, (before) => 1000 - before]],
    mbcas_leader: () => 1,
    mbcas_resizes_total: [[{ outcome: "accepted" }, (before) => 1000 - before]],
  });
}

/** The last minutes, all at rest for the first and last three. */
interface Story {
  /** Minutes of history, collected once in each. @default {180} */
  readonly minutes?: number;
  /** Minutes before the end in which nothing was collected. @default {[], none} */
  readonly gap?: readonly [from: number, to: number];
}

/** Runs the command on the last hour beside a Prometheus with this story; `-o` and more are flags. */
async function withReports(
  { minutes = 180, gap = [-1, -1] }: Story,
  check: (
    report: (...flags: string[]) => Promise<readonly [code: number, out: string]>,
  ) => Promise<void>,
): Promise<void> {
  const endMs = MINUTE * Math.floor(systemClock.wall() / MINUTE);
  const befores = Array.from({ length: minutes + 1 }, (_, index) => minutes - index)
    .filter((before) => before > gap[0] || before < gap[1]);
  const all = [...agentsOfA(), ...controllersOfA(), ...kubeletOfA(), ...clusterB()];
  await using exporter = serveMetrics();
  await using prometheus = await startPrometheus({
    target: exporter.address,
    history: historyText(all, befores, endMs),
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
