/** The market's loop in a cluster: what it applies, gives back, and leaves alone. */
import assert from "node:assert/strict";
import { type ControllerScene, loopTest, optOut } from "./controller_scene.ts";

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

for (const  of of["pod", "namespace"] as const) {
  loopTest(
    `gives original limits back when the ${of} opts out, and takes it again`,
    async (scene) => {
      scene.startController();
      await scene.raise();
      scene.setManaged("false", of);
      await scene.pass(10_000);
      scene.assertLimit(200);
      assert.equal(scene.allocation(), undefined);
      assert.equal(scene.events("CPULimitsRestored").length, 1);
      const before = scene.count("resize Pod");
      await scene.pass(300_000);
      assert.equal(scene.count("resize Pod"), before);
      scene.setManaged("true", of);
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

for (const status of [403, 422]) {
  loopTest(`reports a ${status} and backs off 1, 2, 4 s`, async (scene) => {
    scene.startController();
    scene.createPod("web");
    await scene.pass(5000);
    const message = "exceeded quota: limits.cpu";
    scene.api.failNext({ verb: "resize", kind: "Pod", status, message, times: 3 });
    await scene.wantFor(6000, 300);
    const { phase, reason, message: reported } = scene.status();
    assert.deepEqual([phase, reason, reported], ["Failed", "QuotaExceeded", message]);
    assert.equal(scene.count("resize Pod"), 3);
    assert.deepEqual(scene.messages("CPULimitFailed"), [message]);
    await scene.pass(5000);
    assert.equal(scene.count("resize Pod"), 4);
    scene.assertLimit(300);
  });
}

for (const [status, retryAfterMs] of [[429, 4000], [500, undefined]] as const) {
  loopTest(`rests the whole queue after a ${status}`, async (scene) => {
    scene.startController();
    for (const name of ["web", "db"]) scene.createPod(name);
    await scene.pass(5000);
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    scene.api.failNext({ verb: "resize", kind: "Pod", status, ...wait });
    await scene.wantFor(700, 300);
    scene.want("db", 300);
    await scene.pass((retryAfterMs ?? 1000) - 700);
    assert.equal(scene.count("resize Pod"), 1);
    await scene.pass(5000);
    assert.equal(scene.count("resize Pod"), 3);
    for (const name of ["web", "db"]) scene.assertLimit(300, name);
    assert.deepEqual(scene.events("CPULimitFailed"), []);
  });
}

loopTest("gives limits back though the server puts resizes off for a day", async (scene) => {
  scene.startController();
  for (const name of ["web", "db"]) scene.createPod(name);
  for (const name of ["web", "db"]) scene.want(name, 300);
  await scene.pass(10_000);
  const day = { status: 503, retryAfterMs: 86_400_000, times: 3 };
  scene.api.failNext({ verb: "resize", kind: "Pod", ...day });
  await scene.wantFor(2000, 400);
  scene.setManaged("false");
  // Its own back-off, for two refusals.
  await scene.pass(12_000);
  scene.assertLimit(200);
  scene.want("db", 400);
  await scene.pass(60_000);
  scene.assertLimit(400, "db");
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

loopTest("patches nothing in a dry run", async (scene) => {
  scene.startController({ dryRun: true });
  scene.createPod("web");
  await scene.wantFor(120_000, 300);
  scene.assertLimit(200);
  const { reason, message } = scene.status();
  assert.deepEqual([reason, message], ["DryRun", "would change app 200m → 300m"]);
  assert.equal(scene.count("resize Pod"), 0);
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

loopTest("makes allocations at the rate that is set", async (scene) => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  for (const name of names) scene.createPod(name);
  await scene.pass(5000);
  let reconciles = 0;
  const reconciled = (): void => void reconciles++;
  scene.startController({ maxNewAllocationsPerSecond: 10 }, { observer: { reconciled } });
  const made = (): number => scene.tables.PodAllocation.all().length;
  await scene.pass(500);
  assert.ok(made() >= 10 && made() <= 15, `${made()} after half a second`);
  await scene.pass(2500);
  assert.equal(made(), 30);
  assert.ok(reconciles < 30 * 6, `${reconciles}`);
});

loopTest("comes back to a pod once its kind is served again", async (scene) => {
  scene.api.failNext({ verb: "create", kind: "PodAllocation", status: 404, times: 3 });
  scene.createPod("web");
  scene.startController();
  await scene.pass(6500);
  assert.equal(scene.allocation(), undefined);
  await scene.pass(1500);
  assert.equal(scene.status().bounds?.revision, 1);
});

loopTest("forgets a pod that has finished, without touching it", async (scene) => {
  scene.startController();
  await scene.raise();
  scene.changePod("web", (pod) => ({ ...pod, phase: "Succeeded" }));
  await scene.pass(1000);
  assert.equal(scene.allocation(), undefined);
  assert.equal(scene.limits().wanted, 300);
});

loopTest("follows a kubelet that is replaced under its pods", async (scene) => {
  scene.createPod("web");
  scene.startController();
  for (const [kubeletVersion, takesPart] of [["32", false], ["34", true], ["32", false]] as const) {
    scene.changeNode((node) => ({ ...node, kubeletVersion: `v1.${kubeletVersion}.1` }));
    await scene.pass(40_000);
    assert.equal(scene.allocation() !== undefined, takesPart);
  }
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

loopTest("holds a pod that oscillates, and reports it once each time", async (scene) => {
  const held: string[] = [];
  scene.startController({}, { observer: { held: (reason) => void held.push(reason) } });
  await scene.raise();
  await scene.pass(300_000);
  const changes = await swing(scene, { everyMs: 2000, forMs: 800_000 });
  // 101, the last of them a raise, then five minutes at the high end, then as many again.
  const [last = 0, next = 0] = changes.slice(100);
  assert.ok(last < 220_000 && next - last >= 299_000, `${last}, ${next}`);
  assert.equal(changes.filter((atMs) => atMs < last + 299_000).length, 101);
  assert.equal(held.filter((reason) => reason === "Oscillating").length, 2);
  const reported = scene.messages("CPULimitHeld").map((text) => text.split(":")[0]);
  assert.deepEqual(reported, ["Oscillating", "Oscillating"]);
  scene.changePod("web", optOut);
  await scene.pass(3000);
  assert.equal(scene.limits().wanted, 200);
});

loopTest("moves a limit by the largest step at a time", async (scene) => {
  scene.startController({ maxStep: 1.5 });
  scene.createPod("web");
  await scene.wantFor(5000, 800);
  const seen: number[] = [];
  scene.api.store.onChange(() => {
    const { wanted = 0 } = scene.limits();
    if (seen.at(-1) !== wanted) seen.push(wanted);
  });
  await scene.pass(10_000);
  await scene.wantFor(10_000, 200);
  scene.assertLimit(200);
  for (const [index, limit] of seen.entries()) {
    const before = seen[index - 1] ?? limit;
    assert.ok(limit <= 1.5 * before + 10 && limit >= before / 1.5 - 10, seen.join());
  }
  assert.ok(seen.includes(800), seen.join());
});
