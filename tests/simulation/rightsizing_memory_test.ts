/**
 * Memory with peaks: what is lowered, and what is in force when a peak comes too close to it.
 *
 * @module
 */
import { RESOURCE_SIDES } from "../../shared/resize/inputs/resources.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { PodContainer } from "../../shared/api/pod.ts";
import { leastSafeMemory } from "../../shared/rightsizing/guards/memory_decrease.ts";
import { anyStrategy } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { NAMESPACE, type RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import {
  incidentsWithin,
  inWorld,
  live,
  worldProperty,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;
/** Between two peaks: less than a tenth of all samples are one. */
const PEAK_EVERY = 20;

/** The container uses `low` bytes of memory, and `peak` for a minute now and then. */
function usesInPeaks(
  { source, clock }: RightsizingScene,
  { low, peak }: { readonly low: number; readonly peak: number },
): void {
  const { cpu, memory } = source.of(
    { namespace: NAMESPACE, kind: "Deployment", name: "web" },
    "app",
  );
  for (let minute = -60; minute < 240; minute++) {
    const atMs = clock.wall() + minute * MINUTE_MS;
    cpu.push([atMs, 100]);
    memory.push([atMs, minute % PEAK_EVERY === 0 ? peak : low]);
  }
}

/** Each value of memory to which a pod's was lowered. */
function loweredIn(scene: RightsizingScene): readonly number[] {
  const { Pod } = scene.api.store.tables;
  const lowered: number[] = [];
  const contents = (): Map<string, PodContainer | undefined> =>
    new Map(Pod.all().map(({ metadata: { name }, containers: [app] }) => [name, app]));
  let before = contents();
  scene.api.store.onChange(() => {
    const now = contents();
    for (const [name, app] of now) {
      for (const side of RESOURCE_SIDES) {
        const [was, is] = [before.get(name)?.[side].memory ?? 0, app?.[side].memory ?? 0];
        if (is < was) lowered.push(is);
      }
    }
    before = now;
  });
  return lowered;
}

const seen = { lowered: 0, held: 0 };

worldProperty(
  "property 5 in the loop: no pod's memory is lowered below its recent peak + 15 %, and the reason says so",
  [
    fc.record({
      present: fc.integer({ min: 100, max: 1000 }),
      low: fc.integer({ min: 10, max: 60 }),
      // Of what is used mostly, percent: below 104 the recommendation is safe.
      rise: fc.oneof(fc.constantFrom(100, 103, 104, 105), fc.integer({ min: 100, max: 2000 })),
    }),
    anyStrategy,
    incidentsWithin(20 * MINUTE_MS),
  ],
  ({ present, low, rise }, strategy, incidents) =>
    inWorld([], async (scene) => {
      const peak = low * rise / 100;
      const app = templateContainer({
        requests: { memory: present * MI },
        limits: { memory: 2 * present * MI },
      });
      scene.deployment("web", { containers: [app] });
      usesInPeaks(scene, { low: low * MI, peak: Math.ceil(peak * MI) });
      const lowered = loweredIn(scene);
      scene.policy("all", {
        strategy: { ...strategy, allowInPlaceResize: true, allowRecreate: false },
      });
      await live(scene, 30 * MINUTE_MS, { incidents, workloads: [] });
      const safe = leastSafeMemory(Math.ceil(peak * MI));
      for (const value of lowered) assert.ok(value >= safe, `${value} of at least ${safe}`);
      seen.lowered += lowered.length;
      const reported = scene.events.filter(({ reason }) => reason === "UnsafeMemoryDecrease");
      // Ten percent of what is there are worth a change, whatever the threshold.
      if (1.2 * low < 0.4 * present && 1.15 * peak > 1.2 * low) {
        assert.ok(reported.length > 0, `${scene.recordOf("web")?.reason}`);
        seen.held++;
      }
    }),
);

Deno.test("property 5 in the loop: both happen", { permissions: "none" }, () => {
  assert.ok(seen.lowered > 20 && seen.held > 20, JSON.stringify(seen));
});
