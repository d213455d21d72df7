/** Placement of both kinds of workloads in a cluster in virtual time: scenes, and what holds whatever happens. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PlacedKind } from "../../shared/placement/eligibility.ts";
import { cases } from "../fixtures/cases.ts";
import { WEB_OWNER } from "../fixtures/placement/placement_caches.ts";
import { clusterTest, PlacementCluster } from "./placement_cluster.ts";
import {
  addForeignPod,
  type ClusterOptions,
  foreignCount,
  tainted,
} from "./placement_scheduler.ts";

/** Shorter than by default, so that a case ends soon. */
const FLAGS = {
  "--schedule-timeout": "20s",
  "--fallback-duration": "40s",
  "--max-fallback-duration": "160s",
  "--resync-period": "15s",
  "--evictions-per-second": "5",
};
/** Longer than the product waits for anything: the longest fallback, and as long again after it. */
const QUIET_S = 330;
const ITN = "aws-node-termination-handler/spot-itn";
const MOVE = /moves to (spot|on-demand)$/;

/** Moves that were sent. */
function movesOf(cluster: PlacementCluster): number {
  return cluster.messages("PodRescheduled").filter((message) => MOVE.test(message)).length;
}

/** Lets time pass, and resolves with the fewest replicas that were Ready. */
async function leastReady(cluster: PlacementCluster, seconds: number): Promise<number> {
  let least = Infinity;
  for (let second = 0; second < seconds; second++) {
    await cluster.pass(1000);
    least = Math.min(least, cluster.counts.spot + cluster.counts["on-demand"]);
  }
  return least;
}

for (const kind of ["Deployment", "StatefulSet"] as const) {
  const scene = (name: string, fn: (cluster: PlacementCluster) => Promise<void>): void =>
    clusterTest(`${kind}: ${name}`, fn, { kind, latencyMs: 1000 });

  scene("without spot nodes replicas run on-demand, and return one by one", async (cluster) => {
    await cluster.begin(10, FLAGS);
    cluster.removeNodes("spot");
    await cluster.pass(120_000);
    assert.deepEqual(cluster.counts, { spot: 0, "on-demand": 10 });
    await cluster.pass(300_000);
    cluster.addNodes("spot", 3);
    assert.equal(await leastReady(cluster, 600), 9);
    assert.deepEqual(cluster.counts, { spot: 7, "on-demand": 3 });
    assert.ok(cluster.messages("SpotFallback").every((message) => message.startsWith("until")));
    assert.equal(cluster.messages("SpotReturned").length, 1);
    assert.equal(cluster.messages("ReconciliationSuccess").length, 1);
  });

  scene("another share is reached by moves, one at a time", async (cluster) => {
    await cluster.begin(10);
    const movesSaved = (): number =>
      cluster.memory.writes.filter((write) => write.includes("mbcas-moves")).length;
    const saved: number[] = [movesSaved()];
    cluster.refusal = () => void saved.push(movesSaved());
    cluster.share = "40%";
    assert.equal(await leastReady(cluster, 180), 9);
    assert.deepEqual([cluster.counts, cluster.evictions], [{ spot: 4, "on-demand": 6 }, 3]);
    const { changes } = cluster.audit;
    assert.deepEqual(changes.map(({ source, action, outcome }) => [source, action, outcome]), [
      ...[1, 2, 3].map(() => ["placement", "evict", "accepted"]),
    ]);
    assert.match(changes[0]?.message ?? "", /^pod \S+ moves to on-demand/);
    // Each move is stored before it is sent, and once it was tried.
    const [before = 0, ...at] = saved;
    assert.deepEqual(at.map((writes) => writes - before), [1, 3, 5]);
  });
}

