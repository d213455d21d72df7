import fc from "fast-check";
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
import { sceneQuestion } from "../../../tests/contract/support/usage_scene.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../../../tests/fixtures/rightsizing/usage_answers.ts";
import { CONTROLLER_SETTINGS } from "../../settings.ts";

const NEVER = new AbortController().signal;

function test(name: string, fn: () => Promise<void> | void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

test("property 32: k requests inside the cache's lifetime cause one call, after expiry one more", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60_000 }),
      fc.array(fc.double({ min: 0, max: 0.99, noNaN: true }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 500 }),
      async (lifeMs, shares, tookMs) => {
        const { cache, clock, asked, pass } = stage({ tookMs });
        const source = cache(lifeMs);
        const together = shares.map(() => source.usage(question("web"), NEVER));
        await pass(tookMs);
        const [first, ...rest] = await Promise.all(together);
        assert.ok(rest.every((answer) => answer === first));
        const answeredAt = clock.monotonic();
        for (const share of shares.toSorted((a, b) => a - b)) {
          await pass(answeredAt + share * lifeMs - clock.monotonic());
          assert.equal(await source.usage(question("web", clock.monotonic()), NEVER), first);
        }
        assert.equal(asked.length, 1);
        await pass(answeredAt + lifeMs - clock.monotonic());
        const again = shares.map(() => source.usage(question("web", clock.monotonic()), NEVER));
        await pass(tookMs);
        assert.ok((await Promise.all(again)).every((answer) => answer !== first));
        assert.equal(asked.length, 2);
      },
    ),
  );
});

test("createUsageCache() distinguishes questions by workload, containers and length of the window", async () => {
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

test("createUsageCache() keeps failures for a short back-off only", async () => {
  const { cache, asked, pass } = stage({ problem: true });
  const source = cache(60_000);
  for (const [wait, calls] of [[0, 1], [4999, 1], [1, 2]] as const) {
    await pass(wait);
    await source.usage(question("web"), NEVER);
    assert.equal(asked.length, calls);
  }
});

test("createUsageCache() keeps no answer of a question that was aborted", async () => {
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

test("createUsageCache() asks again after a question that was rejected", async () => {
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

/** A source that says its name. */
function named(message: string): UsageSource {
  return { usage: () => Promise.resolve({ problem: "refused", message }) };
}

function sourcesStage(create: UsageSourceParts["create"]) {
  const clock = createVirtualClock({ wallStart: 0 });
  const reported: unknown[] = [];
  const collected = (...args: unknown[]) => void reported.push(args);
  const sources = createUsageSources({ create, clock, log: silentLog, collected });
  const said = async (policy: SourceOfPolicy): Promise<UsageAnswer> =>
    await sources.sourceFor(policy).usage(question("web"), NEVER);
  return { clock, said, reported };
}

test("createUsageSources() gives up a source that never answers, and aborts its question", async () => {
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

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 });

test("property 30: createUsageSources() selects a registered source by its name, and one that fails to start changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(names, fc.infiniteStream(fc.boolean()), async (names, chance) => {
      const broken = new Set(names.filter(() => chance.next().value));
      const { said } = sourcesStage((provider, name = provider) => {
        if (broken.has(name)) throw new Error(name);
        return named(name);
      });
      for (const customSource of names) {
        const answer = await said({ provider: "custom", customSource, ...INTERVAL });
        assert.ok("problem" in answer);
        assert.equal(answer.message.split(" ").at(-1), customSource);
        assert.equal(answer.problem, broken.has(customSource) ? "unavailable" : "refused");
      }
      for (const provider of ["prometheus", "metrics-server"] as const) {
        const expected = { problem: "refused", message: provider };
        assert.deepEqual(await said({ provider, ...INTERVAL }), expected);
      }
    }),
  );
});

test("createUsageSources() creates a source once, tries a start that failed again, and caches for half an interval", async () => {
  let [starts, fails] = [0, true];
  const { source, asked } = stage();
  const { clock, said } = sourcesStage(() => {
    starts++;
    if (fails) throw new Error("Cannot start: no");
    return source;
  });
  await said(CUSTOM);
  fails = false;
  for (
    const [waitMs, intervalMs, calls] of [
      [0, 10_000, 1],
      [4999, 10_000, 1],
      [1, 10_000, 2],
      [59_999, 300_000, 2],
      [1, 300_000, 3],
    ] as const
  ) {
    await clock.runUntil(clock.monotonic() + waitMs);
    await said({ ...CUSTOM, intervalMs });
    assert.equal(asked.length, calls);
  }
  assert.equal(starts, 2);
});

test("createUsageSources() reports how long a source took, by provider, and nothing of what was cached", async () => {
  const { clock, said, reported } = sourcesStage((_provider, name) => {
    if (name === "theirs") return { problem: "unavailable", message: "there is none" };
    return {
      async usage(_question, signal) {
        await clock.sleep(300, signal);
        return { usage: new Map() };
      },
    };
  });
  for (
    const policy of [
      { provider: "prometheus", ...INTERVAL },
      { provider: "prometheus", ...INTERVAL },
      CUSTOM,
      { ...CUSTOM, customSource: "theirs" },
    ] as const
  ) {
    const answer = said(policy);
    await clock.runUntil(clock.monotonic() + 1000);
    await answer;
  }
  assert.deepEqual(reported, [["prometheus", 300], ["custom", 300]]);
});

const END_MS = Date.UTC(2026, 0, 1);

/** The sources of a settings file. */
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
