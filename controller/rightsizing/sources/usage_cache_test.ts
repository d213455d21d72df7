import assert from "node:assert/strict";
import fc from "fast-check";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import type { UsageAnswer, UsageQuestion, UsageSource } from "../ports.ts";
import { cacheLifeMs, createUsageCache } from "./usage_cache.ts";

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

test("createUsageCache() tells questions apart by workload, containers and length of the window", async () => {
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

test("createUsageCache() calls the source off when nobody waits any more, and not before", async () => {
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
