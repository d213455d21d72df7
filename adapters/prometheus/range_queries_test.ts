import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../tests/fixtures/mutated_json.ts";
import {
  createRangeQueries,
  isRangePoints,
  parseRangeText,
  type RangeQueriesOptions,
} from "./range_queries.ts";
import { cases } from "../../tests/fixtures/cases.ts";

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
  const answered = await queries.ask({ server: server.url, ...RANGE }, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown, options: RangeQueriesOptions = {}) {
  const { answered } = await ask(answer, options);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return answered;
}

Deno.test("createRangeQueries() asks for moments to the millisecond, with the time that it waits", async () => {
  const { answered, requests } = await ask(matrix(), { timeoutMs: 3000 });
  assert.deepEqual(answered, { series: [] });
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
  const { answered } = await ask(matrix({ metric, values }, { metric: {}, values: [] }));
  assert.ok("series" in answered);
  const [one, two] = answered.series;
  assert.deepEqual(one, {
    labels: metric,
    timesMs: Float64Array.of(1_767_225_600_781, 1_767_225_660_781),
    values: Float64Array.of(0.25, 0.002),
  });
  assert.equal(two?.values.length, 0);
});

Deno.test("createRangeQueries() refuses an answer that does not fit the question", async () => {
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
  for (const other of [...others, new Response("<html>")]) {
    assert.equal((await problemOf(other)).problem, "unreadable");
  }
});

Deno.test("createRangeQueries() marks a query that is too large, and no other rejected one", async () => {
  const error = (message: string) =>
    Response.json({ status: "error", errorType: "execution", error: message }, { status: 422 });
  const many = "query processing would load too many samples into memory in query execution";
  assert.equal((await problemOf(error(many))).tooMuch, true);
  const large = await problemOf(matrix({ metric: { pod: "x".repeat(500) }, values: [] }), {
    mostBytes: 400,
  });
  assert.deepEqual([large.problem, large.tooMuch], ["unreadable", true]);
  assert.equal("tooMuch" in await problemOf(error("division by zero")), false);
});

Deno.test("createRangeQueries() rejects a partial response, and ignores notes on the query", async () => {
  const whole = matrix({ metric: { pod: "web-0" }, values: [[1, "0.25"]] });
  const warnings = ["PromQL info: metric might not be a counter", "No StoreAPIs matched 10.0.0.7"];
  assert.equal((await problemOf({ ...whole, warnings })).problem, "unreachable");
  for (const few of [[], warnings.slice(0, 1)]) {
    const { answered } = await ask({ ...whole, warnings: few });
    assert.equal("series" in answered && answered.series.length, 1);
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
      const answered = await queries.ask({ server: server.url, ...RANGE }, NEVER);
      if ("problem" in answered) assert.notEqual(answered.message, "");
      else {
        for (const { timesMs, values } of answered.series) {
          assert.equal(timesMs.length, values.length);
          assert.ok(values.every(Number.isFinite));
        }
      }
    }),
  );
});

function answerOf(series: readonly object[]): object {
  return { status: "success", data: { resultType: "matrix", result: series }, warnings: ["w"] };
}

/** With all points as numbers, whichever way they were read. */
function plain(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => {
    if (key !== "values" || typeof value !== "object" || value === null) return value;
    if (isRangePoints(value)) return [[...value.timesMs], [...value.values]];
    const kept = (value as [number, string][])
      .map(([atS, text]) => [Math.round(1000 * atS), text === "" ? NaN : Number(text)] as const)
      .filter(([, amount]) => Number.isFinite(amount));
    return [kept.map(([atMs]) => atMs), kept.map(([, amount]) => amount)];
  }));
}

const amounts = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("NaN", "+Inf", "-Inf", "Infinity", "", "1e-7", "0.30000000000000004"),
  fc.string({ unit: "binary" }),
);
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"values":[[1,"2"]]', "\\", '"', "]]}", 'x\\"values":[', "values"),
);
const series = fc.record({
  metric: fc.dictionary(texts, texts),
  values: fc.array(
    fc.tuple(fc.double({ min: 0, max: 4e9, noNaN: true }).map((atS) => atS + 0), amounts),
    { maxLength: 20 },
  ),
});

pure("parseRangeText() reads points into arrays, without those that are no number", () => {
  const text =
    '{"data":{"result":[{"metric":{"pod":"a"},"values":[[1.5,"2"],[3,"NaN"],[4,"+Inf"],' +
    '[5.0004,"1e3"]]},{"metric":{},"values":[[7,"NaN"]]}]}}';
  const { data: { result: [first, second] } } = parseRangeText(text) as {
    readonly data: { readonly result: readonly { readonly values: unknown }[] };
  };
  assert.ok(isRangePoints(first?.values) && isRangePoints(second?.values));
  assert.deepEqual([...first.values.timesMs], [1500, 5000]);
  assert.deepEqual([...first.values.values], [2, 1000]);
  assert.equal(second.values.timesMs.length, 0);
});

pure("parseRangeText() returns what JSON does, whatever labels and values are", () => {
  fc.assert(
    fc.property(fc.array(series, { maxLength: 4 }), (result) => {
      const text = JSON.stringify(answerOf(result));
      assert.deepEqual(plain(parseRangeText(text)), plain(JSON.parse(text)));
    }),
    cases(5),
  );
});

pure("parseRangeText() leaves what is written in another way to JSON", () => {
  const values = [[1, "2"], [3, "4"]];
  for (
    const tree of [
      answerOf([{ metric: {}, values: [] }]),
      answerOf([{ metric: {}, values: [[1, 2]] }]),
      answerOf([{ metric: {}, values: [["1", "2"]] }]),
      answerOf([{ metric: {}, values: [[1, "2", 3]] }]),
      answerOf([{ metric: {}, values: 0 }]),
      answerOf([{ metric: {}, histograms: [[1, { count: "2" }]] }]),
    ]
  ) assert.deepEqual(parseRangeText(JSON.stringify(tree)), tree);
  const spaced = JSON.stringify(answerOf([{ metric: {}, values }]), undefined, 1);
  assert.deepEqual(parseRangeText(spaced), answerOf([{ metric: {}, values }]));
  const escaped = '{"values":[[1,"\\u0032"]]}';
  assert.deepEqual(parseRangeText(escaped), { values: [[1, "2"]] });
});

pure("parseRangeText() throws nothing but a SyntaxError, whatever is cut out of an answer", () => {
  fc.assert(
    fc.property(
      fc.array(series, { minLength: 1, maxLength: 2 }),
      fc.nat(),
      fc.integer({ min: 1, max: 9 }),
      (result, place, length) => {
        const text = JSON.stringify(answerOf(result));
        const cut = place % text.length;
        try {
          parseRangeText(text.slice(0, cut) + text.slice(cut + length));
        } catch (error) {
          assert.ok(error instanceof SyntaxError, String(error));
        }
      },
    ),
    cases(5),
  );
  assert.throws(() => parseRangeText('{"values":[[1,"2"]'), SyntaxError);
});
