import assert from "node:assert/strict";
import { readDemoScene } from "../../lab/demo/demo_scene.ts";
import { startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE } from "../../lab/simulation/scene.ts";
import { cpuLimits, sampleQuota } from "../contract/support/sample_objects.ts";
import { ofDeployment, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Quotas and LimitRanges: raises stay within them, and go back to pods that the namespace lacks. */

/** The original limit of each pod, m. */
const OWN = 200;

/** Makes pods under a quota that counts their original limits. */
function underQuota(
  scene: ControllerScene,
  { names, hard, want }: { readonly names: string; readonly hard: number; readonly want?: number },
): void {
  for (const name of names) {
    scene.createPod(name);
    scene.want(name, want);
  }
  scene.setQuota({ hard, used: OWN * names.length });
}

/** Another pod that the quota has let in. */
function addPod(scene: ControllerScene, name: string): void {
  const used = scene.totalLimits() + OWN;
  scene.createPod(name);
  scene.setQuota({ used });
}

function assertCeilings(scene: ControllerScene, names: string, expected: readonly number[]): void {
  assert.deepEqual([...names].map((name) => scene.bound(name).ceiling), expected);
}

function assertNoneRefused({ events }: ControllerScene): void {
  assert.deepEqual(events("CPULimitFailed"), []);
}

loopTest("takes raises back when a new pod has taken the room that was kept", async (scene) => {
  scene.startController();
  underQuota(scene, { names: "ab", hard: 1000, want: 600 });
  await scene.pass(30_000);
  assert.equal(scene.totalLimits(), 800);
  addPod(scene, "c");
  await scene.pass(60_000);
  // Room for one more pod of 200 m is there again, and a share for the new one.
  assertCeilings(scene, "abc", [270, 270, 260]);
  assert.deepEqual([...["a", "b", "c"]].map((name) => scene.limits(name).wanted), [270, 270, OWN]);
  assertNoneRefused(scene);
  const before = scene.count("resize Pod");
  await scene.pass(300_000);
  assert.equal(scene.count("resize Pod"), before);
});

loopTest("sends a blocked raise as soon as others leave the quota", async (scene) => {
  scene.startController();
  underQuota(scene, { names: "ab", hard: 1000, want: 600 });
  scene.setQuota({ used: 1000 });
  await scene.pass(60_000);
  assert.deepEqual([scene.totalLimits(), scene.status("a").reason], [400, "QuotaExceeded"]);
  scene.setQuota({ used: 400 });
  await scene.pass(100);
  assert.equal(scene.totalLimits(), 800);
});

loopTest("takes raises back during a rollout once the quota counts the new pod", async (scene) => {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController();
  for (const name of "ab") {
    scene.createPod(name, {}, ofDeployment);
    scene.want(name, 600);
  }
  scene.setQuota({ hard: 1000, used: 2 * OWN });
  await scene.pass(60_000);
  scene.setRollout(1);
  await scene.pass(5000);
  scene.createPod("c");
  await scene.pass(3000);
  assert.deepEqual([scene.totalLimits(), scene.bound("a").held], [1000, "lower"]);
  scene.setQuota({ used: 1000 });
  await scene.pass(2000);
  assert.equal(scene.totalLimits(), 800);
});

loopTest("divides a quota anew, once, when a pod or the quota changes", async (scene) => {
  underQuota(scene, { names: "ab", hard: 1600 });
  await scene.pass(5000);
  scene.startController();
  await scene.pass(60_000);
  const rows: readonly (readonly [change: () => void, ceiling: number])[] = [
    [() => {}, 700],
    [() => addPod(scene, "c"), 470],
    [() => {
      scene.tables.Pod.remove("shop/c");
      scene.setQuota({ used: 2 * OWN });
    }, 700],
    [() => scene.setQuota({ hard: 1200 }), 500],
  ];
  for (const [index, [change, ceiling]] of rows.entries()) {
    change();
    await scene.pass(5000);
    assertCeilings(scene, "ab", [ceiling, ceiling]);
    assert.equal(scene.status("a").bounds?.revision, index + 1);
  }
});

Deno.test("startMarketCluster() raises all limits to what a quota allows, and none is refused", async () => {
  const { scene } = await readDemoScene({ seed: 1, minutes: 1, pods: 12, giveUp: 0, json: true });
  const own = scene.pods.reduce((sum, { originalLimit }) => sum + originalLimit, 0);
  const hard = 2 * own;
  const market = startMarketCluster(scene, {
    agent: { idleCPU: "free" },
    controller: { burstFactor: 8 },
  });
  const { tables, onChange } = market.api.store;
  const metadata = { ...sampleQuota().metadata, namespace: SCENE_NAMESPACE };
  tables.ResourceQuota.create(sampleQuota({ metadata, ...cpuLimits(hard, own) }));
  const blocked = new Set<string>();
  let mostUsed = 0;
  onChange(() => {
    for (const { status } of tables.PodAllocation.all()) {
      const { phase, reason = "" } = status ?? {};
      if (phase === "Failed" || reason === "QuotaExceeded") blocked.add(reason);
    }
    const [quota] = tables.ResourceQuota.all();
    mostUsed = Math.max(mostUsed, quota?.bounds["limits.cpu"]?.used ?? 0);
  });
  await market.clock.runUntil(60_000);
  const { requests } = market.api;
  await market.stop();
  assert.deepEqual([...blocked], []);
  // One write for each pod, and room for one more of the largest.
  assert.equal(requests.get("resize Pod"), scene.pods.length);
  const left = hard - mostUsed - Math.max(...scene.pods.map((pod) => pod.originalLimit));
  assert.ok(left >= 0 && left < 10, `${left} m left`);
});
