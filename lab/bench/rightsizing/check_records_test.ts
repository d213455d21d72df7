import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import { checkRecords, expectedRequest } from "./check_records.ts";
import { containerName, namespaceOf, podName, valueAt, workloadName } from "./known_usage.ts";
import { usageQueries } from "../../../controller/rightsizing/sources/prometheus_usage.ts";
import { type RangeAnswer, rangeAnswer } from "./range_answer.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../../tools/build/programs.ts";

const SIZE = { workloads: 2, pods: 2, containers: 2 };
const NOW_MS = Date.UTC(2026, 0, 2);

function recordsWith(moreCPU = 0): readonly WorkloadRecord[] {
  return [0, 1].map((workload) => ({
    workload: {
      kind: "Deployment",
      namespace: namespaceOf(workload),
      name: workloadName(workload),
    },
    policy: { namespace: "rightsizing", name: "everything" },
    status: "Recommended",
    reason: "RecommendOnly",
    message: "",
    recommendedAtMs: NOW_MS,
    recommendations: [0, 1].map((container) => {
      const request = (resource: "cpu" | "memory"): number =>
        Math.trunc(
          expectedRequest({ workload, container }, { size: SIZE, resource, nowMs: NOW_MS }),
        );
      return {
        container: containerName(container),
        cpu: request("cpu") + moreCPU * workload,
        memory: request("memory"),
        explanation: "",
      };
    }),
    inForce: [],
  } as WorkloadRecord));
}

pure("checkRecords() takes what is cut to whole units for right", () => {
  assert.deepEqual(checkRecords(recordsWith(), SIZE), { recommended: 4, wrong: 0 });
});

pure("checkRecords() finds requests that are off, missing, or twice there", () => {
  const { recommended, wrong, example } = checkRecords(recordsWith(3), SIZE);
  assert.deepEqual([recommended, wrong], [4, 2]);
  assert.match(example ?? "", /^team-0\/app-1 part-0: cpu \d+, expected \d+\.?\d*$/);
  const [first, second] = recordsWith();
  assert.deepEqual(checkRecords(first ? [first] : [], SIZE).wrong, 4);
  const twice = second && {
    ...second,
    recommendations: [...second.recommendations, ...second.recommendations.slice(0, 1)],
  };
  assert.equal(checkRecords(first && twice ? [first, twice] : [], SIZE).wrong, 2);
});

const NOON_MS = Date.UTC(2026, 0, 1, 12);
const place = { workload: 3, pod: 0, container: 1 };

pure("valueAt() changes with each scrape and no sooner, and from series to series", () => {
  for (const resource of ["cpu", "memory"] as const) {
    const at = (atMs: number, of = place): number => valueAt(of, { resource, atMs });
    assert.equal(at(NOON_MS), at(NOON_MS + 29_999));
    assert.notEqual(at(NOON_MS), at(NOON_MS + 30_000));
    for (const other of [{ workload: 4 }, { pod: 1 }, { container: 2 }]) {
      assert.notEqual(at(NOON_MS), at(NOON_MS, { ...place, ...other }));
    }
  }
});

pure("valueAt() is the mean of three intervals for CPU, and stays in its range", () => {
  const rates = Array.from(
    { length: 2880 },
    (_, scrape) => valueAt(place, { resource: "cpu", atMs: NOON_MS + scrape * 30_000 }),
  );
  assert.ok(Math.min(...rates) > 0.02 && Math.max(...rates) < 2.5);
  // A counter's growth over three intervals: what is new less what has left, in whole microcores.
  const change = 3e6 * ((rates[1] ?? NaN) - (rates[0] ?? NaN));
  assert.ok(Math.abs(change - Math.round(change)) < 1e-6);
  const bytes = valueAt(place, { resource: "memory", atMs: NOON_MS });
  assert.ok(Number.isInteger(bytes) && bytes >= 0.8 * 64 * 2 ** 20 && bytes <= 512 * 2 ** 20);
});

const CLUSTER = { workloads: 60, pods: 2, containers: 3 };
const END_S = 1_767_225_600;

function ask(
  query: string,
  { start = END_S - 240, step = 120 }: { readonly start?: number; readonly step?: number } = {},
): RangeAnswer {
  const moments = { start: String(start), end: String(END_S), step: String(step) };
  return rangeAnswer(new URLSearchParams({ query, ...moments }), CLUSTER);
}

function queriesOf(workload: number): ReturnType<typeof usageQueries> {
  return usageQueries({
    namespace: namespaceOf(workload),
    workload: { kind: "Deployment", name: workloadName(workload), uid: "u" },
    pods: [],
    otherPods: [],
    containers: [containerName(0), containerName(2)],
    window: { fromMs: 0, toMs: 1 },
  }, []);
}

pure("rangeAnswer() finds the series of a workload's query, and no others", () => {
  for (const resource of ["cpu", "memory"] as const) {
    const { status, body, points } = ask(queriesOf(5)[resource]);
    assert.deepEqual([status, points], [200, 2 * 2 * 3]);
    const { status: outcome, data: { resultType, result } } = JSON.parse(body);
    assert.deepEqual([outcome, resultType], ["success", "matrix"]);
    const series: readonly { metric: Record<string, string>; values: unknown }[] = result;
    assert.deepEqual(series.map(({ metric }) => metric), [
      { container: "part-0", pod: podName({ workload: 5, pod: 0 }) },
      { container: "part-2", pod: podName({ workload: 5, pod: 0 }) },
      { container: "part-0", pod: podName({ workload: 5, pod: 1 }) },
      { container: "part-2", pod: podName({ workload: 5, pod: 1 }) },
    ]);
    const place = { workload: 5, pod: 0, container: 0 };
    assert.deepEqual(
      series[0]?.values,
      [END_S - 240, END_S - 120, END_S].map((atS) => [
        atS,
        String(valueAt(place, { resource, atMs: 1000 * atS })),
      ]),
    );
  }
});

pure("rangeAnswer() refuses what Prometheus would, and queries that it does not know", () => {
  const { cpu } = queriesOf(5);
  for (
    const [answer, message] of [
      [ask("up"), /unknown query: up/],
      [ask(cpu, { step: 0 }), /no moments/],
      [ask(cpu, { start: END_S - 11_001, step: 1 }), /resolution of 11,000/],
    ] as const
  ) {
    assert.equal(answer.status, 400);
    const { status, errorType, error } = JSON.parse(answer.body);
    assert.deepEqual([status, errorType], ["error", "bad_data"]);
    assert.match(error, message);
  }
  assert.equal(ask(cpu, { start: END_S - 11_000, step: 1 }).status, 200);
});

const CONFIG = new URL("../../../deno.json", import.meta.url);

Deno.test({
  name: "bench:rightsizing runs with the memory settings that the controller is shipped with",
  permissions: { read: [CONFIG] },
  async fn() {
    const { tasks } = JSON.parse(await Deno.readTextFile(CONFIG));
    const { command }: { readonly command: string } = tasks["bench:rightsizing"];
    assert.ok(command.includes(`${V8_FLAGS},--expose-gc `), command);
    const environment = Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) =>
      `${name}=${value}`
    );
    assert.ok(command.startsWith(`${environment.join(" ")} deno run `), command);
  },
});
