/**
 * The contracts of `UsageSource` and `InstantQueries`.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { UsageAnswer, UsageQuery, UsageSource } from "../../controller/rightsizing/ports.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";
import type { CannedServer } from "../fixtures/canned_server.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";
import { SCENE_EXPECTED, SCENE_WINDOW_MS, sceneQuestion } from "./support/usage_scene.ts";
import { fillQuery, readQueryTemplate } from "../../controller/metrics_demand/query_template.ts";
import type { InstantAnswer, InstantQueries } from "../../shared/instant_queries.ts";

/** A source that has seen the scene. */
export interface UsageSourceHarness extends ContractHarness {
  readonly subject: UsageSource;
  /** The end of the scene, ms since 1970; nothing was measured after it. */
  readonly endMs: number;
  /** Ends what the source learns from, until it can't answer any more. */
  stop(): Promise<void>;
}

/** The end of the scene on servers of tests: no whole second. */
export const SERVED_END_MS = Date.UTC(2026, 0, 1) + 781;

/** A source that asks a server of the test, which knows the scene up to {@linkcode SERVED_END_MS}. */
export function servedSource(server: CannedServer, subject: UsageSource): UsageSourceHarness {
  let running = true;
  const stop = async (): Promise<void> => {
    if (running) await server[Symbol.asyncDispose]();
    running = false;
  };
  return { subject, endMs: SERVED_END_MS, stop, close: stop };
}

/** Rates are extrapolated, and histograms have an error. */
const TOLERANCE = 0.02;

function near(value: number, expected: number, what: string): void {
  const most = TOLERANCE * expected;
  assert.ok(Math.abs(value - expected) <= most, `${what} is ${value}, expected ${expected}`);
}

