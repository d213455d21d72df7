/** The whole controller with placement on, in virtual time. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import { splitReplicas } from "../../shared/placement/split.ts";
import { cases } from "../fixtures/cases.ts";
import { clusterTest, PlacementCluster } from "./placement_cluster.ts";
import { tainted } from "./placement_scheduler.ts";

/** Until a replica leads and decides: the election, what it remembers, and the time to settle. */
const BEGIN_MS = 10_000;
const MINUTE_MS = 60_000;

clusterTest("runController() splits new pods, also through a change of leader", async (cluster) => {
  const first = cluster.start("10.0.0.1");
  await cluster.pass(BEGIN_MS);
  const second = cluster.start("10.0.0.2");
  await cluster.pass(BEGIN_MS);
  assert.deepEqual([await first.leads(), await second.leads()], [true, false]);
  cluster.replicas = 10;
  await cluster.pass(5000);
  assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
  const placed = async ({ registry }: typeof first): Promise<string | undefined> =>
    /^spotalis_webhook_requests_total\{.*result="Placed"\} (\d+)$/m
      .exec(await registry.metrics())?.[1];
  assert.deepEqual([await placed(first), await placed(second)], ["10", undefined]);

  first.terminate();
  await cluster.pass(BEGIN_MS);
  assert.equal(first.exitCode(), 0);
  assert.equal(await second.leads(), true);
  cluster.replicas = 30;
  await cluster.pass(5000);
  assert.deepEqual(cluster.counts, { spot: 21, "on-demand": 9 });
  cluster.replicas = 10;
  await cluster.pass(30_000);
  assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
  // No pod had to be moved.
  assert.equal(cluster.evictions, 0);
  assert.equal(await placed(second), "20");
  const metrics = await second.registry.metrics();
  assert.match(metrics, /^spotalis_workload_replicas\{.*replica_type="spot"\} 7$/m);
  assert.match(metrics, /^spotalis_leader_election_status 1$/m);
});

/** A burst in steps of half a second, in which the leader is killed. */
const anyBurst = fc.record({
  latencyMs: fc.integer({ min: 1, max: 70 }),
  floor: fc.nat(30),
  step: fc.integer({ min: 2, max: 10 }),
  killedAfterMs: fc.nat(6000),
});

Deno.test("runController() that is killed in a burst costs placements, and neither floor nor share", async () => {
  let halves = 0;
  await fc.assert(
    fc.asyncProperty(anyBurst, async ({ latencyMs, floor, step, killedAfterMs }) => {
      await using cluster = new PlacementCluster("70%", { latencyMs });
      cluster.floor = floor;
      const first = cluster.start("10.0.0.1");
      await cluster.pass(BEGIN_MS);
      cluster.start("10.0.0.2");
      await cluster.pass(BEGIN_MS);
      void cluster.clock.sleep(killedAfterMs, new AbortController().signal).then(first.cutOff);
      while (cluster.replicas < 100) {
        cluster.replicas = Math.min(100, cluster.replicas + step);
        await cluster.pass(500);
      }
      await cluster.pass(2000);
      const spec = { spotPercentage: 70, minOnDemand: floor };
      const classes = cluster.live.flatMap(({ metadata }) => metadata.labels[CAPACITY] ?? []);
      const spot = classes.filter((one) => one === "spot").length;
      // Answers on their way may be lost with the leader.
      const least = splitReplicas(classes.length, spec).spot - step;
      assert.equal(cluster.live.length, 100);
      assert.ok(spot >= least && spot <= 70, `${spot} on spot, at least ${least}`);
      if (classes.length > 0 && classes.length < 100) halves++;
    }),
    cases(0.2),
  );
  assert.ok(halves > 5, `${halves}`);
});

clusterTest("runController() fills the floor though creations are denied", async (cluster) => {
  cluster.share = "100%";
  cluster.floor = 2;
  cluster.start("10.0.0.1");
  await cluster.pass(BEGIN_MS);
  for (const denials of [1, 2, 3, 5]) {
    cluster.denials = denials;
    cluster.replicas = 3;
    await cluster.pass(MINUTE_MS);
    assert.deepEqual([cluster.counts["on-demand"], cluster.evictions], [2, 0], `${denials}`);
    cluster.replicas = 0;
    await cluster.pass(MINUTE_MS);
  }
});

