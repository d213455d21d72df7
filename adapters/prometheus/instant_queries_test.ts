import assert from "node:assert/strict";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { serveCanned, streamAnswer } from "../../tests/fixtures/canned_server.ts";
import { createInstantQueries, type InstantQueriesOptions } from "./instant_queries.ts";

const NEVER = new AbortController().signal;
const QUERY = 'sum(busy{pod="web"})';

function vector(...values: readonly string[]): unknown {
  const result = values.map((value) => ({ metric: {}, value: [1_767_225_600.781, value] }));
  return { status: "success", data: { resultType: "vector", result } };
}

/** Asks a server that answers like this. */
async function ask(answer: unknown, options: InstantQueriesOptions = {}) {
  await using server = serveCanned(() => answer);
  const queries = createInstantQueries(options);
  const answered = await queries.ask({ server: `${server.url}/prom`, query: QUERY }, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown, options: InstantQueriesOptions = {}) {
  const { answered } = await ask(answer, options);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return [answered.problem, answered.message];
}

Deno.test("createInstantQueries() asks below the server's address, with the time that it waits", async () => {
  const { answered, requests } = await ask(vector("0.25"), { timeoutMs: 3000 });
  assert.deepEqual(answered, { samples: [{ value: 0.25, atMs: 1_767_225_600_781 }] });
  const [request, ...others] = requests;
  assert.deepEqual(others, []);
  assert.deepEqual([request?.method, request?.path], ["GET", "/prom/api/v1/query"]);
  assert.deepEqual(request?.query, { query: QUERY, timeout: "3000ms", limit: "2" });
});

Deno.test("createInstantQueries() reads scalars, several series, none, and what is no number", async () => {
  const scalar = { status: "success", data: { resultType: "scalar", result: [1, "2e-3"] } };
  assert.deepEqual((await ask(scalar)).answered, { samples: [{ value: 0.002, atMs: 1000 }] });
  assert.deepEqual((await ask(vector())).answered, { samples: [] });
  const { answered } = await ask(vector("1", "NaN", "+Inf", "-Inf", "-3", ""));
  assert.ok("samples" in answered);
  assert.deepEqual(answered.samples.map(({ value }) => value), [
    1,
    NaN,
    Infinity,
    -Infinity,
    -3,
    NaN,
  ]);
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
    [
      "unreachable",
      new Response(null, { status: 302, headers: { location: elsewhere.url } }),
      `HTTP 302: it sends on to "${elsewhere.url}"`,
    ],
    ["unreadable", native],
    ...["up", {}, [], 3, null, new Response("<html>"), new Response(null)].map((answer) =>
      ["unreadable", answer] as const
    ),
  ];
  for (const [problem, answer, message] of rows) {
    const [found, text] = await problemOf(answer);
    assert.deepEqual([found, message ?? text], [problem, text]);
  }
  assert.deepEqual(elsewhere.requests, [], "no redirect is followed");
  const [, long = ""] = await problemOf(error(200, "bad_data", "x\n".repeat(9999)));
  assert.ok(long.length < 600 && !long.includes("\n"), long);
});

Deno.test("createInstantQueries() reads no endless answer", async () => {
  const long = await problemOf(vector(...Array(500).fill("1")), { mostBytes: 4096 });
  assertMatches(long, [/^unreadable$/, / 4096 bytes$/]);
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
      }),
    );
  assert.equal((await problemOf(endless()))[0], "unreadable");
});

Deno.test("createInstantQueries() waits no longer than it may, for the head or the rest of an answer", async () => {
  const waited = ["unreachable", "nothing came for 60 ms"];
  const begun = streamAnswer(['{"status":'], { open: true });
  assert.deepEqual(await problemOf(begun, { timeoutMs: 60 }), waited);
  const silent = Promise.withResolvers<string>();
  await using server = serveCanned(() => silent.promise);
  const queries = createInstantQueries({ timeoutMs: 60 });
  const answered = await queries.ask({ server: server.url, query: QUERY }, NEVER);
  silent.resolve("too late");
  assert.deepEqual("problem" in answered && [answered.problem, answered.message], waited);
});

Deno.test("createInstantQueries() reports an unreachable server, and an aborted query", async () => {
  const server = serveCanned(() => "");
  await server[Symbol.asyncDispose]();
  const queries = createInstantQueries();
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
