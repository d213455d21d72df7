/** The market's loop in a cluster: what it applies, gives back, and leaves alone. */
import { autoPolicy, MI, templateContainer } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import fc from "fast-check";
import assert from "node:assert/strict";
import type { RoundResult } from "../../agent/market/round.ts";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import { DEFAULT_PACE, grantable } from "../../shared/pacing/paced_container.ts";
import type { UpdateStrategy } from "../../shared/rightsizing/policy_spec.ts";
import { cases } from "../fixtures/cases.ts";
import {
  drawnBounds,
  drawnContainer,
  drawnSettings,
  millicores,
  plantOf,
} from "../fixtures/market/algorithm_plant.ts";
import { pure } from "../fixtures/pure.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import { ofDeployment, sampleWorkload, workloadSpec } from "../fixtures/sample_workloads.ts";
import { storedPolicy } from "../fixtures/rightsizing/workload_records.ts";
import {
  ALL_THERE,
  simulatedRightsizing,
  startProgram,
  startRightsizing,
} from "./controller_program.ts";
import { type ControllerScene, loopTest, optOut, sceneTest } from "./controller_scene.ts";

loopTest("publishes bounds, patches, reports Applied, and then writes nothing", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const { containerID, ...bound } = scene.bound();
  assert.deepEqual(bound, { name: "app", floor: 100, ceiling: 1600, weight: 100 });
  assert.ok(containerID);
  assert.deepEqual([scene.status().bounds?.revision, scene.status().reason], [1, "Waiting"]);
  assert.deepEqual([scene.originalLimit(), scene.count("resize Pod")], ["200m", 0]);
  await scene.wantFor(5000, 300);
  scene.assertLimit(300);
  const { phase, appliedCPULimit } = scene.status();
  assert.deepEqual([phase, appliedCPULimit, scene.originalLimit()], ["Applied", "300m", "200m"]);
  assert.deepEqual(scene.messages("CPULimitApplied"), ["200m → 300m (DemandRose)"]);
  const { Pod, PodAllocation } = scene.tables;
  const before = [...Pod.all(), ...PodAllocation.all()];
  await scene.pass(600_000);
  assert.equal(scene.count("resize Pod"), 1);
  assert.deepEqual([...Pod.all(), ...PodAllocation.all()], before);
});

for (const place of ["pod", "namespace"] as const) {
  loopTest(
    `gives original limits back when the ${place} opts out, and takes it again`,
    async (scene) => {
      scene.startController();
      await scene.raise();
      scene.setManaged("false", place);
      await scene.pass(10_000);
      scene.assertLimit(200);
      assert.equal(scene.allocation(), undefined);
      assert.equal(scene.events("CPULimitsRestored").length, 1);
      const before = scene.count("resize Pod");
      await scene.pass(300_000);
      assert.equal(scene.count("resize Pod"), before);
      scene.setManaged("true", place);
      await scene.pass(10_000);
      scene.assertLimit(300);
      assert.equal(scene.originalLimit(), "200m");
    },
  );
}

loopTest("gives all pods their limits back while the market is off", async (scene) => {
  const config = { market: true };
  let notify = (): void => {};
  const onConfigChange = (changed: () => void) => {
    notify = changed;
    return () => {};
  };
  scene.startController(config, { onConfigChange });
  await scene.raise();
  for (const market of [false, true]) {
    config.market = market;
    notify();
    await scene.pass(3000);
    scene.assertLimit(market ? 300 : 200);
  }
  await scene.restartController({ market: false });
  await scene.pass(10_000);
  scene.assertLimit(200);
  assert.equal(scene.allocation(), undefined);
});

loopTest("never touches a pod of the same name that replaced another", async (scene) => {
  scene.startController();
  scene.createPod("web");
  await scene.pass(5000);
  const first = scene.pod().metadata.uid;
  // The pod is replaced while the patch is on its way: 6 ms after the agent's request was stored.
  const stop = scene.api.store.onChange(() => {
    if (scene.allocation()?.spec.containers === undefined) return;
    stop();
    scene.clock.at(scene.clock.monotonic() + 6, () => {
      assert.deepEqual([scene.limits().wanted, scene.count("resize Pod")], [200, 0]);
      scene.tables.Pod.remove("shop/web");
      scene.createPod("web");
    });
  });
  await scene.wantFor(600, 300);
  assert.equal(scene.count("resize Pod"), 1);
  assert.notEqual(scene.pod().metadata.uid, first);
  assert.equal(scene.limits().wanted, 200);
  await scene.pass(10_000);
  assert.equal(scene.originalLimit(), "200m");
  assert.equal(scene.tables.PodAllocation.get(`shop/${first}`), undefined);
  scene.assertLimit(300);
});

