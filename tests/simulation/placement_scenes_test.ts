/**
 * Placement in a small world: hand-written stories.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import { Play, type Story } from "./placement_play.ts";

/** A hand-written story, after the workload has come up. */
async function begun(
  changes: Partial<Story>,
  eachSecond: (play: Play) => void = () => {},
): Promise<Play> {
  const story = {
    kind: "Deployment" as const,
    replicas: 10,
    spec: { spotPercentage: 70, minOnDemand: 2 },
    lag: 1,
    budget: true,
    events: [],
    ...changes,
  };
  const play = new Play(story, eachSecond);
  await play.seconds(30);
  assert.deepEqual(play.counts, play.split);
  return play;
}

function scene(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

scene("replicas of a spot node that dies run on another spot node", async () => {
  const play = await begun({ replicas: 3, spec: { spotPercentage: 100, minOnDemand: 0 } });
  const node = play.world.live[0]?.node;
  assert.equal(node?.class, "spot" satisfies NodeClass);
  play.world.loseNode(node);
  await play.seconds(20);
  assert.deepEqual(play.counts, { spot: 3, "on-demand": 0 });
  assert.deepEqual(play.product.evictions, []);
});

scene(
  "without spot nodes replicas run on-demand, and return one by one when there are some again",
  async () => {
    for (const kind of ["Deployment", "StatefulSet"] as const) {
      const play = await begun({ kind });
      play.happens({ does: "spot gone" });
      await play.seconds(100);
      assert.deepEqual(play.counts, { spot: 0, "on-demand": 10 }, kind);
      await play.seconds(300);
      play.happens({ does: "nodes back" });
      let least = Infinity;
      for (let second = 0; second < 600; second++) {
        await play.seconds(1);
        least = Math.min(least, play.counts["on-demand"] + play.counts.spot);
      }
      assert.deepEqual(play.counts, { spot: 7, "on-demand": 3 }, kind);
      assert.equal(least, 9, kind);
    }
  },
);

scene("another share is come to by moves, one at a time", async () => {
  for (const kind of ["Deployment", "StatefulSet"] as const) {
    const play = await begun({ kind, spec: { spotPercentage: 50, minOnDemand: 1 } });
    play.happens({ does: "spec", spec: { spotPercentage: 80, minOnDemand: 1 } });
    await play.seconds(120);
    assert.deepEqual(play.counts, { spot: 8, "on-demand": 2 });
    assert.equal(play.product.evictions.length, 3);
    // Each move was on record before it was sent.
    const recorded = new Set(play.product.rememberedAtEvictions);
    assert.ok(recorded.size === 3 && !recorded.has(undefined), [...recorded].join());
    // Once the moves are older than each cooldown, nothing is written.
    await play.seconds(240);
    const { writes } = play.product;
    await play.seconds(120);
    assert.equal(play.product.writes, writes);
  }
});

scene("what was made while the webhook was down is moved afterwards", async () => {
  const play = await begun({ replicas: 0 });
  play.happens({ does: "webhook down" });
  play.happens({ does: "scale", to: 10 });
  await play.seconds(10);
  play.happens({ does: "all up" });
  await play.seconds(200);
  assert.deepEqual(play.counts, { spot: 7, "on-demand": 3 });
});

scene(
  "pods of a node that is about to go are evicted early, and come back in their class",
  async () => {
    const play = await begun({ spec: { spotPercentage: 70, minOnDemand: 2 }, budget: true });
    const node = play.world.live.find((pod) => pod.node?.class === "spot")?.node;
    assert.ok(node);
    play.world.departing.add(node);
    await play.seconds(30);
    assert.ok(play.world.live.every((pod) => pod.node !== node));
    assert.deepEqual(play.counts, { spot: 7, "on-demand": 3 });
    assert.ok(play.product.evictions.length > 0);
    assert.ok(play.product.evictions.every(({ why }) => why === "departs"));
  },
);

scene(
  "pods of a node that is drained leave it one by one, each when the one before is Ready",
  async () => {
    for (const kind of ["Deployment", "StatefulSet"] as const) {
      let least = Infinity;
      const play = await begun({ kind, budget: false }, ({ world }) => {
        least = Math.min(least, world.live.filter((pod) => world.isReady(pod)).length);
      });
      const node = play.world.live.find((pod) => pod.node?.class === "on-demand")?.node;
      assert.ok(node);
      const there = play.world.live.filter((pod) => pod.node === node).length;
      least = Infinity;
      play.world.draining.add(node);
      await play.seconds(30 * there);
      assert.ok(play.world.live.every((pod) => pod.node !== node));
      assert.deepEqual(play.counts, play.split);
      assert.deepEqual(
        play.product.evictions.map(({ why }) => why),
        Array(there).fill("drained"),
        kind,
      );
      assert.equal(least, 9);
    }
  },
);

scene(
  "a pod that comes to a node which goes no more, and may be taken for departing, is left alone",
  async () => {
    // Of two watches either may be late: the pod is known on the node before this is known to stay.
    const play = new Play({
      kind: "Deployment",
      replicas: 1,
      spec: { spotPercentage: 0, minOnDemand: 0 },
      lag: 1,
      budget: false,
      events: [],
    }, () => {});
    await play.play({
      events: [
        [0, { does: "interrupt", which: 4 }],
        [1, { does: "scale", to: 2 }],
        [3, { does: "scale", to: 1 }],
        [0, { does: "interrupt", which: 5 }],
        [5, { does: "scale", to: 4 }],
      ],
    });
    const earlier = play.product.evictions.length;
    play.happens({ does: "nodes back" });
    await play.seconds(60);
    assert.deepEqual(play.counts, play.split);
    assert.deepEqual(play.product.evictions.slice(earlier), []);
  },
);

scene(
  "pods with a node that stays after all, while others of it are evicted, are left alone",
  async () => {
    const play = await begun({
      lag: 3,
      budget: false,
      spec: { spotPercentage: 0, minOnDemand: 0 },
    });
    const node = play.world.live[0]?.node;
    assert.ok(node);
    const there = play.world.live.filter((pod) => pod.node === node).length;
    assert.ok(there > 2, `${there}`);
    play.world.departing.add(node);
    while (play.product.evictions.length === 0) await play.seconds(1);
    play.world.departing.delete(node);
    await play.seconds(60);
    // One more is on its way while the copy of the node is late.
    assert.ok(
      play.product.evictions.length < there,
      `${play.product.evictions.length} of ${there}`,
    );
  },
);

scene("pods that find a spot node while others fall back stay there", async () => {
  const play = await begun({
    lag: 3,
    budget: false,
    spec: { spotPercentage: 100, minOnDemand: 0 },
  });
  play.happens({ does: "spot gone" });
  while (play.product.evictions.length === 0) await play.seconds(1);
  play.happens({ does: "nodes back" });
  await play.seconds(30);
  const stranded = play.product.evictions.filter(({ why }) => why === "stranded");
  assert.ok(stranded.length > 0 && stranded.length < play.world.workload.replicas);
});

scene(
  "a controller that dies after what it remembers was written moves no second pod",
  async () => {
    const play = await begun({ spec: { spotPercentage: 50, minOnDemand: 1 } });
    play.happens({ does: "spec", spec: { spotPercentage: 80, minOnDemand: 1 } });
    for (let life = 0; life < 60; life++) {
      const before = play.product.evictions.length;
      // The first write is of the cooldown: the eviction that should follow is not sent.
      play.product.diesAfter = life % 3;
      await play.seconds(5);
      assert.ok(play.product.evictions.length <= before + 1);
    }
    play.product.diesAfter = undefined;
    await play.seconds(120);
    assert.deepEqual(play.counts, { spot: 8, "on-demand": 2 });
    assert.equal(play.product.evictions.length, 3);
  },
);

scene(
  "moves that don't help stay rare when the controller begins anew",
  async () => {
    const play = await begun({ budget: false, spec: { spotPercentage: 0, minOnDemand: 0 } });
    play.happens({ does: "spot gone" });
    // No webhook sends pods to spot nodes, of which there are none.
    play.happens({ does: "webhook down" });
    play.happens({ does: "spec", spec: { spotPercentage: 50, minOnDemand: 0 } });
    while (play.product.evictions.length < 5) await play.seconds(1);
    for (let life = 0; life < 10; life++) {
      play.product.controllerUp = false;
      await play.seconds(1);
      play.product.controllerUp = true;
      await play.seconds(10);
    }
    assert.equal(play.product.evictions.length, 5);
    play.happens({ does: "all up" });
    play.happens({ does: "nodes back" });
    await play.seconds(400);
    assert.deepEqual(play.counts, play.split);
  },
);

scene("events report a shortage and its end, each once", async () => {
  const play = await begun({});
  const reasons = (): string[] => play.product.events.map(({ reason }) => reason);
  assert.deepEqual(reasons(), []);
  play.happens({ does: "spot gone" });
  await play.seconds(30);
  assert.deepEqual(new Set(reasons()), new Set(["SpotFallback", "PodRescheduled"]));
  assert.equal(reasons().filter((one) => one === "SpotFallback").length, 1);
  play.happens({ does: "nodes back" });
  await play.seconds(400);
  assert.deepEqual(play.counts, play.split);
  const ended = reasons().filter((one) =>
    one === "SpotReturned" || one === "ReconciliationSuccess"
  );
  assert.deepEqual(ended, ["SpotReturned", "ReconciliationSuccess"]);
});

scene("a controller that only reads changes nothing", async () => {
  const play = await begun({ spec: { spotPercentage: 50, minOnDemand: 1 } });
  play.product.readOnly = true;
  const writes = play.product.writes;
  play.happens({ does: "spec", spec: { spotPercentage: 80, minOnDemand: 1 } });
  play.happens({ does: "lose", which: 0 });
  await play.seconds(60);
  assert.deepEqual(play.product.evictions, []);
  assert.equal(play.product.writes, writes);
});