clusterTest("runController() moves what was there, as does the next leader", async (cluster) => {
  cluster.replicas = 10;
  await cluster.pass(5000);
  assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 10 });
  const first = cluster.start("10.0.0.1");
  const second = cluster.start("10.0.0.2");
  await cluster.pass(50_000);
  const moved = cluster.counts.spot;
  assert.ok(moved > 0 && moved < 7, `${moved}`);
  // The machine is gone, and with it the leader.
  const [leader, next] = await first.leads() ? [first, second] : [second, first];
  leader.cutOff();
  await cluster.pass(30_000);
  assert.equal(leader.exitCode(), 1);
  assert.equal(await next.leads(), true);
  await cluster.pass(180_000);
  assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
  assert.equal(cluster.evictions, 7);
});

clusterTest("runController() moves nothing in read-only mode", async (cluster) => {
  cluster.replicas = 10;
  await cluster.pass(5000);
  const program = cluster.start("10.0.0.1", { "--read-only-mode": "on" });
  await cluster.pass(BEGIN_MS);
  cluster.removeNodes("spot");
  cluster.changeNode("on-demand-0", tainted("karpenter.sh/disrupted"));
  cluster.replicas = 20;
  await cluster.pass(120_000);
  assert.deepEqual([cluster.counts, cluster.evictions], [{ spot: 0, "on-demand": 20 }, 0]);
  // Nothing but what it would do is published.
  assert.deepEqual([...new Set(cluster.memory.writes)], ["apply mbcas-placement-shop"]);
  const cost = "controller.kubernetes.io/pod-deletion-cost";
  assert.ok(cluster.live.every(({ metadata }) => !(cost in metadata.annotations)));
  const metrics = await program.registry.metrics();
  assert.match(metrics, /^spotalis_webhook_requests_total\{.*result="ReadOnly"\} 10$/m);
});

clusterTest("runController() goes on a minute after a failed eviction", async (cluster) => {
  cluster.replicas = 10;
  await cluster.pass(5000);
  let failures = 0;
  cluster.refusal = () => {
    if (failures++ === 0) throw new ApiError(500, "InternalError", "etcd is gone");
    cluster.refusal = undefined;
    return { is: "blocked", message: "later" };
  };
  // However seldom all workloads are reconciled.
  cluster.start("10.0.0.1", { "--resync-period": "1h" });
  await cluster.pass(300_000);
  assert.deepEqual([failures, cluster.counts], [2, { spot: 7, "on-demand": 3 }]);
});

clusterTest(
  "runController() reports the floor on-demand, and how long pods wait",
  async (cluster) => {
    const { registry } = cluster.start("10.0.0.1");
    const OF_WEB = 'namespace="shop",workload="web",workload_type="deployment"';
    const valueOf = async (name: string): Promise<number> => {
      const start = `mbcas_placement_${name}{${OF_WEB}} `;
      const line = (await registry.metrics()).split("\n").find((one) => one.startsWith(start));
      return Number(line?.slice(start.length));
    };
    cluster.floor = 2;
    await cluster.pass(BEGIN_MS);
    cluster.replicas = 10;
    await cluster.pass(30_000);
    assert.equal(await valueOf("workload_floor_replicas"), 2);
    assert.equal(await valueOf("pending_seconds"), 0);
    cluster.removeNodes("on-demand");
    await cluster.pass(20 * MINUTE_MS);
    assert.equal(await valueOf("workload_floor_replicas"), 2);
    const pending = await valueOf("pending_seconds");
    assert.ok(pending > 900 && pending <= 1200, `${pending}`);
  },
);

