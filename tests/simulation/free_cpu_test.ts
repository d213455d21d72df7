/**
 * What limits do where idle CPU is free, in a closed loop with the model of a node.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readDemoScene } from "../../cli/demo_scene.ts";
import { SHARED_NODE_SCENES } from "../../lab/arena/shared_node_scenes.ts";
import { jainIndex } from "../../lab/simulation/scores.ts";
import { playMarket } from "../../lab/simulation/play_market.ts";
import type { RunSeries } from "../../lab/simulation/run_record.ts";
import type { Scene } from "../../lab/simulation/scene.ts";
import { DIVIDED } from "../../shared/scarcity/scarce_clearing.ts";
import type { Workload } from "../../lab/simulation/workload.ts";

const BURST_FACTOR = 8;

/** The scene under the market as it is where idle CPU is free. */
function play(scene: Scene): Promise<RunSeries> {
  return playMarket(scene, {
    agent: { idleCPU: "free" },
    controller: { burstFactor: BURST_FACTOR },
  });
}

/** The workload, without anything that comes after `endMs`. */
function until(workload: Workload, endMs: number): Workload {
  return {
    get nextAt() {
      return workload.nextAt > endMs ? Infinity : workload.nextAt;
    },
    get nextCost() {
      return workload.nextCost;
    },
    next: () => workload.next(),
    coresAt: (ms) => ms > endMs ? 0 : workload.coresAt(ms),
  };
}

/** Every pod's limit ends at its ceiling. */
function assertAtCeilings({ pods, capacity }: RunSeries): void {
  for (const { name, originalLimit, limit } of pods) {
    assert.equal(limit.at(-1), Math.min(BURST_FACTOR * originalLimit, capacity), name);
  }
}

/** CPU that each pod used from second `from` on, millicores. */
function usageFrom({ pods, stepS }: RunSeries, from: number): number[] {
  return pods.map(({ usage }) => {
    const after = usage.subarray(Math.round(from / stepS));
    return after.reduce((sum, value) => sum + value, 0) / after.length;
  });
}

/** The second in which usage first reaches the market's capacity. */
function onsetS({ pods, stepS, capacity }: RunSeries): number {
  const steps = pods[0]?.usage.length ?? 0;
  for (let step = 0; step < steps; step++) {
    const used = pods.reduce((sum, { usage }) => sum + (usage[step] ?? 0), 0);
    if (used >= capacity) return step * stepS;
  }
  return NaN;
}

/** Capacity that a clearing divides, and each pod's part of it by weight. Millicores. */
function partsOf({ pods, capacity }: RunSeries): number[] {
  const weights = pods.reduce((sum, { weight }) => sum + weight, 0);
  return pods.map(({ weight }) => DIVIDED * capacity * weight / weights);
}

Deno.test("playMarket() of an ample node brings each limit to its ceiling, once", async () => {
  const { scene } = await readDemoScene({ seed: 1, minutes: 1, pods: 20, giveUp: 0, json: true });
  const series = await play(scene);
  const { pods, changes } = series;
  assert.equal(changes.length, pods.length);
  for (const { atS, reason } of changes) {
    assert.equal(reason, "CPUFree");
    assert.ok(atS < 6, `${atS}`);
  }
  assertAtCeilings(series);
});

Deno.test("playMarket() of equal pods on a scarce node gives them the same CPU", async () => {
  const series = await play(SHARED_NODE_SCENES["eight-equal"]({ seed: 1, minutes: 1 }));
  const index = jainIndex(usageFrom(series, onsetS(series) + 5));
  assert.ok(index >= 0.999, `${index}`);
});

Deno.test("playMarket() lowers what takes from others that wait, from 5 s after the onset", async () => {
  for (const seed of [1, 2, 3]) {
    const series = await play(SHARED_NODE_SCENES["light-services"]({ seed, minutes: 1 }));
    const { pods, changes, stepS, capacity } = series;
    const [batch, parts] = [pods.at(-1), partsOf(series)];
    assert.ok(batch?.name === "batch");
    // Its share is what the services leave, which use 750 m each; a decrease is worth 5 %.
    const most = 1.05 * (DIVIDED * capacity - 3 * 750);
    const rest = batch.limit.subarray(Math.round((onsetS(series) + 5) / stepS));
    assert.ok(Math.max(...rest) <= most, `${Math.max(...rest)}`);
    for (const [index, { name, limit, originalLimit }] of pods.entries()) {
      const least = Math.min(parts[index] ?? 0, originalLimit);
      assert.ok(Math.min(...limit) >= Math.floor(least), `${name}: ${Math.min(...limit)}`);
    }
    const lowered = changes.filter(({ from, to }) => to < from);
    assert.ok(lowered.some(({ pod }) => pod === "batch"));
    for (const { reason } of lowered) assert.equal(reason, "NodeCongested");
  }
});

Deno.test("playMarket() brings limits back to their ceilings when the load has ended", async () => {
  const END_S = 15;
  const made = SHARED_NODE_SCENES["eight-equal"]({ seed: 2, minutes: 1 });
  const scene = {
    ...made,
    pods: made.pods.map((pod) => ({
      ...pod,
      workload: () => until(pod.workload(), END_S * 1000),
    })),
  };
  const series = await play(scene);
  // 5 s of work are left when the load ends; 10 s and the time that a change takes follow.
  assertAtCeilings(series);
  const last = Math.max(...series.changes.map(({ atS }) => atS));
  assert.ok(last < END_S + 10 + 15, `${last}`);
});
