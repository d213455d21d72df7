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

clusterTest("pods that tolerate all are evicted once from a node that goes", async (cluster) => {
  cluster.toleratesAll = true;
  await cluster.begin(10);
  for (const key of ["aws-node-termination-handler/spot-itn", "karpenter.sh/disrupted"]) {
    const there = cluster.podsOn("spot-0");
    assert.ok(there > 0);
    const earlier = cluster.evictions;
    cluster.changeNode("spot-0", tainted(key));
    await cluster.pass(5 * MINUTE_MS);
    const evicted = cluster.evictions - earlier;
    assert.ok(evicted > 0 && evicted <= there, `${evicted} of ${there}`);
    cluster.changeNode("spot-0", ({ taints: _gone, ...node }) => node);
    await cluster.pass(MINUTE_MS);
  }
});

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
  "pods that are made while a leader settles in a fallback wait for a minute",
  async (cluster) => {
    cluster.template = FOR_SPOT;
    const first = cluster.start("10.0.0.1");
    await cluster.pass(10_000);
    cluster.start("10.0.0.2");
    await cluster.pass(5000);
    cluster.removeNodes("spot");
    cluster.replicas = 10;
    // In the fallback of eight minutes.
    await cluster.pass(12 * MINUTE_MS);
    assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 10 });
    first.terminate();
    await cluster.pass(200);
    cluster.replicas = 20;
    await cluster.pass(30_000);
    // No webhook has answered for them, and their template says spot.
    assert.ok(cluster.pending > 0);
    await cluster.pass(MINUTE_MS);
    assert.deepEqual([cluster.counts, cluster.pending], [{ spot: 0, "on-demand": 20 }, 0]);
    const reported = cluster.events.filter(({ reason }) => reason === "SpotFallback");
    assert.ok(reported.every(({ message }) => message.startsWith("until")));
  },
);

clusterTest(
  "pods of nodes that go when a fallback is due are made on-demand at once",
  async (cluster) => {
    cluster.start("10.0.0.1");
    await cluster.pass(10_000);
    cluster.replicas = 100;
    await cluster.pass(30_000);
    cluster.evictionMs = 50;
    // One spot node is lost, others take no more pods, and then go one after the other.
    cluster.api.store.tables.Node.remove("spot-2");
    for (const name of ["spot-0", "spot-1"]) {
      cluster.changeNode(name, tainted("node.kubernetes.io/unschedulable"));
    }
    await cluster.pass(59_000);
    cluster.changeNode("spot-0", tainted("aws-node-termination-handler/spot-itn"));
    await cluster.pass(1000);
    cluster.changeNode("spot-1", tainted("aws-node-termination-handler/spot-itn"));
    await cluster.pass(30_000);
    assert.deepEqual([cluster.counts, cluster.pending], [{ spot: 0, "on-demand": 100 }, 0]);
    const reported = cluster.events.filter(({ reason }) => reason === "SpotFallback");
    assert.equal(reported.length, 1);
  },
);

clusterTest("pods that must not be disturbed fall back while they don't run", async (cluster) => {
  cluster.template = { metadata: { annotations: { "karpenter.sh/do-not-disrupt": "true" } } };
  cluster.start("10.0.0.1");
  await cluster.pass(10_000);
  cluster.removeNodes("spot");
  cluster.replicas = 10;
  await cluster.pass(2 * MINUTE_MS);
  assert.deepEqual([cluster.counts, cluster.evictions], [{ spot: 0, "on-demand": 10 }, 7]);
});

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

clusterTest(
  "a drain that finds no other node takes one replica, and none if it ends",
  async (cluster) => {
    const { Node } = cluster.api.store.tables;
    for (const name of ["on-demand-1", "on-demand-2"]) Node.remove(name);
    cluster.share = "0%";
    cluster.start("10.0.0.1");
    await cluster.pass(10_000);
    cluster.replicas = 4;
    await cluster.pass(30_000);
    cluster.changeNode("on-demand-0", tainted("karpenter.sh/disrupted"));
    await cluster.pass(10 * MINUTE_MS);
    assert.deepEqual([cluster.counts["on-demand"], cluster.evictions], [3, 1]);
    cluster.changeNode("on-demand-0", ({ taints: _gone, ...node }) => node);
    await cluster.pass(MINUTE_MS);
    assert.deepEqual([cluster.counts["on-demand"], cluster.evictions], [4, 1]);
  },
);
