import assert from "node:assert/strict";
import fc from "fast-check";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../tests/fixtures/mutated_json.ts";
import { createRangeQueries, type RangeQueriesOptions } from "./range_queries.ts";

const NEVER = new AbortController().signal;
const RANGE = {
  query: "busy",
  startMs: 1_767_225_600_781,
  endMs: 1_767_225_720_781,
  stepMs: 15_000,
};

function matrix(...result: readonly unknown[]): { status: string; data: unknown } {
  return { status: "success", data: { resultType: "matrix", result } };
}

/** Asks a server that answers like this. */
async function ask(answer: unknown, options: RangeQueriesOptions = {}) {
  await using server = serveCanned(() => answer);
  const queries = createRangeQueries(options);
  const said = await queries.ask({ server: server.url, ...RANGE }, NEVER);
  return { said, requests: server.requests };
}

async function problemOf(answer: unknown, options: RangeQueriesOptions = {}) {
  const { said } = await ask(answer, options);
  assert.ok("problem" in said, JSON.stringify(said));
  return said;
}

Deno.test("createRangeQueries() asks for moments to the millisecond, with the time that it waits", async () => {
  const { said, requests } = await ask(matrix(), { timeoutMs: 3000 });
  assert.deepEqual(said, { series: [] });
  const [request, ...others] = requests;
  assert.deepEqual(others, []);
  assert.deepEqual([request?.method, request?.path], ["GET", "/api/v1/query_range"]);
  assert.deepEqual(request?.query, {
    query: "busy",
    start: "1767225600.781",
    end: "1767225720.781",
    step: "15.000",
    timeout: "3000ms",
  });
});

Deno.test("createRangeQueries() reads series, and leaves out what is no number", async () => {
  const metric = { pod: "web-0" };
  const values = [
    [1_767_225_600.781, "0.25"],
    [1_767_225_615.781, "NaN"],
    [1_767_225_630.781, "+Inf"],
    [1_767_225_645.781, ""],
    [1_767_225_660.781, "2e-3"],
  ];
  const { said } = await ask(matrix({ metric, values }, { metric: {}, values: [] }));
  assert.ok("series" in said);
  const [one, two] = said.series;
  assert.deepEqual(one, {
    labels: metric,
    timesMs: Float64Array.of(1_767_225_600_781, 1_767_225_660_781),
    values: Float64Array.of(0.25, 0.002),
  });
  assert.equal(two?.values.length, 0);
});

Deno.test("createRangeQueries() refuses what is no answer to the question", async () => {
  const metric = {};
  const others = [
    { status: "success", data: { resultType: "vector", result: [] } },
    { status: "success", data: null },
    matrix({ metric, histograms: [[1, {}]] }),
    matrix({ metric, values: [[1, 2]] }),
    matrix({ metric, values: [["1", "2"]] }),
    matrix({ metric, values: [3] }),
    matrix({ metric: { pod: 1 }, values: [] }),
    matrix({ values: [] }),
    matrix(null),
  ];
  for (const other of others) {
    const { problem, message } = await problemOf(other);
    assert.equal(problem, "unreadable");
    assert.match(message, / query .* series /);
  }
  assert.equal((await problemOf(new Response("<html>"))).problem, "unreadable");
});

Deno.test("createRangeQueries() tells a question that is too large from one that can't be asked", async () => {
  const error = (words: string) =>
    Response.json({ status: "error", errorType: "execution", error: words }, { status: 422 });
  const many = "query processing would load too many samples into memory in query execution";
  assert.equal((await problemOf(error(many))).tooMuch, true);
  const large = await problemOf(matrix({ metric: { pod: "x".repeat(500) }, values: [] }), {
    mostBytes: 400,
  });
  assert.deepEqual([large.problem, large.tooMuch], ["unreadable", true]);
  assert.equal("tooMuch" in await problemOf(error("division by zero")), false);
});

Deno.test("createRangeQueries() takes a partial answer for none, and words on the query for nothing", async () => {
  const whole = matrix({ metric: { pod: "web-0" }, values: [[1, "0.25"]] });
  const warnings = ["PromQL info: metric might not be a counter", "No StoreAPIs matched 10.0.0.7"];
  const { problem, message } = await problemOf({ ...whole, warnings });
  assert.equal(problem, "unreachable");
  assert.match(message, / partial .*: "No StoreAPIs matched 10\.0\.0\.7"$/);
  for (const few of [[], warnings.slice(0, 1)]) {
    const { said } = await ask({ ...whole, warnings: few });
    assert.equal("series" in said && said.series.length, 1);
  }
});

Deno.test("createRangeQueries() gives finite numbers or a problem for any answer", async () => {
  const metric = { pod: "web-0", container: "app" };
  const sample = matrix({ metric, values: [[1, "0.25"], [2, "1"]] }, {
    metric,
    values: [[1, "3"]],
  });
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const queries = createRangeQueries();
  await fc.assert(
    fc.asyncProperty(mutatedJSON(sample), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const said = await queries.ask({ server: server.url, ...RANGE }, NEVER);
      if ("problem" in said) assert.notEqual(said.message, "");
      else {
        for (const { timesMs, values } of said.series) {
          assert.equal(timesMs.length, values.length);
          assert.ok(values.every(Number.isFinite));
        }
      }
    }),
  );
});