clusterTest("each answer to an eviction is a line of the audit log", async (cluster) => {
  await cluster.begin(10);
  const rows: readonly (readonly [answer: EvictionAnswer | number, line: string])[] = [
    ...[500, 0, 429].map((status) => [status, "busy, server"] as const),
    [422, "refused, server, Refused"],
    [{ is: "blocked", message: "budget" }, "refused, budget"],
    [{ is: "forbidden", message: "right" }, "refused, right"],
    [{ is: "gone" }, "gone"],
  ];
  let sent = 0;
  cluster.refusal = () => {
    const [answer] = rows[sent++] ?? [];
    if (typeof answer === "number") throw new ApiError(answer, "", "server");
    return answer;
  };
  cluster.share = "60%";
  await cluster.pass(3_600_000);
  const { changes } = cluster.audit;
  assert.equal(changes.length, sent);
  const lines = changes.map(({ outcome, message, refusedFor }) =>
    [outcome, message, refusedFor].filter(Boolean).join(", ")
  );
  assert.deepEqual(lines.slice(0, rows.length), rows.map(([, line]) => line));
  const { name, outcome, message } = changes[rows.length] ?? {};
  assert.deepEqual([outcome, message], ["accepted", `pod ${name} moves to on-demand`]);
  assert.equal(new Set(changes.map(({ auditID }) => auditID)).size, sent);
  for (const { node, uid } of changes) assert.match(`${node} ${uid}`, /^spot-\d \S+$/);
});

clusterTest("pods of a node that stays after all are left alone", async (cluster) => {
  cluster.share = "0%";
  await cluster.begin(12);
  const there = cluster.podsOn("on-demand-0");
  assert.ok(there > 2);
  cluster.changeNode("on-demand-0", tainted(ITN));
  while (cluster.evictions === 0) await cluster.pass(1000);
  cluster.changeNode("on-demand-0", ({ taints: _gone, ...node }) => node);
  await cluster.pass(60_000);
  // One more is on its way while the cache of the node is late.
  assert.ok(cluster.evictions < there, `${cluster.evictions} of ${there}`);
}, { latencyMs: 3000 });

clusterTest("pods of nodes that go when a fallback is due become on-demand", async (cluster) => {
  await cluster.begin(100);
  cluster.refusal = () => cluster.clock.sleep(50).then(() => undefined);
  // One spot node is lost, others take no more pods, and then go one after the other.
  cluster.api.store.tables.Node.remove("spot-2");
  for (const name of ["spot-0", "spot-1"]) {
    cluster.changeNode(name, tainted("node.kubernetes.io/unschedulable"));
  }
  await cluster.pass(59_000);
  cluster.changeNode("spot-0", tainted(ITN));
  await cluster.pass(1000);
  cluster.changeNode("spot-1", tainted(ITN));
  await cluster.pass(30_000);
  assert.deepEqual([cluster.counts, cluster.podsOn("")], [{ spot: 0, "on-demand": 100 }, 0]);
  assert.equal(cluster.messages("SpotFallback").length, 1);
});

clusterTest("moves that don't help stay rare when the controller begins anew", async (cluster) => {
  await cluster.begin(10, FLAGS);
  cluster.webhookUp = false;
  cluster.removeNodes("spot");
  await cluster.pass(60_000);
  cluster.addNodes("spot", 3);
  while (movesOf(cluster) < 5) await cluster.pass(1000);
  const { evictions } = cluster;
  for (let life = 2; life < 5; life++) {
    cluster.programs.at(-1)?.terminate();
    cluster.start(`10.0.0.${life}`, FLAGS);
    await cluster.pass(15_000);
  }
  assert.ok(cluster.evictions <= evictions + 1, `${evictions} ${cluster.evictions}`);
  cluster.webhookUp = true;
  await cluster.pass(600_000);
  assert.deepEqual(cluster.counts, cluster.split);
});

clusterTest("a controller that dies between its writes moves no second pod", async (cluster) => {
  await cluster.begin(10);
  cluster.share = "40%";
  for (let life = 2; life < 9; life++) {
    const { evictions, memory } = cluster;
    memory.failAfter = memory.writes.length + life % 3;
    await cluster.pass(30_000);
    assert.ok(cluster.evictions <= evictions + 1, `${evictions} ${cluster.evictions}`);
    cluster.programs.at(-1)?.cutOff();
    memory.failAfter = Infinity;
    cluster.start(`10.0.0.${life}`);
  }
  await cluster.pass(300_000);
  assert.deepEqual([cluster.counts, cluster.evictions], [cluster.split, 3]);
});