/** Registers the suite. */
export function usageSourceContract(name: string, open: OpenHarness<UsageSourceHarness>): void {
  const contract = contractTests(open);
  const test: typeof contract = (sentence, check) => contract(`${name}: ${sentence}`, check);
  const ask = (
    { subject }: UsageSourceHarness,
    question: UsageQuery,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<UsageAnswer> => subject.usage(question, signal);
  const usageOf = async (
    harness: UsageSourceHarness,
    over: Partial<UsageQuery> = {},
  ): Promise<ReadonlyMap<string, ContainerUsage>> => {
    const answer = await ask(harness, sceneQuestion(harness.endMs, over));
    assert.ok("usage" in answer, JSON.stringify(answer));
    return answer.usage;
  };

  test("usage() is that of the workload's containers, over all pods, and of no others", async (harness) => {
    const usage = await usageOf(harness);
    for (const [container, { millicores, bytes }] of Object.entries(SCENE_EXPECTED)) {
      const { cpu, memory, ...rest } = usage.get(container) ?? assert.fail(container);
      assert.deepEqual(rest, { container });
      near(cpu.quantile(0.5), millicores.median, `median of ${container}'s CPU`);
      near(cpu.max, millicores.max, `maximum of ${container}'s CPU`);
      near(memory.min, bytes.min, `minimum of ${container}'s memory`);
      near(memory.quantile(0.5), bytes.min, `median of ${container}'s memory`);
      near(memory.max, bytes.max, `maximum of ${container}'s memory`);
    }
  });

  test("usage() stands on at least a sample a minute, the newest of the last minutes", async (harness) => {
    for (const { cpu, memory } of (await usageOf(harness)).values()) {
      for (const { count, newestMs, oldestMs } of [cpu, memory]) {
        assert.ok(count >= SCENE_WINDOW_MS / 60_000, `${count} samples`);
        assert.ok(newestMs > harness.endMs - 120_000);
        assert.ok(oldestMs < harness.endMs - SCENE_WINDOW_MS + 300_000);
      }
    }
  });

  contract(
    `property 11: ${name}: usage() covers each container, cpu and memory`,
    async (harness) => {
      const names = fc.uniqueArray(fc.constantFrom("app", "proxy", "never", "init-2"));
      await fc.assert(fc.asyncProperty(names, async (containers) => {
        const usage = await usageOf(harness, { containers });
        assert.deepEqual([...usage.keys()].sort(), containers.toSorted());
        for (const [name, { container, cpu, memory }] of usage) {
          assert.equal(container, name);
          const seen = name in SCENE_EXPECTED;
          assert.deepEqual([cpu.count > 0, memory.count > 0], [seen, seen], name);
        }
      }));
    },
  );

  contract(
    `property 12: ${name}: usage() has samples of (now - window, now] only`,
    async (harness) => {
      const lengths = fc.integer({ min: 60_000, max: SCENE_WINDOW_MS });
      await fc.assert(fc.asyncProperty(lengths, async (windowMs) => {
        const window = { fromMs: harness.endMs - windowMs, toMs: harness.endMs };
        for (const { cpu, memory } of (await usageOf(harness, { window })).values()) {
          for (const { count, oldestMs, newestMs } of [cpu, memory]) {
            assert.ok(count > 0);
            assert.ok(oldestMs > window.fromMs && oldestMs <= newestMs && newestMs <= window.toMs);
          }
        }
      }));
    },
  );

  test("usage() has the quantiles of its samples in order, within their ends", async (harness) => {
    for (const { cpu, memory } of (await usageOf(harness)).values()) {
      for (const one of [cpu, memory]) {
        const values = [one.min, ...[0, 0.5, 0.9, 0.95, 0.99, 1].map(one.quantile), one.max];
        assert.deepEqual(values, values.toSorted((a, b) => a - b));
      }
    }
  });

  test("usage() of a workload of which nothing was seen has no samples", async (harness) => {
    const workload = { kind: "StatefulSet", name: "none", uid: "uid-none" } as const;
    const usage = await usageOf(harness, { workload, pods: [], otherPods: [] });
    assert.deepEqual([...usage.keys()], ["app", "proxy"]);
    for (const { cpu, memory } of usage.values()) {
      assert.deepEqual([cpu.count, memory.count], [0, 0]);
    }
  });

  test("usage() resolves when it is called off, and says why it can't answer any more", async (harness) => {
    const question = sceneQuestion(harness.endMs);
    const calledOff = await ask(harness, question, AbortSignal.abort());
    if ("problem" in calledOff) assert.equal(calledOff.problem, "unreachable");
    await harness.stop();
    const gone = await ask(harness, question);
    assert.ok("problem" in gone);
    assert.equal(gone.problem, "unreachable");
    assert.notEqual(gone.message, "");
  });
}

/** A server that has the series of {@linkcode METRIC_SERIES}. */
export interface InstantQueriesHarness extends ContractHarness {
  readonly subject: InstantQueries;
  /** Its address. */
  readonly server: string;
  /** Wall-clock time, ms since 1970. */
  readonly wall: () => number;
  /** Ends the server. */
  stop(): Promise<void>;
}

/** A pod's name can't be like this, that of its owner, which its user writes, can. */
const HOSTILE = `x"} or vector(9) # '\\`;

/** Values of the metric `jobs` by its label `workload`. */
export const METRIC_SERIES: ReadonlyMap<string, number> = new Map([
  ["web", 0.75],
  ["web.0", 1.5],
  ["webs0", 2.5],
  [HOSTILE, 3.5],
]);

/** The query that is asked for a workload, and what it should find. */
interface Case {
  readonly text: string;
  readonly workload?: string;
  readonly finds: readonly number[];
}

const CASES: Readonly<Record<string, Case>> = {
  "one series": { text: 'jobs{workload="$workload"}', workload: "web", finds: [0.75] },
  "several series": { text: "jobs", finds: [0.75, 1.5, 2.5, 3.5] },
  "no series": { text: 'jobs{workload="$workload"}', workload: "none", finds: [] },
  "a scalar": { text: "1.5 * 2", finds: [3] },
  "a value that is not a number": { text: "vector(0 / 0)", finds: [NaN] },
  "an infinite value": { text: "vector(-1 / 0)", finds: [-Infinity] },
  "a hostile name in a string": {
    text: 'jobs{workload="$workload"}',
    workload: HOSTILE,
    finds: [3.5],
  },
  "a hostile name in single quotes": {
    text: "jobs{workload='$workload'}",
    workload: HOSTILE,
    finds: [3.5],
  },
  "a hostile name in a pattern": {
    text: 'jobs{workload=~"$workload"}',
    workload: HOSTILE,
    finds: [3.5],
  },
  "a name with a dot in a pattern": {
    text: "jobs{workload=~`$workload`}",
    workload: "web.0",
    finds: [1.5],
  },
};

/** An invalid query, and a part of the server's message. */
const NO_QUERY = { text: "sum(", part: "parse error" } as const;

/** The texts of all cases, and what each finds, for a server that has to be given them. */
export function metricResults(): ReadonlyMap<string, readonly number[] | { refused: string }> {
  const results = new Map<string, readonly number[] | { refused: string }>(
    Object.values(CASES).map((one) => [queryOf(one), one.finds]),
  );
  return results.set(NO_QUERY.text, { refused: `bad_data: ${NO_QUERY.part}` });
}

function queryOf({ text, workload = "" }: Case): string {
  const template = readQueryTemplate(text);
  assert.ok("parts" in template, text);
  const query = fillQuery(template, { namespace: "shop", pod: "web-0", workload });
  assert.ok(query !== undefined);
  return query;
}

/** Registers the suite. */
export function instantQueriesContract(
  name: string,
  open: OpenHarness<InstantQueriesHarness>,
): void {
  const contract = contractTests(open);
  const test: typeof contract = (sentence, check) => contract(`${name}: ${sentence}`, check);
  const ask = (
    { subject, server }: InstantQueriesHarness,
    query: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<InstantAnswer> => subject.ask({ server, query }, signal);

  test("ask() finds what the query asks for, as numbers of this moment", async (harness) => {
    for (const [what, one] of Object.entries(CASES)) {
      const answer = await ask(harness, queryOf(one));
      assert.ok("samples" in answer, `${what}: ${JSON.stringify(answer)}`);
      const values = answer.samples.map(({ value }) => value).sort((a, b) => a - b);
      assert.deepEqual(values, one.finds, what);
      for (const { atMs } of answer.samples) {
        const ageMs = harness.wall() - atMs;
        assert.ok(Math.abs(ageMs) < 30_000, `${what}: ${ageMs} ms old`);
      }
    }
  });

  test("ask() says why a query is refused", async (harness) => {
    const answer = await ask(harness, NO_QUERY.text);
    assert.ok("problem" in answer);
    assert.equal(answer.problem, "refused");
    assert.ok(answer.message.includes(NO_QUERY.part), answer.message);
  });

  test("ask() resolves when it is called off, and when the server is gone", async (harness) => {
    const query = queryOf({ text: "jobs", finds: [] });
    const calledOff = await ask(harness, query, AbortSignal.abort());
    assert.equal("problem" in calledOff && calledOff.problem, "unreachable");
    await harness.stop();
    const gone = await ask(harness, query);
    assert.ok("problem" in gone);
    assert.equal(gone.problem, "unreachable");
    assert.notEqual(gone.message, "");
  });
}
