import fc from "fast-check";
import assert from "node:assert/strict";
import { VERSION } from "../../../shared/version.ts";
import {
  SERVED_END_MS,
  servedSource,
  usageSourceContract,
} from "../../../tests/contract/usage_contracts.ts";
import { assertMatches } from "../../../tests/fixtures/assert_matches.ts";
import { serveCanned } from "../../../tests/fixtures/canned_server.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { serveCustomUsage } from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import type { UsageQuery } from "../ports.ts";
import { createCustomUsageSource, type CustomUsageOptions } from "./custom_usage.ts";

usageSourceContract("createCustomUsageSource()", () => {
  const server = serveCustomUsage(SERVED_END_MS);
  return servedSource(server, createCustomUsageSource({ url: server.url }));
});

const NEVER = new AbortController().signal;
const QUESTION: UsageQuery = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: ["web-a"],
  otherPods: ["secret"],
  containers: ["app", "idle"],
  window: { fromMs: 1000, toMs: 2000 },
};
const ANSWER = {
  version: 1,
  containers: {
    app: { cpuMillicores: [[1500, 120.5], [2000, 0]], memoryBytes: [[1500, 4096]] },
    idle: {},
  },
};

async function ask(
  answer: unknown,
  { question = QUESTION, ...options }:
    & Partial<CustomUsageOptions>
    & { question?: UsageQuery } = {},
) {
  await using server = serveCanned(() => answer);
  const source = createCustomUsageSource({ url: `${server.url}/usage`, ...options });
  const answered = await source.usage(question, NEVER);
  return { answered, requests: server.requests };
}

async function problemOf(answer: unknown, options: Partial<CustomUsageOptions> = {}) {
  const { answered } = await ask(answer, options);
  assert.ok("problem" in answered, JSON.stringify(answered));
  return [answered.problem, answered.message];
}

Deno.test("createCustomUsageSource() sends the question and reads the samples, as documented", async () => {
  const { answered, requests } = await ask(ANSWER);
  assert.ok("usage" in answered, JSON.stringify(answered));
  const seen = Array.from(answered.usage.values(), ({ cpu, memory, ...rest }) => ({
    ...rest,
    samples: [cpu, memory].map(({ count, min, max, oldestMs, newestMs }) =>
      count === 0 ? [] : [count, min, max, oldestMs, newestMs]
    ),
  }));
  assert.deepEqual(seen, [
    { container: "app", samples: [[2, 0, 120.5, 1500, 2000], [1, 4096, 4096, 1500, 1500]] },
    { container: "idle", samples: [[], []] },
  ]);
  const [request] = requests;
  assert.deepEqual([request?.method, request?.path], ["POST", "/usage"]);
  assert.equal(request?.headers.get("user-agent"), `coallocator-controller/${VERSION}`);
  const { otherPods: _, ...sent } = QUESTION;
  assert.deepEqual(request?.body, { version: 1, ...sent });
});

Deno.test("createCustomUsageSource() understands the examples of its document", async () => {
  const page = await Deno.readTextFile("docs/custom-usage-source.md");
  const [asked = "", answer = ""] = Array.from(
    page.matchAll(/```json\n([\s\S]*?)```/g),
    ([, text]) => text ?? "",
  );
  const question: UsageQuery = { ...JSON.parse(asked), otherPods: [] };
  const { answered, requests } = await ask(JSON.parse(answer), { question });
  assert.deepEqual(requests[0]?.body, JSON.parse(asked));
  assert.ok("usage" in answered);
  const { cpu, memory } = answered.usage.get("app") ?? assert.fail();
  assert.deepEqual([cpu.count, memory.count], [2, 2]);
});

Deno.test("createCustomUsageSource() reports a rejected query and a failing server as different problems", async () => {
  const error = (status: number) => Response.json({ error: "no\nsuch" }, { status });
  assert.deepEqual(await problemOf(error(422)), ["refused", 'HTTP 422: "no\\nsuch"']);
  assert.deepEqual(await problemOf(error(404)), ["refused", 'HTTP 404: "no\\nsuch"']);
  assert.deepEqual(await problemOf(error(503)), ["unreachable", 'HTTP 503: "no\\nsuch"']);
  assert.deepEqual(await problemOf(new Response("no", { status: 401 })), [
    "unreachable",
    "HTTP 401",
  ]);
  assertMatches(await problemOf(ANSWER, { maxBytes: 20 }), [/^unreadable$/, / 20 bytes$/]);
});

Deno.test("createCustomUsageSource() reports which part of an answer is none", async () => {
  const [problem, message = ""] = await problemOf({
    containers: { app: { cpuMillicores: [[1, -2]] } },
  });
  assert.equal(problem, "unreadable");
  assert.match(message, /containers\.app\.cpuMillicores\.0\.1/);
  for (const other of ["x", null, {}, { ...ANSWER, version: 2 }, new Response("<html>")]) {
    assert.equal((await problemOf(other))[0], "unreadable");
  }
});

Deno.test("createCustomUsageSource() gives usage or a problem for any answer", async () => {
  let answer: unknown;
  await using server = serveCanned(() => answer);
  const source = createCustomUsageSource({ url: server.url });
  await fc.assert(
    fc.asyncProperty(mutatedJSON(ANSWER), async (mutated) => {
      answer = new Response(JSON.stringify(mutated) ?? "");
      const answered = await source.usage(QUESTION, NEVER);
      if ("problem" in answered) return assert.notEqual(answered.message, "");
      assert.deepEqual([...answered.usage.keys()], QUESTION.containers);
      for (const { cpu, memory } of answered.usage.values()) {
        for (const { count, min } of [cpu, memory]) assert.ok(count === 0 || min >= 0);
      }
    }),
  );
});
