import assert from "node:assert/strict";
import { SHARED_NODE_SCENES } from "../../lab/arena/shared_node_scenes.ts";
import type { ArrivalProcess } from "../../lab/simulation/node/request_server.ts";
import { startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import type { RunSeries } from "../../lab/simulation/run_record.ts";
import { sceneContainerID } from "../../lab/simulation/scene.ts";
import { endlessWork, type Workload } from "../../lab/simulation/workload.ts";
import { SKIP_GUARANTEED } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { DIVIDED_FACTOR } from "../../shared/scarcity/scarce_clearing.ts";
import { sampleContainer, sampleGuaranteed } from "../contract/support/sample_objects.ts";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { type ControllerScene, loopTest, sceneTest } from "./controller_scene.ts";
import { limitChanges } from "./limit_changes.ts";
import { playMarket } from "../../lab/simulation/play_scene.ts";

/** Limits where idle CPU is free, in a closed loop with the model of a node. */

const FREE = { agent: { idleCPU: "free" }, controller: { burstFactor: 8 } } as const;

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
  return pods.map(({ weight }) => DIVIDED_FACTOR * capacity * weight / weights);
}

Deno.test("playMarket() lowers what takes from others that wait, from 5 s after the onset", async () => {
  for (const seed of [1, 2, 3]) {
    const series = await playMarket(
      SHARED_NODE_SCENES["light-services"]({ seed, minutes: 1 }),
      FREE,
    );
    const { pods, changes, stepS, capacity } = series;
    const [batch, parts] = [pods.at(-1), partsOf(series)];
    assert.ok(batch?.name === "batch");
    // Its share is what the services leave, which use 750 m each; a decrease is worth 5 %.
    const most = 1.05 * (DIVIDED_FACTOR * capacity - 3 * 750);
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

/** A pod outside of the market. */
interface OutsidePod {
  /** CPU request, millicores. */
  readonly request: number;
  readonly threads?: number;
  readonly workload?: () => ArrivalProcess;
}

/**
 * Limits of light-services beside such pods: while all work, and when the services have ended, after two
 * minutes.
 */
async function limitsBeside(outside: readonly OutsidePod[]): Promise<number[][]> {
  const made = SHARED_NODE_SCENES["light-services"]({ seed: 1, minutes: 3 });
  const pods = made.pods.map((pod) =>
    pod.name === "batch" ? pod : { ...pod, workload: () => until(pod.workload(), 120_000) }
  );
  const { node, clock, stop } = startMarketCluster({ ...made, pods }, FREE);
  outside.forEach(({ request, threads = 1, workload = () => endlessWork(0) }, i) => {
    const id = `${i}`.repeat(64);
    const containers = [{ id, threads, workload: workload(), request }];
    node.addPod({ uid: `1111111${i}-2222-4333-8444-555555555555`, containers });
  });
  const limits: number[][] = [];
  for (const seconds of [15, 150]) {
    await clock.runUntil(seconds * 1000);
    limits.push(pods.map((pod) => node.container(sceneContainerID(pod)).quota ?? NaN));
  }
  await stop();
  return limits;
}

const HALF: OutsidePod = { request: 4000 };
const BEST_EFFORT: OutsidePod = { request: 2, threads: 8, workload: () => endlessWork(8) };

for (
  const [what, outside] of [
    ["requests and leaves idle", [HALF]],
    ["requests, and that a pod without requests uses meanwhile", [HALF, BEST_EFFORT]],
  ] as const
) {
  Deno.test(`startMarketCluster() divides CPU that a pod outside of the market ${what}`, async () => {
    const [[...services] = [], [, , , alone = 0] = []] = await limitsBeside(outside);
    const beside = services.pop() ?? 0;
    // Services at their ceilings, 8 × 400 m; the batch job at what they leave of nearly all.
    assert.deepEqual(services, [3200, 3200, 3200]);
    assert.ok(beside > 4000, `${beside}`);
    assert.ok(alone > 6300, `${alone}`);
  });
}

const GUARANTEED = { containers: [sampleGuaranteed()] };

/** The pod with this text of the annotation that takes Guaranteed pods in. */
function skipping(text: string): (pod: Pod) => Pod {
  return ({ metadata, ...pod }) => {
    const annotations = { ...metadata.annotations, [SKIP_GUARANTEED]: text };
    return { ...pod, metadata: { ...metadata, annotations } };
  };
}

/** Makes a Guaranteed pod of 200 m that has asked to be taken in, raised to this limit. */
async function takenIn(scene: ControllerScene, limit?: number, name = "web"): Promise<void> {
  scene.createPod(name, GUARANTEED, skipping("false"));
  await scene.pass(5000);
  assert.equal(scene.status(name).bounds?.revision, 1);
  if (limit === undefined) return;
  scene.want(name, limit);
  await scene.pass(5000);
  assertBoth(scene, limit, name);
}

function assertBoth(scene: ControllerScene, millicores: number, name = "web"): void {
  scene.assertLimit(millicores, name);
  assert.deepEqual(scene.requests(name), { wanted: millicores, applied: millicores });
  assert.equal(scene.pod(name).qosClass, "Guaranteed");
}

/** Floor and weight of the pod, which follow its original request; both originals are this. */
function assertOriginal(scene: ControllerScene, millicores: number): void {
  const { originalLimits, originalRequests } = scene.status();
  const original = [{ name: "app", cpu: `${millicores}m` }];
  assert.deepEqual([originalLimits, originalRequests], [original, original]);
  const { containerID: _id, ...bound } = scene.bound();
  const ceiling = 8 * millicores;
  const bounds = { floor: millicores, ceiling, weight: millicores, requestMoves: true };
  assert.deepEqual(bound, { name: "app", ...bounds });
}

/** A pod that takes the room for requests on the node. */
function fillNode(scene: ControllerScene): void {
  const large = sampleContainer({ requests: { cpu: 3500 }, limits: { cpu: 3600 } });
  scene.createPod("filler", { containers: [large] });
}

loopTest("moves request and limit of a Guaranteed pod together", async (scene) => {
  scene.startController();
  await takenIn(scene);
  assertOriginal(scene, 200);
  for (const limit of [450, 800, 300]) {
    await scene.wantFor(5000, limit);
    assertBoth(scene, limit);
    assert.equal(scene.status().reason, "Applied");
    // Its own request weighs, whatever the market makes of it.
    assertOriginal(scene, 200);
  }
  assert.deepEqual(scene.events("CPULimitFailed"), []);
});

loopTest("brings both back when a Guaranteed pod, or its agent, leaves", async (scene) => {
  scene.startController();
  await takenIn(scene, 600);
  scene.setManaged("false");
  await takenIn(scene, 600, "db");
  scene.changePod("db", skipping("true"));
  await scene.pass(5000);
  for (const name of ["web", "db"]) {
    assertBoth(scene, 200, name);
    assert.equal(scene.allocation(name), undefined);
  }
  scene.changePod("db", skipping("false"));
  await scene.pass(5000);
  assertBoth(scene, 600, "db");
  await scene.restartController();
  scene.silent.add("node-1");
  await scene.pass(400_000);
  assertBoth(scene, 200, "db");
});

loopTest("foresees what the requests on the node leave", async (scene) => {
  scene.startController();
  await takenIn(scene);
  fillNode(scene);
  await scene.pass(35_000);
  await scene.wantFor(10_000, 800);
  assertBoth(scene, 500);
  assert.deepEqual([scene.boundReasons(), scene.bound().ceiling], ["NodeCapacity", 500]);
  assert.deepEqual(scene.pod().resizeConditions, []);
  assert.match(scene.messages("CPULimitBounded").join(), /NodeCapacity: app .*500m/);
  // A pod that goes leaves room, also without an event about this pod.
  scene.tables.Pod.remove("shop/filler");
  await scene.pass(60_000);
  assertBoth(scene, 800);
});

sceneTest("restoreCommand() and resizeCommand() move both beside a controller", async (scene) => {
  scene.startController();
  await takenIn(scene, 450);
  const cli = coallocScene(scene);
  cli.controllerAlive = true;
  const run = async (...args: readonly string[]): Promise<string> => {
    cli.out = "";
    assert.equal(await cli.run(...args), 0, cli.out + cli.err);
    return cli.out;
  };
  const resized = await run("resize", "web", "--cpu-limit", "300m");
  assert.match(resized, /450m → 300m \(request and limit\).*market/);
  await scene.pass(10_000);
  assertBoth(scene, 450);
  assert.match(await run("restore", "web"), /app 450m → 300m \(request and limit\)/);
  for (const ms of [0, 60_000]) {
    await scene.pass(ms);
    assertBoth(scene, 300);
  }
});

loopTest("sends decreases that pay for raises before the raises after an outage", async (scene) => {
  const names = Array.from({ length: 10 }, (_, index) => `web-${index}`);
  const kill = scene.startController();
  for (const name of names) scene.createPod(name);
  for (const [index, name] of names.entries()) scene.want(name, index < 5 ? 200 : 600);
  await scene.pass(10_000);
  kill();
  // The CPU that five pods hold goes to the five others, which come first in all lists.
  for (const [index, name] of names.entries()) {
    if (index < 5) scene.want(name, 600, "Throttled");
    else scene.want(name, 200, "FundsRaise");
  }
  await scene.pass(2000);
  const changes = limitChanges(scene);
  scene.startController({ maxResizesPerSecond: 2 });
  await scene.pass(20_000);
  for (const [index, name] of names.entries()) scene.assertLimit(index < 5 ? 600 : 200, name);
  const moves = changes.map(({ by }) => by);
  assert.deepEqual(moves, [...Array<number>(5).fill(-400), ...Array<number>(5).fill(400)]);
});

loopTest("raises throttled pods first, and reports once that the rate binds", async (scene) => {
  const names = (kind: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${kind}-${index}`);
  const [fell, rose, throttled] = [
    names("a-fell", 14),
    names("b-rose", 14),
    names("c-throttled", 5),
  ];
  const kill = scene.startController();
  for (const name of [...fell, ...rose, ...throttled]) {
    scene.createPod(name);
    scene.want(name, 600);
  }
  await scene.pass(20_000);
  kill();
  for (const name of fell) scene.want(name, 550, "DemandFell");
  for (const name of rose) scene.want(name, 700);
  for (const name of throttled) scene.want(name, 800, "Throttled");
  await scene.pass(2000);
  const changes = limitChanges(scene);
  const bottlenecks: boolean[] = [];
  scene.startController({ maxResizesPerSecond: 1 }, {
    observer: { resizeQueue: ({ isBottleneck }) => void bottlenecks.push(isBottleneck) },
  });
  await scene.pass(15_000);
  // The first was sent when no other had been looked at.
  const order = changes.map(({ name }) => name.slice(2, 3)).join("");
  assert.match(order, /^.?t{5}r{6,}$|^.t{4}r{6,}$/, order);
  const shared = scene.events("CPULimitHeld").filter(({ about }) => about?.kind === "Namespace");
  assert.deepEqual(shared.map(({ message }) => message.split(":")[0]), ["RateLimited"]);
  await scene.pass(200_000);
  for (const name of fell) scene.assertLimit(550, name);
  assert.ok(bottlenecks.includes(true) && bottlenecks.at(-1) === false);
});
