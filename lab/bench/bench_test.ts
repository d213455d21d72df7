import { Command, InvalidArgumentError } from "commander";
import assert from "node:assert/strict";
import { usageQueries } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import { seededRandom, standardNormal } from "../../shared/random.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../tools/build/programs.ts";
import { benchFlags, columns, goal, wholeNumber, wholeNumberFrom } from "./bench.ts";
import {
  containerName,
  namespaceOf,
  podName,
  valueAt,
  workloadName,
} from "./rightsizing/known_usage.ts";
import { blockMeans, slopeOf } from "./soak/slope.ts";
import { type RangeAnswer, rangeAnswer } from "./rightsizing/usage_server.ts";

pure("benchFlags() reads flags, also after a lone --, and has --json", () => {
  const read = (...args: string[]): object => benchFlags(new Command().option("--n <n>"), args);
  assert.deepEqual([read(), read("--", "--json", "--n", "2")], [
    { json: false },
    { json: true, n: "2" },
  ]);
});

pure("wholeNumber() refuses all but whole numbers from 1 on", () => {
  assert.equal(wholeNumber("12"), 12);
  for (const text of ["0", "-1", "1.5", "", "x", "1".repeat(20)]) {
    assert.throws(() => wholeNumber(text), InvalidArgumentError, text);
  }
  assert.equal(wholeNumberFrom(3)("3"), 3);
  assert.throws(() => wholeNumberFrom(3)("2"), /3 or more/);
});

pure("goal() holds up to its bound, and says nothing where it does not count", () => {
  assert.deepEqual([1, 2, 3, NaN].map((value) => goal("", value, { most: 2 }).held), [
    ...[true, true, false, false],
  ]);
  assert.equal(goal("", 3, { most: 2, counts: false }).held, undefined);
});

pure("columns() has numbers at their right", () => {
  assert.equal(columns([["a", "bb"], ["ccc", "d"]]), "a    bb\nccc   d");
});

pure("slopeOf() has slope and error of a textbook's example", () => {
  // x = 1..5, y = 2, 4, 5, 4, 5: b = 6 / 10, residuals' squares 2.4, error sqrt(2.4 / 3 / 10).
  const { perUnit, error } = slopeOf([[1, 2], [2, 4], [3, 5], [4, 4], [5, 5]]);
  assert.ok(Math.abs(perUnit - 0.6) < 1e-12, `${perUnit}`);
  assert.ok(Math.abs(error - Math.sqrt(0.08)) < 1e-12, `${error}`);
});

pure("slopeOf() holds the true slope within 2 errors in about 95 of 100 noisy series", () => {
  const random = seededRandom(1);
  let held = 0;
  for (let run = 0; run < 1000; run++) {
    const samples = Array.from(
      { length: 60 },
      (_, i) => [i, 100 + 0.5 * i + 5 * standardNormal(random)] as const,
    );
    const { perUnit, error } = slopeOf(samples);
    if (Math.abs(perUnit - 0.5) <= 2 * error) held++;
  }
  assert.ok(held > 930 && held < 970, `${held} of 1000`);
});

pure("slopeOf() refuses two samples, and a constant series has no slope and no error", () => {
  assert.throws(() => slopeOf([[0, 1], [1, 1]]), RangeError);
  assert.deepEqual(slopeOf([[0, 7], [1, 7], [2, 7]]), { perUnit: 0, error: 0 });
});

pure("blockMeans() keeps the slope's error true where neighbouring samples are alike", () => {
  assert.deepEqual(blockMeans([[0, 1], [1, 3], [2, 5], [3, 7]], 2), [[0.5, 2], [2.5, 6]]);
  assert.deepEqual(blockMeans([[0, 1], [1, 3]], 10), [[0, 1], [1, 3]]);
  const random = seededRandom(2);
  let [alone, inBlocks] = [0, 0];
  for (let run = 0; run < 400; run++) {
    let noise = 0;
    const samples = Array.from({ length: 240 }, (_, i) => {
      noise = 0.8 * noise + standardNormal(random);
      return [i, noise] as const;
    });
    const isHeld = ({ perUnit, error }: ReturnType<typeof slopeOf>): boolean =>
      Math.abs(perUnit) <= 2 * error;
    if (isHeld(slopeOf(samples))) alone++;
    if (isHeld(slopeOf(blockMeans(samples, 10)))) inBlocks++;
  }
  assert.ok(alone < 240 && inBlocks > 330, `${alone}, ${inBlocks} of 400`);
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

pure("valueAt() stays in its range", () => {
  for (let scrape = 0; scrape < 2880; scrape++) {
    const atMs = NOON_MS + scrape * 30_000;
    const cores = valueAt(place, { resource: "cpu", atMs });
    assert.ok(cores >= 0.025 && cores <= 1.5, `${cores}`);
    const bytes = valueAt(place, { resource: "memory", atMs });
    assert.ok(Number.isInteger(bytes) && bytes >= 0.8 * 64 * 2 ** 20 && bytes <= 512 * 2 ** 20);
  }
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

const CONFIG = new URL("../../deno.json", import.meta.url);

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
