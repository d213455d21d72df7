import fc from "fast-check";
import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { sentRequest, serveCanned, streamAnswer } from "../../tests/fixtures/canned_server.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { mutatedJSON } from "../../tests/fixtures/mutated_json.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createInstantQueries, type InstantQueriesOptions } from "./instant_queries.ts";
import {
  createRangeQueries,
  isRangePoints,
  parseRangeText,
  type RangeQueriesOptions,
} from "./range_queries.ts";

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
async function ask(answer: unknown, options: Partial<RangeQueriesOptions> = {}) {
  await using server = serveCanned(() => answer);
  const queries = createRangeQueries({ program: "test", ...options });
  const answered = await queries.ask({ server: server.url, ...RANGE }, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(...given: Parameters<typeof ask>) {
  const { answered } = await ask(...given);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return answered;
}

Deno.test("createRangeQueries() asks for moments to the millisecond, with the time that it waits", async () => {
  const { answered, requests } = await ask(matrix(), { timeoutMs: 3000 });
  assert.deepEqual(answered, { series: [] });
  assert.deepEqual(requests.map(sentRequest), [{
    to: "GET /api/v1/query_range",
    query: {
      ...{ query: "busy", start: "1767225600.781", end: "1767225720.781" },
      ...{ step: "15.000", timeout: "3000ms" },
    },
  }]);
});

Deno.test("createRangeQueries() reads series, and leaves out what is no number", async () => {
  const metric = { pod: "web-0" };
  const texts = ["0.25", "NaN", "+Inf", "", "2e-3"];
  const values = texts.map((text, index) => [1_767_225_600.781 + 15 * index, text]);
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
    maxBytes: 400,
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
  const queries = createRangeQueries({ program: "test" });
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
  const values = '[[1.5,"2"],[3,"NaN"],[4,"+Inf"],[5.0004,"1e3"]]';
  const read = parseRangeText(`{"values":${values},"other":{"values":[[7,"NaN"]]}}`);
  assert.deepEqual(read, {
    values: { timesMs: Float64Array.of(1500, 5000), values: Float64Array.of(2, 1000) },
    other: { values: { timesMs: Float64Array.of(), values: Float64Array.of() } },
  });
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

const QUERY = 'sum(busy{pod="web"})';

function vector(...values: readonly string[]): unknown {
  const result = values.map((value) => ({ metric: {}, value: [1_767_225_600.781, value] }));
  return { status: "success", data: { resultType: "vector", result } };
}

/** Asks a server that answers like this. */
async function askInstant(answer: unknown, options: Partial<InstantQueriesOptions> = {}) {
  await using server = serveCanned(() => answer);
  const queries = createInstantQueries({ program: "test", ...options });
  const answered = await queries.ask({ server: `${server.url}/prom`, query: QUERY }, NEVER);
  return { answered, requests: server.requests };
}

async function instantProblem(...given: Parameters<typeof askInstant>) {
  const { answered } = await askInstant(...given);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return [answered.problem, answered.message];
}

Deno.test("createInstantQueries() asks below the server's address, with the time that it waits", async () => {
  const { answered, requests } = await askInstant(vector("0.25"), { timeoutMs: 3000 });
  assert.deepEqual(answered, { samples: [{ value: 0.25, atMs: 1_767_225_600_781 }] });
  assert.deepEqual(requests.map(sentRequest), [
    { to: "GET /prom/api/v1/query", query: { query: QUERY, timeout: "3000ms", limit: "2" } },
  ]);
});

Deno.test("createInstantQueries() reads scalars, several series, none, and what is no number", async () => {
  const scalar = { status: "success", data: { resultType: "scalar", result: [1, "2e-3"] } };
  assert.deepEqual((await askInstant(scalar)).answered, {
    samples: [{ value: 0.002, atMs: 1000 }],
  });
  assert.deepEqual((await askInstant(vector())).answered, { samples: [] });
  const { answered } = await askInstant(vector("1", "NaN", "+Inf", "-Inf", "-3", ""));
  assert.ok("samples" in answered);
  assert.deepEqual(
    answered.samples.map(({ value }) => value),
    [1, NaN, Infinity, -Infinity, -3, NaN],
  );
});

Deno.test("createInstantQueries() keeps a rejected query, a failing server and another answer apart", async () => {
  const error = (status: number, errorType: string, text = "why") =>
    Response.json({ status: "error", errorType, error: text }, { status });
  const histogram = { metric: {}, histogram: [1, {}] };
  const native = { status: "success", data: { resultType: "vector", result: [histogram] } };
  await using elsewhere = serveCanned(() => vector("1"));
  const rows: readonly (readonly [problem: string, answer: unknown, message?: string])[] = [
    ["refused", error(400, "bad_data"), 'bad_data: "why"'],
    ["refused", error(422, "execution"), 'execution: "why"'],
    ["unreachable", error(503, "timeout"), 'timeout: "why"'],
    ["unreachable", new Response("no", { status: 401 }), "HTTP 401"],
    ["unreadable", native],
    ...["up", {}, [], 3, null, new Response("<html>"), new Response(null)].map((answer) =>
      ["unreadable", answer] as const
    ),
  ];
  for (const [problem, answer, message] of rows) {
    const [found, text] = await instantProblem(answer);
    assert.deepEqual([found, message ?? text], [problem, text]);
  }
  const redirect = new Response(null, { status: 302, headers: { location: elsewhere.url } });
  const [found, redirected = ""] = await instantProblem(redirect);
  assert.equal(found, "unreachable");
  assert.ok(redirected.startsWith("HTTP 302: ") && redirected.endsWith(` "${elsewhere.url}"`));
  assert.deepEqual(elsewhere.requests, [], "no redirect is followed");
  const [, long = ""] = await instantProblem(error(200, "bad_data", "x\n".repeat(9999)));
  assert.ok(long.length < 600 && !long.includes("\n"), long);
});

Deno.test("createInstantQueries() reads no endless answer", async () => {
  const long = await instantProblem(vector(...Array(500).fill("1")), { maxBytes: 4096 });
  assertMatches(long, [/^unreadable$/, / 4096 bytes$/]);
  const endless = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
    );
  assert.equal((await instantProblem(endless()))[0], "unreadable");
});

Deno.test("createInstantQueries() waits no longer than it may, for the head or the rest of an answer", async () => {
  const waited = ["unreachable", "nothing came for 60 ms"];
  const begun = streamAnswer(['{"status":'], { open: true });
  assert.deepEqual(await instantProblem(begun, { timeoutMs: 60 }), waited);
  const silent = Promise.withResolvers<string>();
  await using server = serveCanned(() => silent.promise);
  const queries = createInstantQueries({ program: "test", timeoutMs: 60 });
  const answered = await queries.ask({ server: server.url, query: QUERY }, NEVER);
  silent.resolve("too late");
  assert.deepEqual("problem" in answered && [answered.problem, answered.message], waited);
});

Deno.test("createInstantQueries() reports an unreachable server, and an aborted query", async () => {
  const server = serveCanned(() => "");
  await server[Symbol.asyncDispose]();
  const queries = createInstantQueries({ program: "test" });
  const gone = await queries.ask({ server: server.url, query: QUERY }, NEVER);
  assert.ok("problem" in gone);
  assert.equal(gone.problem, "unreachable");
  assert.match(gone.message, /refused/);
  const stopped = await queries.ask({ server: server.url, query: QUERY }, AbortSignal.abort());
  assert.ok("problem" in stopped && stopped.problem === "unreachable");
});

Deno.test("docs/support.md names each path of Prometheus that is asked", async () => {
  const asked = new Set<string>();
  for await (const { name } of Deno.readDir(new URL(".", import.meta.url))) {
    if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
    const source = await Deno.readTextFile(new URL(name, import.meta.url));
    for (const [, path = ""] of source.matchAll(/path(?: =|:) "(\/api\/v1\/\w+)"/g)) {
      asked.add(path);
    }
  }
  assert.equal(asked.size, 2, [...asked].join());
  const support = await Deno.readTextFile(new URL("../../docs/support.md", import.meta.url));
  const row = support.split("\n").find((line) => line.startsWith("| Prometheus")) ?? "";
  for (const path of asked) assert.match(row, new RegExp(`${path}\`|${path} `), path);
});