type Happening =
  | { readonly does: "scale" | "share" | "floor"; readonly to: number }
  | { readonly does: "lose" | "interrupt" | "drain"; readonly which: number }
  | {
    readonly does:
      | "roll out"
      | "webhook down"
      | "controller down"
      | "controller dies"
      | "all up"
      | "spot gone"
      | "nodes back";
  };

const NODES = ["spot-0", "spot-1", "spot-2", "on-demand-0", "on-demand-1"];

/** One on-demand node, `on-demand-2`, always stays, as the floor asks for capacity. */
function happen(cluster: PlacementCluster, what: Happening): void {
  const { Node } = cluster.api.store.tables;
  const name = NODES["which" in what ? what.which : 0] ?? "";
  const isThere = Node.get(name) !== undefined;
  const restart = (): void => {
    cluster.start(`10.0.0.${cluster.programs.length + 1}`, FLAGS);
  };
  switch (what.does) {
    case "scale":
      cluster.replicas = what.to;
      break;
    case "share":
      cluster.share = `${what.to}%`;
      break;
    case "floor":
      cluster.floor = what.to;
      break;
    case "roll out":
      cluster.revision++;
      break;
    case "lose":
      if (isThere) Node.remove(name);
      break;
    case "interrupt":
      if (isThere) cluster.changeNode(name, tainted(ITN));
      break;
    case "drain":
      if (isThere) cluster.changeNode(name, tainted("karpenter.sh/disrupted"));
      break;
    case "webhook down":
      cluster.webhookUp = false;
      break;
    case "controller down":
      cluster.programs.at(-1)?.terminate();
      break;
    case "controller dies":
      cluster.programs.at(-1)?.cutOff();
      restart();
      break;
    case "all up":
      cluster.webhookUp = true;
      if (cluster.programs.at(-1)?.exitCode() !== undefined) restart();
      break;
    case "spot gone":
      cluster.removeNodes("spot");
      break;
    case "nodes back":
      for (const one of ["spot", "on-demand"] as const) cluster.addNodes(one, 3);
      for (const one of NODES) cluster.changeNode(one, ({ taints: _gone, ...node }) => node);
      break;
  }
}

const anyReplicas = fc.integer({ min: 0, max: 12 });
const anyShare = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(0, 50, 70, 100));
const anyScale = fc.record({ does: fc.constant("scale" as const), to: anyReplicas });
const anyRollout = fc.constant({ does: "roll out" as const });
const anyHappening: fc.Arbitrary<Happening> = fc.oneof(
  anyScale,
  anyRollout,
  fc.record({ does: fc.constant("share" as const), to: anyShare }),
  fc.record({ does: fc.constant("floor" as const), to: fc.nat(4) }),
  fc.record({ does: fc.constantFrom("lose", "interrupt", "drain"), which: fc.nat(4) }),
  fc.record({
    does: fc.constantFrom(
      "webhook down",
      "controller down",
      "controller dies",
      "controller dies",
      "all up",
      "spot gone",
      "spot gone",
      "nodes back",
    ),
  }),
);

interface Story {
  readonly options: ClusterOptions;
  readonly replicas: number;
  readonly share: number;
  readonly floor: number;
  readonly events: readonly (readonly [afterS: number, what: Happening])[];
}

function anyStory(
  event: fc.Arbitrary<Happening>,
  kind: fc.Arbitrary<PlacedKind>,
  { everyS, mostLateMs }: { readonly everyS: fc.Arbitrary<number>; readonly mostLateMs: number },
): fc.Arbitrary<Story> {
  const latencyMs = fc.integer({ min: 10, max: mostLateMs });
  return fc.record({
    options: fc.record({ kind, latencyMs, budget: fc.boolean() }),
    replicas: anyReplicas,
    share: anyShare,
    floor: fc.nat(4),
    events: fc.array(fc.tuple(everyS, event), { maxLength: 10 }),
  });
}

