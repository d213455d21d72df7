/** Quotas and LimitRanges: raises stay within them, and go back to pods that the namespace lacks. */
import assert from "node:assert/strict";
import { readDemoScene } from "../../cli/demo_scene.ts";
import { startMarketCluster } from "../../lab/simulation/market_cluster.ts";
import { SCENE_NAMESPACE } from "../../lab/simulation/running_pod.ts";
import { sampleQuota } from "../contract/support/sample_objects.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

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
  scene.setQuota({ hardLimitsCPU: hard, usedLimitsCPU: OWN * names.length });
}

/** Another pod that the quota has let in. */
function addPod(scene: ControllerScene, name: string): void {
  const usedLimitsCPU = scene.totalLimits() + OWN;
  scene.createPod(name);
  scene.setQuota({ usedLimitsCPU });
}

function assertCeilings(scene: ControllerScene, names: string, expected: readonly number[]): void {
  assert.deepEqual([...names].map((name) => scene.bound(name).ceiling), expected);
}

function assertNoneRefused({ events }: ControllerScene): void {
  assert.deepEqual(events("CPULimitFailed"), []);
}

loopTest("keeps all raises within a quota, with room for one more pod", async (scene) => {
  const names = "abcd";
  scene.startController();
  underQuota(scene, { names, hard: 1200, want: 600 });
  await scene.pass(60_000);
  assert.ok(scene.totalLimits() > 960 && scene.totalLimits() <= 1000, `${scene.totalLimits()}`);
  assertNoneRefused(scene);
  // A share stays with its pod, whatever the pod makes of it.
  scene.want("a", 100);
  await scene.pass(60_000);
  assert.deepEqual([...names].map((name) => scene.limits(name).wanted), [100, 250, 250, 250]);
  assertNoneRefused(scene);
});

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
      scene.setQuota({ usedLimitsCPU: 2 * OWN });
    }, 700],
    [() => scene.setQuota({ hardLimitsCPU: 1200 }), 500],
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
  const hardLimitsCPU = 2 * own;
  const market = startMarketCluster(scene, {
    agent: { idleCPU: "free" },
    controller: { burstFactor: 8 },
  });
  const { tables, onChange } = market.api.store;
  const metadata = { ...sampleQuota().metadata, namespace: SCENE_NAMESPACE };
  tables.ResourceQuota.create(sampleQuota({ metadata, hardLimitsCPU, usedLimitsCPU: own }));
  const blocked = new Set<string>();
  let mostUsed = 0;
  onChange(() => {
    for (const { status } of tables.PodAllocation.all()) {
      const { phase, reason = "" } = status ?? {};
      if (phase === "Failed" || reason === "QuotaExceeded") blocked.add(reason);
    }
    const [quota] = tables.ResourceQuota.all();
    mostUsed = Math.max(mostUsed, quota?.usedLimitsCPU ?? 0);
  });
  await market.clock.runUntil(60_000);
  const { requests } = market.api;
  await market.stop();
  assert.deepEqual([...blocked], []);
  // One write for each pod, and room for one more of the largest.
  assert.equal(requests.get("resize Pod"), scene.pods.length);
  const left = hardLimitsCPU - mostUsed - Math.max(...scene.pods.map((pod) => pod.originalLimit));
  assert.ok(left >= 0 && left < 10, `${left} m left`);
});

const HARD = 1600;
const RAISED = ["web-0", "web-1", "web-2"];

/** Three pods of Deployment `web`, raised from 200 to 400 m within a quota of 1600 m. */
async function raised(scene: ControllerScene): Promise<void> {
  scene.tables.Deployment.create(sampleWorkload());
  scene.setQuota({ hardLimitsCPU: HARD, usedLimitsCPU: 600 });
  scene.startController();
  for (const name of RAISED) {
    scene.createPod(name, {}, ofDeployment);
    scene.want(name, 400);
  }
  await scene.pass(30_000);
  assertRaised(scene, 400);
}

function assertRaised(scene: ControllerScene, limit: number): void {
  for (const name of RAISED) assert.equal(scene.limits(name).wanted, limit, name);
}

/** As a ReplicaSet does: a pod at a time, where the quota lets it in. Returns how many there are. */
async function grow(scene: ControllerScene, replicas: number): Promise<number> {
  const count = (): number => scene.tables.Pod.all().length;
  for (let round = 0; round < 40; round++) {
    if (count() < replicas && scene.totalLimits() + OWN <= HARD) {
      const name = `web-${count()}`;
      addPod(scene, name);
      scene.changePod(name, ofDeployment);
      scene.want(name, OWN);
    }
    await scene.pass(5000);
  }
  return count();
}

function changeRaised({ changePod }: ControllerScene, change: Parameters<typeof changePod>[1]) {
  for (const name of RAISED) changePod(name, change);
}

/** What holds limits from below and lasts, and how many pods come to a full quota beside it. */
const HOLDS: Readonly<Record<string, readonly [8 | 5, (scene: ControllerScene) => void]>> = {
  HPAScaled: [8, ({ clock, tables }) => {
    const hpa = sampleHPA({ cpuTargets: [{ utilization: 0.5 }], lastScaleMs: clock.wall() });
    tables.HorizontalPodAutoscaler.create({ ...hpa, stabilizationMs: 3_600_000 });
  }],
  // These keep a raise even where the quota is full: 400 m are left beside, two pods.
  SystemCritical: [
    5,
    (scene) =>
      changeRaised(scene, (pod) => ({ ...pod, priorityClassName: "system-cluster-critical" })),
  ],
};

for (const [hold, [pods, begin]] of Object.entries(HOLDS)) {
  const what = pods === 8 ? "gives raises back to pods that come" : "takes no raise back";
  loopTest(`${what} under ${hold}`, async (scene) => {
    await raised(scene);
    begin(scene);
    await scene.pass(5000);
    assert.equal(await grow(scene, 8), pods);
    const rules = scene.status("web-0").bounds?.rules ?? [];
    assert.ok(rules.some(({ reason }) => reason === hold));
    assertRaised(scene, pods === 8 ? OWN : 400);
  });
}
