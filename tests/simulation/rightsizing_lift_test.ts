/**
 * Memory in force that a peak comes too close to: new pods are safe, and running ones are left alone for
 * noise.
 *
 * @module
 */
import type { Resources } from "../../shared/api/pod.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { leastSafeMemory } from "../../shared/rightsizing/guards/memory_decrease.ts";
import { cases } from "../fixtures/cases.ts";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE, openRightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";

const MINUTE_MS = 60_000;
const MINUTES = 120;
const PODS = 2;
const START = 500 * MI;

interface World {
  /** Thousandths by which the use of each minute is above `START`. */
  readonly above: readonly number[];
  readonly percent: number;
  readonly cooldownMinutes: number;
  readonly windowMinutes: number;
}

const schedule = {
  percent: fc.constantFrom(0, 5, 10, 50),
  cooldownMinutes: fc.constantFrom(30, 600),
  windowMinutes: fc.constantFrom(20, 1440),
};
const creeping: fc.Arbitrary<World> = fc.record({
  ...schedule,
  above: fc.integer({ min: 1, max: 5 }).map((rise) =>
    Array.from({ length: MINUTES }, (_, minute) => 50 + minute * rise)
  ),
});
const noisy: fc.Arbitrary<World> = fc.record({
  ...schedule,
  above: fc.array(fc.integer({ min: 50, max: 130 }), { minLength: MINUTES, maxLength: MINUTES }),
});

const memoryOf = (containers: readonly Resources[]): number => containers[0]?.requests.memory ?? 0;

/** Lives through it, and counts resizes of pods and decisions of the loop. */
async function lifted({ above, percent, cooldownMinutes, windowMinutes }: World) {
  await using scene = openRightsizingScene();
  const template = { requests: { cpu: 100, memory: 2048 * MI }, limits: { memory: 4096 * MI } };
  scene.deployment("web", { pods: PODS, containers: [bareContainer("app", template)] });
  scene.uses("web", { cpu: 100, memory: START });
  scene.policy("all", {
    windowMs: windowMinutes * MINUTE_MS,
    strategy: { changeThresholdPercent: percent, cooldownMs: cooldownMinutes * MINUTE_MS },
  });
  await scene.run(10 * MINUTE_MS);
  assert.equal(memoryOf(scene.podsOf("web")[0]?.containers ?? []), 600 * MI);
  const { memory } = scene.source.of(
    { namespace: NAMESPACE, kind: "Deployment", name: "web" },
    "app",
  );
  const [before, nowMs] = [scene.resizes.length, scene.clock.wall()];
  for (const [minute, thousandths] of above.entries()) {
    memory.push([nowMs + minute * MINUTE_MS, START * (1000 + thousandths) / 1000]);
  }
  const applied = new Set<number>();
  let least = Infinity;
  for (let minute = 0; minute < MINUTES; minute += 10) {
    await scene.run(10 * MINUTE_MS);
    const { inForce, usage, appliedAtMs = 0 } = scene.recordOf("web") ?? assert.fail();
    applied.add(appliedAtMs);
    least = leastSafeMemory(usage?.[0]?.memory?.max ?? assert.fail());
    assert.ok((inForce[0]?.memory ?? 0) >= least, "new pods are safe");
  }
  const born = await scene.born("web");
  assert.ok(memoryOf(born.containers) >= least, "and get what is in force");
  assert.ok(applied.size <= 1 + MINUTES / cooldownMinutes, "the cooldown holds");
  const steps = Math.log((1000 + Math.max(...above)) / 1000) /
    Math.log1p(Math.max(percent, 5) / 100);
  return { resizes: scene.resizes.length - before, decisions: applied.size, steps };
}

for (const [what, worlds] of Object.entries({ creeping, noisy })) {
  Deno.test(`runRightsizingLoop() resizes for a ${what} peak once a step, and new pods are safe all the time`, async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async (world) => {
        const { resizes, decisions, steps } = await lifted(world);
        const most = PODS * (decisions - 1 + decisions * (1 + Math.floor(steps)));
        assert.ok(resizes >= PODS, "600 Mi are not enough");
        assert.ok(resizes <= most, `${resizes} of ${most}`);
      }),
      cases(0.2),
    );
  });
}
