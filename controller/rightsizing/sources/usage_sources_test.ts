import fc from "fast-check";
import assert from "node:assert/strict";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { UsageAnswer, UsageQuestion, UsageSource } from "../ports.ts";
import {
  cacheLifeMs,
  connectUsageSources,
  createUsageCache,
  createUsageSources,
} from "./usage_sources.ts";
import { effectiveSettings } from "../../../shared/config/load.ts";
import { sceneQuestion } from "../../../tests/contract/support/usage_scene.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../../../tests/fixtures/rightsizing/usage_stand_ins.ts";
import { CONTROLLER_SETTINGS } from "../../settings.ts";

const NEVER = new AbortController().signal;

function test(name: string, fn: () => Promise<void> | void): void {
  Deno.test({ name, permissions: "none", fn });
}

function question(name: string, toMs = 0): UsageQuestion {
  return {
    namespace: "shop",
    workload: { kind: "Deployment", name, uid: name },
    pods: [],
    otherPods: [],
    containers: ["app"],
    window: { fromMs: toMs - 60_000, toMs },
  };
}

/** A source that answers when it is let, and counts; each answer is another object. */
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
  return { cache, clock, asked, ended, pass };
}

test("cacheLifeMs() is half the interval, and a minute at most", () => {
  assert.equal(cacheLifeMs({ intervalMs: 10_000 }), 5000);
  assert.equal(cacheLifeMs({ intervalMs: 300_000 }), 60_000);
});

test("property 32: k requests inside the cache's lifetime cause one call, after expiry one more", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 60_000 }),
      fc.array(fc.double({ min: 0, max: 0.99, noNaN: true }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 0, max: 500 }),
      async (lifeMs, shares, tookMs) => {
        const { cache, clock, asked, pass } = stage({ tookMs });
        const source = cache.within(lifeMs);
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

test("createUsageCache() leads each question of a cycle to a lookup, that of its own workload", async () => {
  const names = fc.array(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 5 }), async (cycles) => {
      const { cache, asked, pass } = stage();
      const source = cache.within(30_000);
      for (const cycle of cycles) {
        const before = asked.length;
        await Promise.all(cycle.map((name) => source.usage(question(name), NEVER)));
        assert.deepEqual(asked.slice(before).sort(), [...new Set(cycle)].sort());
        await pass(60_000);
      }
    }),
  );
});

test("createUsageCache() distinguishes questions by workload, containers and length of the window", async () => {
  const { cache, asked } = stage();
  const source = cache.within(30_000);
  const web = question("web");
  const others: readonly UsageQuestion[] = [
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
  const source = cache.within(60_000);
  for (const wait of [0, 4999]) {
    await pass(wait);
    await source.usage(question("web"), NEVER);
  }
  assert.equal(asked.length, 1);
  await pass(1);
  await source.usage(question("web"), NEVER);
  assert.equal(asked.length, 2);
});

test("createUsageCache() aborts the source when no question waits any more, and not before", async () => {
  const { cache, asked, ended, pass } = stage({ tookMs: 100 });
  const source = cache.within(30_000);
  const [one, two] = [new AbortController(), new AbortController()];
  const first = source.usage(question("web"), one.signal);
  const second = source.usage(question("web"), two.signal);
  one.abort();
  const answer = await first;
  assert.ok("problem" in answer && answer.problem === "unreachable");
  assert.deepEqual(ended, []);
  two.abort();
  await second;
  assert.deepEqual(ended, ["web"]);
  const third = source.usage(question("web"), NEVER);
  await pass(100);
  assert.ok("usage" in await third);
  assert.deepEqual(asked, ["web", "web"]);
  const aborted = await source.usage(question("web"), AbortSignal.abort());
  assert.ok("problem" in aborted);
  assert.equal(asked.length, 2);
});

const INTERVAL = { intervalMs: 60_000 };

const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: [],
  otherPods: [],
  containers: [],
  window: { fromMs: 0, toMs: 1 },
};

/** A source that says its name. */
function named(message: string): UsageSource {
  return { usage: () => Promise.resolve({ problem: "refused", message }) };
}