/** Plays the story with checks, which have the time since something happened. */
async function played(
  { options, replicas, share, floor, events }: Story,
  check: (cluster: PlacementCluster, quietS: number) => void,
  end: (cluster: PlacementCluster, seconds: (count: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  await using cluster = new PlacementCluster(`${share}%`, options);
  cluster.floor = floor;
  let quietS = 0;
  const seconds = async (count: number): Promise<void> => {
    // More often than the controller acts after a change.
    for (let quarter = 0; quarter < 4 * count; quarter++) {
      await cluster.pass(250);
      check(cluster, quietS += 0.25);
    }
  };
  addForeignPod(cluster.api, "spot-0", { ...WEB_OWNER, name: "other", uid: "rs-other" });
  addForeignPod(cluster.api, "on-demand-0");
  cluster.start("10.0.0.1", FLAGS);
  await seconds(60);
  cluster.replicas = replicas;
  for (const [afterS, what] of events) {
    await seconds(afterS);
    happen(cluster, what);
    quietS = 0;
  }
  await end(cluster, seconds);
}

Deno.test("once things are quiet the replicas run as specified, whatever has happened", async () => {
  const seen = new Set<string>();
  let [deaths, floors] = [0, 0];
  const anyKind = fc.constantFrom<PlacedKind>("Deployment", "StatefulSet");
  const story = anyStory(anyHappening, anyKind, { everyS: fc.nat(60), mostLateMs: 3000 });
  await fc.assert(
    fc.asyncProperty(story, async (one) => {
      let wholeSince = true;
      let wasWhole = false;
      let moves = 0;
      await played(one, (cluster, quietS) => {
        const made = movesOf(cluster);
        if (made > moves) {
          assert.equal(made, moves + 1, "two moves at once");
          assert.ok(wholeSince, "a move before the one before it was over");
          [moves, wholeSince] = [made, false];
          // Caches show what happened before.
          const toSpot = cluster.messages("PodRescheduled").at(-1)?.endsWith("to spot");
          if (toSpot && wasWhole && quietS > 10) {
            const least = Math.min(cluster.replicas, cluster.floor);
            floors += least;
            assert.ok(cluster.counts["on-demand"] >= least, "a move from the floor");
          }
        }
        wasWhole = cluster.whole;
        if (wasWhole) wholeSince = true;
        assert.equal(foreignCount(cluster.api), 2, "a pod of another owner is evicted");
      }, async (cluster, seconds) => {
        happen(cluster, { does: "all up" });
        happen(cluster, { does: "nodes back" });
        let quiet = 0;
        for (let second = 0; second < 4000 && quiet < QUIET_S; second++) {
          const { evictions } = cluster;
          await seconds(1);
          // One that was ending when all was to be up.
          if (second === 60) happen(cluster, { does: "all up" });
          quiet = cluster.whole && cluster.evictions === evictions ? quiet + 1 : 0;
        }
        assert.ok(quiet >= QUIET_S, "it never becomes quiet");
        assert.deepEqual(cluster.counts, cluster.split);
        deaths += cluster.programs.length - 1;
        for (const message of cluster.messages("PodRescheduled")) {
          seen.add(message.replace(/^pod \S+ /, ""));
        }
      });
    }),
    cases(0.5),
  );
  // Messages on misplaced pods, on pods that find no spot node, and on both kinds of nodes that go.
  assert.equal(seen.size, 5, [...seen].join());
  assert.ok(deaths > 5 && floors > 5, `${deaths} ${floors}`);
});

Deno.test("a Deployment that is scaled and rolled out is split at every moment that it is whole", async () => {
  let moments = 0;
  const events = fc.oneof(anyScale, anyRollout);
  const everyS = fc.integer({ min: 15, max: 60 });
  const story = anyStory(events, fc.constant("Deployment"), { everyS, mostLateMs: 1000 });
  await fc.assert(
    fc.asyncProperty(story, (one) =>
      played(one, (cluster) => {
        assert.equal(cluster.evictions, 0);
        if (!cluster.whole) return;
        assert.deepEqual(cluster.counts, cluster.split);
        moments++;
      }, async (cluster, seconds) => {
        await seconds(60);
        assert.ok(cluster.whole);
      })),
    cases(0.5),
  );
  assert.ok(moments > 1000, `${moments}`);
});