loopTest("spreads the reconciles of pods that it saw together", async (scene) => {
  const pods = 100;
  for (let index = 0; index < pods; index++) scene.createPod(`web-${index}`);
  const perSecond = new Map<number, number>();
  const reconciled = (): void => {
    const second = Math.floor(scene.clock.monotonic() / 1000);
    perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  };
  scene.startController({}, { observer: { reconciled } });
  await scene.pass(60_000);
  perSecond.clear();
  await scene.pass(120_000);
  const most = Math.max(...perSecond.values());
  assert.ok(most <= pods / 4, `${most} in one second`);
  const all = [...perSecond.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(all > 3.5 * pods && all < 4.5 * pods, `${all} in four times 30 s`);
});

/** When the pod's limit changed while the agent wanted two limits by turns, ms. */
async function swing(
  scene: ControllerScene,
  { everyMs, forMs }: { readonly everyMs: number; readonly forMs: number },
): Promise<readonly number[]> {
  const changes: number[] = [];
  let before = scene.limits().wanted;
  const begunMs = scene.clock.monotonic();
  scene.api.store.onChange(() => {
    const { wanted } = scene.limits();
    if (wanted !== before) changes.push(scene.clock.monotonic() - begunMs);
    before = wanted;
  });
  for (let atMs = 0; atMs < forMs; atMs += everyMs) {
    await scene.wantFor(everyMs, before === 600 ? 120 : 600);
  }
  return changes;
}

for (const [minResizeIntervalMs, least, most] of [[1000, 6, 10], [5000, 3, 4]] as const) {
  loopTest(`leaves ${minResizeIntervalMs} ms between changes of a pod`, async (scene) => {
    scene.startController({ minResizeIntervalMs });
    await scene.raise();
    const changes = await swing(scene, { everyMs: 500, forMs: least < 6 ? 20_000 : 10_000 });
    const gaps = changes.slice(1).map((atMs, index) => atMs - (changes[index] ?? 0));
    assert.ok(changes.length >= least && changes.length <= most, `${changes.length} changes`);
    assert.ok(Math.min(...gaps) >= minResizeIntervalMs - 5, gaps.join());
    // Original limits don't wait.
    await scene.wantFor(10_000, 600);
    await scene.wantFor(minResizeIntervalMs + 500, 120);
    scene.setManaged("false");
    await scene.pass(500);
    assert.equal(scene.limits().wanted, 200);
  });
}

const MINUTE_MS = 60_000;

/** Millicores that are certainly committed after a round: limits above their floors. */
function surelyCommitted({ containers }: RoundResult): number {
  return containers.reduce((sum, { limit, floor }) => limit > floor ? sum + limit : sum, 0);
}

/** A container that uses `first`, and from the second minute on `then`. */
const drawnDemand = fc.record({ bounds: drawnBounds, first: millicores, then: millicores });

pure("the algorithm never commits more than a raise may grant, however short the node", () => {
  const demands = fc.array(drawnDemand, { minLength: 1, maxLength: 4 });
  const capacities = fc.integer({ min: 200, max: 6000 });
  let [ran, raisingRuns] = [0, 0];
  fc.assert(
    fc.property(demands, drawnSettings, capacities, (drawn, settings, capacity) => {
      ran++;
      let raises = 0;
      const containers = drawn.map(({ bounds, first, then }) =>
        drawnContainer(bounds, Math.max(first, then), (at) => at < MINUTE_MS ? first : then)
      );
      plantOf(containers, settings, { capacity }).runUntil(3 * MINUTE_MS, (round) => {
        const raised = round.containers.some(({ from, limit, floor }) =>
          limit > from && limit > floor
        );
        if (!raised) return;
        raises++;
        const after = surelyCommitted(round);
        // Limits that may still be in force from before count, too.
        const most = Math.max(grantable(capacity, DEFAULT_PACE), round.committed);
        assert.ok(after <= most + 1e-6, `${after} of ${capacity}, ${round.committed} before`);
      });
      if (raises > 0) raisingRuns++;
    }),
    { ...cases(0.2), endOnFailure: true },
  );
  assert.ok(raisingRuns > ran / 4, `${raisingRuns} of ${ran}`);
});

/** A pod of Deployment `web`, its original limit 200 m. */
function deployedPod(scene: ControllerScene): void {
  const spec = workloadSpec([templateContainer()]);
  scene.tables.Deployment.create(sampleWorkload({ spec }));
  scene.createPod("web");
  scene.changePod("web", (pod) => {
    const { metadata: { labels, owner } } = ofDeployment(pod);
    const containers = pod.containers.map((container) => ({
      ...container,
      requests: { ...container.requests, memory: 64 * MI },
      limits: { ...container.limits, memory: 128 * MI },
    }));
    return { ...pod, containers, metadata: { ...pod.metadata, labels, ...(owner && { owner }) } };
  });
}

/** The same in the market, raised to `wanted`. */
async function managedPod(scene: ControllerScene, wanted: number): Promise<void> {
  scene.startController();
  deployedPod(scene);
  scene.want("web", wanted);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted, applied: wanted });
}

