import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { usageQueries } from "../../../controller/rightsizing/sources/prometheus_usage.ts";
import { containerName, namespaceOf, podName, valueAt, workloadName } from "./known_usage.ts";
import { type RangeAnswer, rangeAnswer } from "./range_answer.ts";

const SIZE = { workloads: 60, pods: 2, containers: 3 };
const END_S = 1_767_225_600;

function ask(
  query: string,
  { start = END_S - 240, step = 120 }: { readonly start?: number; readonly step?: number } = {},
): RangeAnswer {
  const moments = { start: String(start), end: String(END_S), step: String(step) };
  return rangeAnswer(new URLSearchParams({ query, ...moments }), SIZE);
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
