import assert from "node:assert/strict";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { UsageAnswer, UsageQuery, UsageSource } from "../ports.ts";
import {
  connectUsageSources,
  createUsageCache,
  createUsageSources,
  type SourceOfPolicy,
  type UsageSourceParts,
} from "./usage_sources.ts";
import { effectiveSettings } from "../../../shared/config/load.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sceneQuestion } from "../../../tests/contract/support/usage_scene.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import { CONTROLLER_SETTINGS } from "../../settings.ts";

const NEVER = new AbortController().signal;

function question(name: string, toMs = 0): UsageQuery {
  return {
    namespace: "shop",
    workload: { kind: "Deployment", name, uid: name },
    pods: [],
    otherPods: [],
    containers: ["app"],
    window: { fromMs: toMs - 60_000, toMs },
  };
}

/** A source that takes a while, and counts; each answer is another object. */
function stage({ tookMs = 0, problem = false } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const asked: string[] = [];
  const ended: string[] = [];
  const source: UsageSource = {
    async usage({ workload }, signal): Promise<UsageAnswer> {
      asked.push(workload.name);
      signal.addEventListener("abort", () => ended.push(workload.name));
      if (tookMs > 0) await clock.sleep(tookMs, signal);
      return problem ? { problem: "unreachable", message: "gone" } : { usage: new Map() };
    },
  };
  const cache = createUsageCache({ source, clock });
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  return { cache, source, clock, asked, ended, pass };
}

pure("property 32: k requests in the cache's lifetime cause one call, then one more", async () => {
  const { cache, asked, pass } = stage({ tookMs: 500 });
  const source = cache(30_000);
  const askTogether = async (): Promise<UsageAnswer | undefined> => {
    const answers = [0, 1, 2].map((toMs) => source.usage(question("web", toMs), NEVER));
    await pass(500);
    const [first, ...rest] = await Promise.all(answers);
    assert.ok(rest.every((answer) => answer === first));
    return first;
  };
  const first = await askTogether();
  for (const waitMs of [0, 15_000, 14_499]) {
    await pass(waitMs);
    assert.equal(await source.usage(question("web", waitMs), NEVER), first);
  }
  assert.equal(asked.length, 1);
  await pass(501);
  assert.notEqual(await askTogether(), first);
  assert.equal(asked.length, 2);
});

pure("createUsageCache() distinguishes questions by workload, containers and window", async () => {
  const { cache, asked } = stage();
  const source = cache(30_000);
  const web = question("web");
  const others: readonly UsageQuery[] = [
    { ...web, namespace: "other" },
    { ...web, workload: { ...web.workload, uid: "made again" } },
    { ...web, workload: { ...web.workload, kind: "DaemonSet" } },
    { ...web, containers: ["app", "proxy"] },
    { ...web, window: { fromMs: -120_000, toMs: 0 } },
  ];
  for (const one of [web, ...others]) await source.usage(one, NEVER);
  assert.equal(asked.length, 6);
  await source.usage({ ...web, pods: ["web-1"] }, NEVER);
  assert.equal(asked.length, 6);
});

pure("createUsageCache() keeps failures for a short back-off only", async () => {
  const { cache, asked, pass } = stage({ problem: true });
  const source = cache(60_000);
  for (const [wait, calls] of [[0, 1], [4999, 1], [1, 2]] as const) {
    await pass(wait);
    await source.usage(question("web"), NEVER);
    assert.equal(asked.length, calls);
  }
});

pure("createUsageCache() keeps no answer of a question that was aborted", async () => {
  const { cache, asked, ended, pass } = stage({ tookMs: 100 });
  const source = cache(30_000);
  const over = new AbortController();
  const first = source.usage(question("web"), over.signal);
  over.abort();
  await pass(0);
  await first;
  assert.deepEqual(ended, ["web"]);
  const second = source.usage(question("web"), NEVER);
  await pass(100);
  assert.ok("usage" in await second);
  assert.deepEqual(asked, ["web", "web"]);
});

pure("createUsageCache() asks again after a question that was rejected", async () => {
  const answers = [Promise.reject(new TypeError("no JSON")), Promise.resolve({ usage: new Map() })];
  const source = createUsageCache({
    source: { usage: () => answers.shift() ?? assert.fail() },
    clock: createVirtualClock({ wallStart: 0 }),
  })(30_000);
  await assert.rejects(source.usage(question("web"), NEVER), /no JSON/);
  assert.ok("usage" in await source.usage(question("web"), NEVER));
});

const INTERVAL = { intervalMs: 60_000 };
const CUSTOM = { provider: "custom", customSource: "billing", ...INTERVAL } as const;

function sourcesStage(create: UsageSourceParts["create"]) {
  const clock = createVirtualClock({ wallStart: 0 });
  const reported: unknown[] = [];
  const collected = (...args: unknown[]) => void reported.push(args);
  const sources = createUsageSources({ create, clock, log: silentLog, collected });
  const said = async (policy: SourceOfPolicy): Promise<UsageAnswer> =>
    await sources.sourceFor(policy).usage(question("web"), NEVER);
  return { clock, said, reported };
}