/** A policy for the workload, which has used this much for an hour, and goes on. */
function policyFor(
  { api, clock }: ControllerScene,
  { cpu, strategy = {} }: { readonly cpu: number; readonly strategy?: Partial<UpdateStrategy> },
): UsageSource {
  const source = createUsageAnswers();
  const reported = source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "app");
  for (let minute = -60; minute < 240; minute++) {
    const atMs = clock.wall() + minute * MINUTE_MS;
    reported.cpu.push([atMs, cpu]);
    reported.memory.push([atMs, 60 * MI]);
  }
  const spec = autoPolicy(strategy, {
    selector: { namespaces: { allow: ["shop"], deny: [] }, workloadKinds: ["Deployment"] },
  });
  api.store.tables.OptimizationPolicy.create(storedPolicy("all", spec));
  return source;
}

/** Rightsizing begins. */
function rightsize(
  scene: ControllerScene,
  usage: { readonly cpu: number; readonly strategy?: Partial<UpdateStrategy> },
): AsyncDisposable {
  return startRightsizing(scene, { source: policyFor(scene, usage) });
}

const boundsOf = (scene: ControllerScene) => scene.allocation("web")?.status?.bounds?.containers[0];

sceneTest("a new request moves floor and weight at once, not the market's", async (scene) => {
  await managedPod(scene, 300);
  const { uid } = scene.pod("web").metadata;
  const before = boundsOf(scene);
  {
    await using _rightsizing = rightsize(scene, { cpu: 150 });
    await scene.pass(MINUTE_MS);
    assert.deepEqual(scene.requests("web").wanted, 180);
    assert.equal(scene.pod("web").metadata.uid, uid);
    const after = boundsOf(scene);
    assert.ok((after?.floor ?? 0) > (before?.floor ?? Infinity), `${after?.floor}`);
    assert.ok((after?.weight ?? 0) > (before?.weight ?? Infinity), `${after?.weight}`);
    // The limit is the market's still, and the own one as it was.
    assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
    assert.equal(scene.originalLimit(), "200m");
    assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
  }
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  assert.equal(scene.requests("web").wanted, 180);
});

sceneTest("a rightsized CPU limit becomes the own one, and is not patched", async (scene) => {
  await managedPod(scene, 300);
  const before = boundsOf(scene)?.ceiling ?? Infinity;
  {
    const strategy = { updateRequestsOnly: false, limitMultipliers: { cpu: 2, memory: 1.1 } };
    await using _rightsizing = rightsize(scene, { cpu: 150, strategy });
    await scene.pass(MINUTE_MS);
    assert.equal(scene.originalLimit(), "360m");
    assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
    const after = boundsOf(scene)?.ceiling ?? 0;
    assert.equal(after / before, 360 / 200);
  }
  scene.changePod("web", optOut);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 360, applied: 360 });
});

sceneTest("a limit that the market has lowered makes room for a higher request", async (scene) => {
  await managedPod(scene, 110);
  const strategy = { updateRequestsOnly: true };
  await using _rightsizing = rightsize(scene, { cpu: 140, strategy });
  await scene.pass(MINUTE_MS);
  const { wanted: request } = scene.requests("web");
  assert.equal(request, 168);
  assert.ok((scene.limits("web").wanted ?? 0) >= 168);
  assert.deepEqual(scene.pod("web").containers[0]?.limitManagers, ["mbcas/200m"]);
  // The market raised it: it is no request of the user's.
  assert.equal(scene.originalLimit(), "200m");
});

for (const dryRun of [false, true]) {
  const gives = dryRun ? "in a dry-run leaves templates as they are" : "gives new pods new values";
  sceneTest(`runController() ${gives} where the server lacks pods/resize`, async (scene) => {
    const { api, clock } = scene;
    deployedPod(scene);
    const strategy = { allowInPlaceResize: true, allowRecreate: true };
    const source = policyFor(scene, { cpu: 150, strategy });
    const program = startProgram({
      api,
      clock,
      identity: "first",
      flags: new Map([
        ["--market", "off"],
        ["--rightsizing", "on"],
        ["--rightsizing-dry-run", String(dryRun)],
      ]),
      ask: async () => ({ ...await ALL_THERE(), servesPodResize: false }),
      rightsizing: simulatedRightsizing(api, { source }).api,
    });
    await scene.pass(MINUTE_MS);
    assert.equal(program.exitCode(), undefined);
    const { spec } = api.store.tables.Deployment.get("shop/web") ?? {};
    assert.equal(spec?.template.containers[0]?.requests.cpu, dryRun ? 100 : 180);
    assert.equal(api.requests.get("resize Pod"), undefined);
    program.terminate();
    await scene.pass(2000);
  });
}
