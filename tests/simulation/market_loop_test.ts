/** The market's loop in a cluster: what it applies, gives back, and leaves alone. */
import assert from "node:assert/strict";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

loopTest(
  "publishes bounds, patches and reports Applied, and then writes nothing",
  async (scene) => {
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
  },
);

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
