/**
 * Replicas with spot nodes that die, are missing, or are about to go, on a real cluster.
 *
 * @module
 */
import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import { createKubectl } from "./kubectl.ts";
import { PLACEMENT_TIMES } from "./scene/all_components.ts";
import { whenReported } from "./scene/reported.ts";
import {
  countsOf,
  placedWorkload,
  type PlacedWorkloadOptions,
  placementBed,
} from "./scene/placement_bed.ts";
import { testsAtOnce } from "./scene/until.ts";

const kubectl = createKubectl();

const bed = placementBed([
  { name: "death-spot-1", class: "spot", scene: "death" },
  { name: "death-spot-2", class: "spot", scene: "death" },
  { name: "death-spot-3", class: "spot", scene: "death" },
  { name: "death-steady-1", class: "on-demand", scene: "death" },
  { name: "shortage-steady-1", class: "on-demand", scene: "shortage" },
  { name: "full-spot-1", class: "spot", scene: "full", pods: 2 },
  { name: "full-steady-1", class: "on-demand", scene: "full" },
  { name: "notice-spot-1", class: "spot", scene: "notice" },
  { name: "notice-spot-2", class: "spot", scene: "notice" },
  { name: "notice-steady-1", class: "on-demand", scene: "notice" },
  { name: "drain-spot-1", class: "spot", scene: "drain" },
  { name: "drain-spot-2", class: "spot", scene: "drain" },
  { name: "drain-steady-1", class: "on-demand", scene: "drain" },
]);

/** The specification's bound on a fallback, beyond the time that a pod may wait for a node. */
const FALLS_BACK_WITHIN_MS = PLACEMENT_TIMES.scheduleTimeoutMs + 15_000;
/** Delays of the server, the scheduler and this machine, before and after the bounded time. */
const MARGIN_MS = 15_000;
/** The node controller looks every 5 s, and deletes the pods of a few nodes at once. */
const TAKEN_AWAY = { timeoutMs: 60_000 } as const;
/** Times of the API are whole seconds. */
const A_SECOND_LATER_MS = 1500;
/** From the end of the fallback: a move each, with its cooldown. */
const RETURNS = { timeoutMs: PLACEMENT_TIMES.fallbackMs + 60_000 } as const;

async function apply(wanted: Omit<PlacedWorkloadOptions, "namespace">): Promise<void> {
  const object = placedWorkload({ ...wanted, namespace: bed.namespace });
  await kubectl.must(["apply", "-f", "-"], object);
}

/**
 * Makes a workload that spot nodes have no room for, and gives it a new one once it has fallen back.
 */
async function assertFallsBackAndReturns(scene: string, spot: number): Promise<void> {
  const place = { namespace: bed.namespace, name: scene };
  const begunMs = performance.now();
  await apply({ name: scene, scene, replicas: 6, share: "70%", floor: 1 });
  await whenReported(bed.node, { ...place, reason: "SpotFallback" });
  const tookMs = performance.now() - begunMs;
  assert.ok(tookMs <= FALLS_BACK_WITHIN_MS + MARGIN_MS, `it took ${tookMs} ms`);
  // Replicas that have found a spot node stay there.
  await bed.replicas.whenDivided(scene, { spot, "on-demand": 6 - spot });
  const moments = bed.replicas.everyMoment(scene, (replicas) => {
    const ready = replicas.filter((one) => one.ready).length;
    assert.ok(ready >= 5, `${ready} of 6 are Ready while one after the other returns`);
    assert.ok(countsOf(replicas)["on-demand"] >= 1, "the floor holds");
  });
  await bed.nodes.add({ name: `${scene}-spot-9`, class: "spot", scene });
  await bed.replicas.whenDivided(scene, { spot: 4, "on-demand": 2 }, RETURNS);
  moments.end();
  await whenReported(bed.node, { ...place, reason: "SpotReturned" });
}

/**
 * One of two spot nodes says that it is about to go: its pods leave it, and 7 of 8 are Ready at any
 * moment.
 */
async function assertLeaves(name: string, key: string): Promise<void> {
  await bed.node.create(`/apis/policy/v1/namespaces/${bed.namespace}/poddisruptionbudgets`, {
    metadata: { name },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
  });
  await apply({ name, scene: name, replicas: 8, share: "75%" });
  const whole = { spot: 6, "on-demand": 2 };
  const before = await bed.replicas.whenDivided(name, whole);
  const going = before.find((one) => one.class === "spot")?.nodeName ?? "";
  const moments = bed.replicas.everyMoment(name, (replicas) => {
    const ready = replicas.filter((one) => one.ready).length;
    assert.ok(ready >= 7, `${ready} of 8 are Ready`);
  });
  // A pod that was made in the second of the sign may have come after it, and stays.
  await systemClock.sleep(A_SECOND_LATER_MS);
  await bed.nodes.taint(going.replace(/^z-/, ""), key);
  const after = await bed.replicas.whenDivided(name, whole, {
    timeoutMs: 60_000,
    suits: (replicas) => replicas.every(({ nodeName }) => nodeName !== going),
  });
  moments.end();
  const kept = before.filter(({ nodeName }) => nodeName !== going);
  for (const { uid } of kept) assert.ok(after.some((one) => one.uid === uid), "the others stay");
}

// Each on nodes of its own.
testsAtOnce({
  "3 replicas on spot, a spot node dies → the replacement is on another spot node": async () => {
    const name = "death";
    await apply({ name, scene: "death", replicas: 3, share: "100%" });
    const before = await bed.replicas.whenDivided(name, { spot: 3, "on-demand": 0 });
    const dead = before[0]?.nodeName ?? "";
    await bed.nodes.die(dead.replace(/^z-/, ""));
    const lost = before.filter(({ nodeName }) => nodeName === dead).map(({ uid }) => uid);
    const whole = { spot: 3, "on-demand": 0 };
    const after = await bed.replicas.whenDivided(name, whole, {
      ...TAKEN_AWAY,
      suits: (replicas) => replicas.every(({ uid }) => !lost.includes(uid)),
    });
    for (const { nodeName, class: one } of after) {
      assert.equal(one, "spot");
      assert.notEqual(nodeName, dead);
    }
    const kept = before.filter(({ uid }) => !lost.includes(uid)).map(({ uid }) => uid);
    for (const uid of kept) assert.ok(after.some((one) => one.uid === uid), "the others stay");
  },
  "no spot nodes, or full ones → on-demand, and back when spot returns": async () => {
    await Promise.all([
      assertFallsBackAndReturns("shortage", 0),
      assertFallsBackAndReturns("full", 2),
    ]);
  },
  "a spot node that is gone in minutes, or that its autoscaler drains, is left within the budget":
    async () => {
      await Promise.all([
        assertLeaves("notice", "aws-node-termination-handler/spot-itn"),
        assertLeaves("drain", "karpenter.sh/disrupted"),
      ]);
    },
});