function sourcesStage(custom: ReadonlyMap<string, () => UsageSource>) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sources = createUsageSources({
    providers: {
      prometheus: () => named("prometheus"),
      "metrics-server": () => named("metrics-server"),
      custom,
    },
    clock,
    log: silentLog,
  });
  const said = async (policy: Parameters<typeof sources.of>[0]): Promise<UsageAnswer> =>
    await sources.of(policy).usage(QUESTION, NEVER);
  return { clock, said };
}

test("createUsageSources() gives up a source that never answers, and aborts its question", async () => {
  let aborted = false;
  const hanging: UsageSource = {
    usage(_question, signal) {
      signal.addEventListener("abort", () => aborted = true);
      return new Promise<UsageAnswer>(() => {});
    },
  };
  const { clock, said } = sourcesStage(new Map([["stuck", () => hanging]]));
  const answer = said({ provider: "custom", customSource: "stuck", ...INTERVAL });
  await clock.runUntil(299_999);
  assert.equal(aborted, false);
  await clock.runUntil(300_000);
  const late = await answer;
  assert.ok("problem" in late && late.problem === "unreachable");
  assert.match(late.message, / 300 s$/);
  assert.equal(aborted, true);
});

const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 6 });

test("property 30: createUsageSources() selects a registered source by its name, and one that fails to start changes nothing", async () => {
  await fc.assert(
    fc.asyncProperty(names, fc.infiniteStream(fc.boolean()), async (names, chance) => {
      const broken = new Set(names.filter(() => chance.next().value));
      const custom = new Map(names.map((name) => [name, () => {
        if (broken.has(name)) throw new Error(name);
        return named(name);
      }]));
      const { said } = sourcesStage(custom);
      for (const customSource of names) {
        const answer = await said({ provider: "custom", customSource, ...INTERVAL });
        assert.ok("problem" in answer);
        assert.equal(answer.message.split(" ").at(-1), customSource);
        assert.equal(answer.problem, broken.has(customSource) ? "unavailable" : "refused");
      }
      for (const provider of ["prometheus", "metrics-server"] as const) {
        assert.deepEqual(await said({ provider, ...INTERVAL }), {
          problem: "refused",
          message: provider,
        });
      }
    }),
  );
});

test("createUsageSources() names the sources that there are where a policy names another", async () => {
  const { said } = sourcesStage(new Map([["billing", () => named("billing")]]));
  const other = await said({ provider: "custom", customSource: "biling", ...INTERVAL });
  assert.ok("problem" in other && other.problem === "unavailable");
  assert.match(other.message, /"biling" .*: billing$/);
  const none = await sourcesStage(new Map()).said({ provider: "custom", ...INTERVAL });
  assert.ok("problem" in none);
  assert.match(none.message, / none$/);
});

test("createUsageSources() creates a source once, and tries a start that failed again after a pause", async () => {
  let starts = 0;
  let fails = true;
  const { clock, said } = sourcesStage(
    new Map([["billing", () => {
      starts++;
      if (fails) throw new Error("Cannot start: no");
      return named("billing");
    }]]),
  );
  const policy = { provider: "custom", customSource: "billing", ...INTERVAL } as const;
  await said(policy);
  await said(policy);
  assert.equal(starts, 1);
  fails = false;
  await clock.runUntil(30_000);
  assert.deepEqual(await said(policy), { problem: "refused", message: "billing" });
  await clock.runUntil(120_000);
  await said({ ...policy, intervalMs: 10_000 });
  assert.equal(starts, 2);
});