pure("createUsageSources() gives up a source that never answers, and aborts it", async () => {
  let aborted = false;
  const { clock, said } = sourcesStage(() => ({
    usage(_question, signal) {
      signal.addEventListener("abort", () => aborted = true);
      return new Promise<UsageAnswer>(() => {});
    },
  }));
  const answer = said(CUSTOM);
  await clock.runUntil(299_999);
  assert.equal(aborted, false);
  await clock.runUntil(300_000);
  const late = await answer;
  assert.ok("problem" in late && late.problem === "unreachable");
  assert.equal(aborted, true);
});

pure("createUsageSources() creates a source once, and caches for half an interval", async () => {
  let [starts, fails] = [0, true];
  const { source, asked } = stage();
  const { clock, said } = sourcesStage(() => {
    starts++;
    if (fails) throw new Error("Cannot start: no");
    return source;
  });
  await said(CUSTOM);
  fails = false;
  const rows = [
    ...[[0, 10_000, 1], [4999, 10_000, 1], [1, 10_000, 2]] as const,
    ...[[59_999, 300_000, 2], [1, 300_000, 3]] as const,
  ];
  for (const [waitMs, intervalMs, calls] of rows) {
    await clock.runUntil(clock.monotonic() + waitMs);
    await said({ ...CUSTOM, intervalMs });
    assert.equal(asked.length, calls);
  }
  assert.equal(starts, 2);
});

pure("createUsageSources() reports how long a source took, by provider", async () => {
  const { clock, said, reported } = sourcesStage((_provider, name) => {
    if (name === "theirs") return { problem: "unavailable", message: "there is none" };
    return {
      async usage(_question, signal) {
        await clock.sleep(300, signal);
        return { usage: new Map() };
      },
    };
  });
  const prometheus = { provider: "prometheus", ...INTERVAL } as const;
  for (const policy of [prometheus, prometheus, CUSTOM, { ...CUSTOM, customSource: "theirs" }]) {
    const answer = said(policy);
    await clock.runUntil(clock.monotonic() + 1000);
    await answer;
  }
  assert.deepEqual(reported, [["prometheus", 300], ["custom", 300]]);
});

const END_MS = Date.UTC(2026, 0, 1);

function connect(text: string) {
  const read = effectiveSettings(CONTROLLER_SETTINGS, { file: { path: "config.yaml", text } });
  assert.ok(!("faults" in read), JSON.stringify(read));
  const sampler: UsageSource = { usage: () => Promise.resolve({ usage: new Map() }) };
  const clock = createVirtualClock({ wallStart: END_MS });
  const sources = connectUsageSources({
    ...{ settings: () => read.values, sampler, clock, log: silentLog, collected: undefined },
  });
  const ask = (policy: SourceOfPolicy) =>
    sources.sourceFor(policy).usage(sceneQuestion(END_MS), NEVER);
  return { ask, close: sources.close };
}

const samplesOf = (answer: UsageAnswer): number | undefined =>
  "usage" in answer ? answer.usage.get("app")?.cpu.count : undefined;

Deno.test("property 30: connectUsageSources() selects a source by what stands in the settings file", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  await using billing = serveCustomUsage(END_MS);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/token`, "t0ken");
    const { ask, close } = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusLogin: tokenFile=${folder}/token
rightsizing:
  customSources:
    billing: ${billing.url}/v1 tokenFile=${folder}/token
    broken: ${billing.url}/v2 tokenFile=${folder}/none
`);
    assert.ok((samplesOf(await ask(CUSTOM)) ?? 0) > 0);
    const broken = await ask({ ...CUSTOM, customSource: "broken" });
    assert.ok("problem" in broken && broken.problem === "unreachable");
    assert.ok(broken.message.includes(`${folder}/none`), broken.message);
    assert.ok((samplesOf(await ask({ provider: "prometheus", ...INTERVAL })) ?? 0) > 0);
    assert.deepEqual(await ask({ provider: "metrics-server", ...INTERVAL }), { usage: new Map() });
    assert.deepEqual(billing.requests.map(({ path }) => path), ["/v1"]);
    for (const { headers } of [...prometheus.requests, ...billing.requests]) {
      assert.equal(headers.get("authorization"), "Bearer t0ken");
    }
    close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("connectUsageSources() sends the configured headers, and asks for the configured labels alone", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  for (const [cluster, hasSamples] of [["prod", true], ["other", false]] as const) {
    const { ask, close } = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusHeaders:
    X-Scope-OrgID: shop
  prometheusMatchers: 'cluster="${cluster}"'
`);
    const samples = samplesOf(await ask({ provider: "prometheus", ...INTERVAL }));
    assert.equal((samples ?? NaN) > 0, hasSamples);
    close();
  }
  assert.ok(prometheus.requests.length >= 4);
  for (const { headers } of prometheus.requests) {
    assert.equal(headers.get("x-scope-orgid"), "shop");
  }
});