clusterTest("runController() makes pods on-demand while spot nodes are short", async (cluster) => {
  const first = cluster.start("10.0.0.1");
  const second = cluster.start("10.0.0.2");
  await cluster.pass(BEGIN_MS);
  cluster.removeNodes("spot");
  cluster.replicas = 10;
  await cluster.pass(50_000);
  assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 3 });
  await cluster.pass(30_000);
  assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 10 });
  // At once: the webhook has it of the loop.
  cluster.replicas = 12;
  await cluster.pass(4000);
  assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 12 });
  const [leader, next] = await first.leads() ? [first, second] : [second, first];
  leader.terminate();
  await cluster.pass(BEGIN_MS);
  assert.equal(await next.leads(), true);
  cluster.replicas = 14;
  await cluster.pass(4000);
  assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 14 });
  cluster.addNodes("spot", 3);
  await cluster.pass(600_000);
  assert.deepEqual(cluster.counts, { spot: 9, "on-demand": 5 });
});

/** Pods that ask for spot nodes without a webhook's answer. */
const FOR_SPOT = { spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } } };

// Where in its second the sign comes: API servers store the time of creation in seconds.
for (const afterMs of [0, 100, 500, 900]) {
  clusterTest(
    `pods of nodes with a sign that keeps no pod away are evicted once, ${afterMs} ms into a second`,
    async (cluster) => {
      await cluster.begin(10);
      await cluster.pass(afterMs);
      const names = ["spot-0", "spot-1", "spot-2"];
      for (const evictions of [7, 14]) {
        for (const name of names) {
          cluster.changeNode(name, (node) => ({ ...node, alarms: ["TerminateScheduled"] }));
        }
        await cluster.pass(5 * MINUTE_MS);
        assert.equal(cluster.evictions, evictions);
        assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
        // Another time is another departure.
        for (const name of names) cluster.changeNode(name, ({ alarms: _over, ...node }) => node);
        await cluster.pass(MINUTE_MS);
      }
    },
  );
}

clusterTest("a fallback recreates pods that no webhook saw ever more rarely", async (cluster) => {
  cluster.template = FOR_SPOT;
  cluster.start("10.0.0.1", { "--webhook": "off" });
  await cluster.pass(10_000);
  cluster.removeNodes("spot");
  cluster.replicas = 10;
  const times: number[] = [];
  for (let second = 0; second < 62 * 60; second++) {
    const before = cluster.evictions;
    await cluster.pass(1000);
    const evicted = cluster.evictions - before;
    if (evicted === 0) continue;
    assert.equal(evicted, 10);
    times.push(second);
  }
  const gaps = times.slice(1).map((second, index) => second - times[index]!);
  assert.ok(gaps.every((gap) => gap >= 60), gaps.join());
  // Once a fallback has lasted for three minutes, each three minutes at most.
  assert.ok(gaps.filter((gap) => gap < 179).length <= 2 * 5 + 5, gaps.join());
  const reported = cluster.events.filter(({ reason }) => reason === "SpotFallback");
  // Fallbacks of 2, 4, 8, 16 and 30 minutes, and once in each that no webhook seems to answer.
  assert.deepEqual(
    reported.map(({ message }) => / webhook .*\?$/.test(message)),
    Array.from({ length: 10 }, (_, index) => index % 2 === 1),
  );
});

clusterTest("a refused eviction is requested now and then, and reported once", async (cluster) => {
  await cluster.begin(10);
  let asked = 0;
  cluster.refusal = () => {
    asked++;
    return { is: "blocked", message: "a budget" };
  };
  const there = cluster.podsOn("spot-0");
  cluster.changeNode("spot-0", tainted("aws-node-termination-handler/spot-itn"));
  const { Pod } = cluster.api.store.tables;
  for (let second = 0; second < 600; second++) {
    // A change of a pod makes the controller look.
    const [other] = Pod.all().filter(({ nodeName }) => nodeName === "on-demand-0");
    Pod.modify(`shop/${other?.metadata.name}`, (pod) => {
      const annotations = { ...pod.metadata.annotations, second: `${second}` };
      return { ...pod, metadata: { ...pod.metadata, annotations } };
    });
    await cluster.pass(1000);
  }
  // With a cooldown of 10 s, once in that time.
  assert.ok(asked >= there * 50 && asked <= there * 61, `${asked} of ${there}`);
  const reported = cluster.events.filter(({ reason }) => reason === "BlockedByPDB");
  assert.equal(reported.length, there);
  cluster.refusal = undefined;
  await cluster.pass(20_000);
  assert.deepEqual([cluster.podsOn("spot-0"), cluster.evictions], [0, there]);
});