test("createUsageSources() reports how long a source took, by provider, and nothing of what was cached", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const reported: unknown[] = [];
  const slow = (ms: number): UsageSource => ({
    async usage(_question, signal) {
      await clock.sleep(ms, signal);
      return { usage: new Map() };
    },
  });
  const sources = createUsageSources({
    providers: {
      prometheus: () => slow(300),
      "metrics-server": () => slow(20),
      custom: new Map([["ours", () => slow(50)]]),
    },
    clock,
    log: silentLog,
    collected: (...args) => void reported.push(args),
  });
  const ask = async (policy: Parameters<typeof sources.of>[0], signal = NEVER): Promise<void> => {
    const answer = sources.of(policy).usage(QUESTION, signal);
    await clock.runUntil(clock.monotonic() + 1000);
    await answer;
  };
  await ask({ provider: "prometheus", ...INTERVAL });
  await ask({ provider: "prometheus", ...INTERVAL });
  await ask({ provider: "custom", customSource: "ours", ...INTERVAL });
  await ask({ provider: "metrics-server", ...INTERVAL });
  // No such source is configured.
  await ask({ provider: "custom", customSource: "theirs", ...INTERVAL });
  assert.deepEqual(reported, [["prometheus", 300], ["custom", 50], ["metrics-server", 20]]);
});

const END_MS = Date.UTC(2026, 0, 1);

/** The sources of a settings file. */
function connect(text: string) {
  const file = { path: "config.yaml", text };
  const read = effectiveSettings(CONTROLLER_SETTINGS, { file });
  assert.ok(!("faults" in read), JSON.stringify(read));
  const sampler: UsageSource = { usage: () => Promise.resolve({ usage: new Map() }) };
  const clock = createVirtualClock({ wallStart: END_MS });
  return connectUsageSources({ settings: () => read.values, sampler, clock, log: silentLog });
}

Deno.test("property 30: connectUsageSources() selects a source by what stands in the settings file", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  await using billing = serveCustomUsage(END_MS);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/token`, "t0ken");
    const sources = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusLogin: tokenFile=${folder}/token
rightsizing:
  customSources:
    billing: ${billing.url}/v1 tokenFile=${folder}/token
    broken: ${billing.url}/v2 tokenFile=${folder}/none
`);
    const ask = (policy: Parameters<typeof sources.of>[0]) =>
      sources.of(policy).usage(sceneQuestion(END_MS), NEVER);
    const found = await ask({ provider: "custom", customSource: "billing", ...INTERVAL });
    assert.ok("usage" in found && (found.usage.get("app")?.cpu.count ?? 0) > 0);
    const broken = await ask({ provider: "custom", customSource: "broken", ...INTERVAL });
    assert.ok("problem" in broken && broken.problem === "unreachable");
    assert.ok(broken.message.includes(`${folder}/none`), broken.message);
    const asked = await ask({ provider: "prometheus", ...INTERVAL });
    assert.ok("usage" in asked && (asked.usage.get("app")?.cpu.count ?? 0) > 0);
    assert.deepEqual(await ask({ provider: "metrics-server", ...INTERVAL }), { usage: new Map() });
    assert.deepEqual(billing.requests.map(({ path }) => path), ["/v1"]);
    for (const { headers } of [...prometheus.requests, ...billing.requests]) {
      assert.equal(headers.get("authorization"), "Bearer t0ken");
    }
    sources.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("connectUsageSources() says that no Prometheus is configured", async () => {
  const sources = connect("");
  const answer = await sources.of({ provider: "prometheus", ...INTERVAL })
    .usage(sceneQuestion(END_MS), NEVER);
  assert.ok("problem" in answer && answer.problem === "unavailable");
  sources.close();
});

Deno.test("connectUsageSources() sends the configured headers, and asks for the configured labels alone", async () => {
  await using prometheus = servePrometheusStandIn(END_MS);
  const samplesOf = async (cluster: string): Promise<number | undefined> => {
    const sources = connect(`
metrics:
  prometheusURL: ${prometheus.url}
  prometheusHeaders:
    X-Scope-OrgID: shop
  prometheusMatchers: 'cluster="${cluster}"'
`);
    const answer = await sources.of({ provider: "prometheus", ...INTERVAL })
      .usage(sceneQuestion(END_MS), NEVER);
    sources.close();
    return "usage" in answer ? answer.usage.get("app")?.cpu.count : undefined;
  };
  assert.ok((await samplesOf("prod") ?? 0) > 0);
  assert.equal(await samplesOf("other"), 0);
  assert.ok(prometheus.requests.length >= 4);
  for (const { headers } of prometheus.requests) {
    assert.equal(headers.get("x-scope-orgid"), "shop");
  }
});
