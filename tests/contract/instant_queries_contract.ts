/**
 * The contract of `InstantQueries`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { fillQuery, readQueryTemplate } from "../../controller/metrics_demand/query_template.ts";
import type { InstantAnswer, InstantQueries } from "../../shared/instant_queries.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

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
  "what is no number": { text: "vector(0 / 0)", finds: [NaN] },
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
