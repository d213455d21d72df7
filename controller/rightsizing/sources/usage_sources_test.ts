import assert from "node:assert/strict";
import fc from "fast-check";
import { silentLog } from "../../../shared/log.ts";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import type { UsageAnswer, UsageQuestion, UsageSource } from "../ports.ts";
import { createUsageSources } from "./usage_sources.ts";

const NEVER = new AbortController().signal;
const INTERVAL = { intervalMs: 60_000 };

const QUESTION: UsageQuestion = {
  namespace: "shop",
  workload: { kind: "Deployment", name: "web", uid: "u" },
  pods: [],
  otherPods: [],
  containers: [],
  window: { fromMs: 0, toMs: 1 },
};

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A source that says its name. */
function named(message: string): UsageSource {
  return { usage: () => Promise.resolve({ problem: "refused", message }) };
}

function stage(custom: ReadonlyMap<string, () => UsageSource>) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sources = createUsageSources({
    prometheus: () => named("prometheus"),
    metricsServer: () => named("metrics-server"),
    custom,
    clock,
    log: silentLog,
  });
  const said = async (policy: Parameters<typeof sources.of>[0]): Promise<UsageAnswer> =>
    await sources.of(policy).usage(QUESTION, NEVER);
  return { clock, said };
}

test("createUsageSources() lets no source hold those who ask it for ever", async () => {
  const hanging: UsageSource = { usage: () => new Promise<UsageAnswer>(() => {}) };
  const { clock, said } = stage(new Map([["stuck", () => hanging]]));
  const answer = said({ provider: "custom", customSource: "stuck", ...INTERVAL });
  await clock.runUntil(300_000);
  const late = await answer;
  assert.ok("problem" in late && late.problem === "unreachable");
  assert.match(late.message, / 300 s$/);
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
      const { said } = stage(custom);
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
  const { said } = stage(new Map([["billing", () => named("billing")]]));
  const other = await said({ provider: "custom", customSource: "biling", ...INTERVAL });
  assert.ok("problem" in other && other.problem === "unavailable");
  assert.match(other.message, /"biling" .*: billing$/);
  const none = await stage(new Map()).said({ provider: "custom", ...INTERVAL });
  assert.ok("problem" in none);
  assert.match(none.message, / none$/);
});

test("createUsageSources() makes a source once, and tries a start that failed again after a pause", async () => {
  let starts = 0;
  let fails = true;
  const { clock, said } = stage(
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

test("createUsageSources() tells how long a source took, under the policies' word, and nothing of what was cached", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const told: unknown[] = [];
  const slow = (ms: number): UsageSource => ({
    async usage(_question, signal) {
      await clock.sleep(ms, signal);
      return { usage: new Map() };
    },
  });
  const sources = createUsageSources({
    prometheus: () => slow(300),
    metricsServer: () => slow(20),
    custom: new Map([["ours", () => slow(50)]]),
    clock,
    log: silentLog,
    collected: (...args) => void told.push(args),
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
  // There is no such source: nobody was asked.
  await ask({ provider: "custom", customSource: "theirs", ...INTERVAL });
  assert.deepEqual(told, [["prometheus", 300], ["custom", 50], ["metrics-server", 20]]);
});
