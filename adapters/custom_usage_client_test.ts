import assert from "node:assert/strict";
import fc from "fast-check";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { serveCanned } from "../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../tests/fixtures/mutated_json.ts";
import { createCustomUsageClient, type CustomUsageOptions } from "./custom_usage_client.ts";

const NEVER = new AbortController().signal;
const QUESTION = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: ["web-a"],
  containers: ["app"],
  window: { fromMs: 1000, toMs: 2000 },
};
const ANSWER = {
  version: 1,
  containers: {
    app: { cpuMillicores: [[1500, 120.5], [2000, 0]], memoryBytes: [[1500, 4096]] },
    idle: {},
  },
};

async function ask(answer: unknown, options: Partial<CustomUsageOptions> = {}) {
  await using server = serveCanned(() => answer);
  const subject = createCustomUsageClient({ url: `${server.url}/usage`, ...options });
  const answered = await subject.ask(QUESTION, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown, options: Partial<CustomUsageOptions> = {}) {
  const { answered } = await ask(answer, options);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return [answered.problem, answered.message];
}

Deno.test("createCustomUsageClient() sends the question and reads the samples, as documented", async () => {
  const extra = { ...QUESTION, otherPods: ["secret"] };
  await using server = serveCanned(() => ANSWER);
  const answered = await createCustomUsageClient({ url: `${server.url}/usage` }).ask(extra, NEVER);
  const none = { timesMs: [], values: [] };
  assert.deepEqual(answered, {
    containers: new Map([
      ["app", {
        cpu: { timesMs: [1500, 2000], values: [120.5, 0] },
        memory: { timesMs: [1500], values: [4096] },
      }],
      ["idle", { cpu: none, memory: none }],
    ]),
  });
  const [request] = server.requests;
  assert.deepEqual([request?.method, request?.path], ["POST", "/usage"]);
  assert.deepEqual(request?.body, { version: 1, ...QUESTION });
});

Deno.test("createCustomUsageClient() understands the examples of its document", async () => {
  const page = await Deno.readTextFile("docs/custom-usage-source.md");
  const [question = "", answer = ""] = Array.from(
    page.matchAll(/```json\n([\s\S]*?)```/g),
    ([, text]) => text ?? "",
  );
  const { requests } = await ask(ANSWER);
  const keys = (value: unknown): readonly string[] => Object.keys(value as object);
  assert.deepEqual(keys(JSON.parse(question)), keys(requests[0]?.body));
  const { answered } = await ask(JSON.parse(answer));
  assert.ok("containers" in answered);
  assert.ok((answered.containers.get("app")?.cpu.values.length ?? 0) > 0);
});

Deno.test("createCustomUsageClient() reports a rejected query and a failing server as different problems", async () => {
  const error = (status: number) => Response.json({ error: "no\nsuch" }, { status });
  assert.deepEqual(await problemOf(error(422)), ["refused", 'HTTP 422: "no\\nsuch"']);
  assert.deepEqual(await problemOf(error(404)), ["refused", 'HTTP 404: "no\\nsuch"']);
  assert.deepEqual(await problemOf(error(503)), ["unreachable", 'HTTP 503: "no\\nsuch"']);
  assert.deepEqual(await problemOf(new Response("no", { status: 401 })), [
    "unreachable",
    "HTTP 401",
  ]);
  const away = new Response(null, { status: 307, headers: { location: "http://elsewhere" } });
  assertMatches(await problemOf(away), [/^unreachable$/, /^HTTP 307: /]);
  assertMatches(await problemOf(ANSWER, { mostBytes: 20 }), [/^unreadable$/, / 20 bytes$/]);
});

Deno.test("createCustomUsageClient() reports which part of an answer is none", async () => {
  const [problem, message = ""] = await problemOf({
    containers: { app: { cpuMillicores: [[1, -2]] } },
  });
  assert.equal(problem, "unreadable");
  assert.match(message, /containers\.app\.cpuMillicores\.0\.1/);
  for (const other of ["x", null, {}, { ...ANSWER, version: 2 }, new Response("<html>")]) {
    assert.equal((await problemOf(other))[0], "unreadable");
  }
});

Deno.test("createCustomUsageClient() gives numbers or a problem for any answer", async () => {
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const subject = createCustomUsageClient({ url: server.url });
  await fc.assert(
    fc.asyncProperty(mutatedJSON(ANSWER), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const answered = await subject.ask(QUESTION, NEVER);
      if ("problem" in answered) return assert.notEqual(answered.message, "");
      for (const { cpu, memory } of answered.containers.values()) {
        for (const { timesMs, values } of [cpu, memory]) {
          assert.equal(timesMs.length, values.length);
          assert.ok(values.every((value) => value >= 0));
        }
      }
    }),
  );
});
