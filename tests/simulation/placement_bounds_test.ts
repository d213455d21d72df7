/** Evictions that are no moves come to an end, whatever comes of them. In virtual time. */
import assert from "node:assert/strict";
import { clusterTest } from "./placement_cluster.ts";
import { tainted } from "./placement_scheduler.ts";

const MINUTE_MS = 60_000;

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

clusterTest(
  "a fallback recreates pods without a webhook's answer ever more rarely",
  async (cluster) => {
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
  },
);

clusterTest(
  "a refused eviction is requested again now and then, and reported once",
  async (cluster) => {
    await cluster.begin(10);
    const asked: string[] = [];
    cluster.refusal = ({ name }) => {
      asked.push(name);
      return { is: "blocked", message: "a budget" };
    };
    const there = cluster.podsOn("spot-0");
    cluster.changeNode("spot-0", tainted("aws-node-termination-handler/spot-itn"));
    const { Pod } = cluster.api.store.tables;
    for (let second = 0; second < 600; second++) {
      // A change of a pod makes the controller look.
      const beat = Pod.all().find(({ nodeName }) => nodeName === "on-demand-0");
      assert.ok(beat);
      Pod.modify(`shop/${beat.metadata.name}`, (pod) => {
        const annotations = { ...pod.metadata.annotations, beat: `${second}` };
        return { ...pod, metadata: { ...pod.metadata, annotations } };
      });
      await cluster.pass(1000);
    }
    // With a cooldown of 10 s, once in that time.
    assert.ok(
      asked.length >= there * 50 && asked.length <= there * 61,
      `${asked.length} of ${there}`,
    );
    const reported = cluster.events.filter(({ reason }) => reason === "BlockedByPDB");
    assert.equal(reported.length, there);
    cluster.refusal = undefined;
    await cluster.pass(20_000);
    assert.deepEqual([cluster.podsOn("spot-0"), cluster.evictions], [0, there]);
  },
);

clusterTest("a denied eviction is tried of others, and becomes rare", async (cluster) => {
  const asked: string[] = [];
  const askedAtMs: number[] = [];
  cluster.refusal = ({ name }) => {
    asked.push(name);
    askedAtMs.push(cluster.clock.monotonic());
    return { is: "forbidden", message: "denied" };
  };
  cluster.replicas = 10;
  await cluster.pass(5000);
  cluster.start("10.0.0.1");
  await cluster.pass(60 * MINUTE_MS);
  // After 10, 20, 40 and 80 s, and no pod twice in half an hour.
  assert.ok(askedAtMs[4]! - askedAtMs[0]! >= 150_000, askedAtMs.slice(0, 5).join());
  assert.equal(new Set(asked).size, 10);
  assert.equal(new Set(asked.slice(0, 10)).size, 10);
  assert.ok(asked.length <= 20, `${asked.length}`);
  cluster.refusal = undefined;
  await cluster.pass(60 * MINUTE_MS);
  assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
});
