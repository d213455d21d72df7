/** What rules of the bounds do to a pod in a whole cluster, and what happens without them. */
import assert from "node:assert/strict";
import { ALLOW_OVERRIDES, STARTUP_BOOST } from "../../shared/api/market_keys.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
import {
  ofDeployment,
  ownedBy,
  sampleHPA,
  sampleVPA,
  sampleWorkload,
} from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

/** Pod `web` of Deployment `web`, raised from 200 m to 600 m. */
function raise(scene: ControllerScene): Promise<void> {
  return scene.raise(600, ofDeployment);
}

/** Whether the lower limit that the agent wants is applied. */
async function lowers(scene: ControllerScene): Promise<boolean> {
  await scene.wantFor(5000, 200);
  const { wanted = 0 } = scene.limits();
  await scene.wantFor(5000, 600);
  scene.assertLimit(600);
  return wanted < 600;
}

function changeApp(fields: Partial<Pod["containers"][number]>): (pod: Pod) => Pod {
  return (pod) => ({ ...pod, containers: pod.containers.map((one) => ({ ...one, ...fields })) });
}

/** Holds that end by themselves, ms after they began. */
const TIMED: Readonly<
  Record<string, readonly [number, "lower" | "half" | undefined, (scene: ControllerScene) => void]>
> = {
  RecentRestart: [
    300_000,
    undefined,
    ({ changePod, clock }) => changePod("web", changeApp({ restartedAtMs: clock.wall() })),
  ],
  HPAScaled: [
    60_000,
    "half",
    ({ tables, clock }) =>
      void tables.HorizontalPodAutoscaler.modify("shop/web-hpa", (hpa) => ({
        ...hpa,
        lastScaleMs: clock.wall(),
      })),
  ],
};

for (const [reason, [lastsMs, after, begin]] of Object.entries(TIMED)) {
  loopTest(`ends ${reason} by itself`, async (scene) => {
    if (after === "half") {
      scene.tables.HorizontalPodAutoscaler.create(sampleHPA({ stabilizationMs: lastsMs }));
    }
    scene.startController();
    await raise(scene);
    const before = [scene.bound().held, scene.boundReasons()];
    assert.equal(before[0], after);
    begin(scene);
    await scene.pass(2000);
    assert.equal(scene.bound().held, "lower");
    assert.match(scene.boundReasons() ?? "", new RegExp(reason));
    assert.equal(await lowers(scene), false);
    // Raises are made meanwhile.
    await scene.wantFor(10_000, 800);
    scene.assertLimit(800);
    await scene.wantFor(lastsMs - 25_000, 200);
    assert.equal(scene.limits().wanted, 800);
    // Nothing happens in the API at its end.
    await scene.pass(10_000);
    assert.deepEqual([scene.bound().held, scene.boundReasons()], before);
    scene.assertLimit(200);
  });
}

loopTest("lowers no limit while a Deployment rolls out", async (scene) => {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController();
  await raise(scene);
  for (const [updated, held] of [[1, "lower"], [3, undefined]] as const) {
    scene.setRollout(updated);
    await scene.pass(2000);
    assert.equal(scene.bound().held, held);
    assert.equal(await lowers(scene), held === undefined);
  }
});

for (const kind of ["StatefulSet", "DaemonSet"] as const) {
  loopTest(`lowers no limit while a ${kind} rolls out, until it stands still`, async (scene) => {
    const table = scene.tables[kind];
    table.create(sampleWorkload({ kind }));
    scene.startController();
    await scene.raise(600, (pod) => ownedBy(kind, pod));
    assert.equal(await lowers(scene), true);
    const roll = (updated: number): unknown =>
      table.modify("shop/web", (one) => ({ ...one, rollout: { ...one.rollout, updated } }));
    roll(1);
    await scene.pass(2000);
    assert.equal(scene.bound().held, "lower");
    await scene.pass(300_000);
    roll(2);
    await scene.pass(2000);
    assert.equal(await lowers(scene), false);
    await scene.wantFor(500_000, 250);
    scene.assertLimit(600);
    await scene.pass(120_000);
    scene.assertLimit(250);
  });
}

loopTest("leaves pods to a VPA until it is gone", async (scene) => {
  const { VerticalPodAutoscaler: autoscalers } = scene.tables;
  scene.startController();
  await raise(scene);
  autoscalers.create(sampleVPA("Initial"));
  await scene.pass(10_000);
  scene.assertLimit(200);
  assert.equal(scene.allocation(), undefined);
  const [restored = "", ...others] = scene.messages("CPULimitsRestored");
  assert.match(restored, /VPA web-vpa, mode Initial, .*Deployment web/);
  assert.deepEqual(others, []);
  const patches = scene.count("resize Pod");
  await scene.pass(300_000);
  assert.equal(scene.count("resize Pod"), patches);
  autoscalers.remove("shop/web-vpa");
  await scene.pass(10_000);
  scene.assertLimit(600);
});

function setReady({ changePod, clock }: ControllerScene, ready = true): void {
  changePod("web", ({ readySinceMs: _over, ...pod }) => ({
    ...pod,
    ready,
    ...(ready ? { readySinceMs: clock.wall() } : {}),
  }));
}

loopTest(
  "follows a LimitRange, and keeps limits while it or a VPA can't be read",
  async (scene) => {
    const { LimitRange: ranges, VerticalPodAutoscaler: autoscalers } = scene.tables;
    const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
    const unreadable = "no number";
    const assertKept = async (object: string): Promise<void> => {
      await scene.pass(5000);
      const rules = scene.status().bounds?.rules?.filter(({ reason }) =>
        reason === "UnreadableBound"
      );
      assert.deepEqual(rules?.map(({ message }) => message), [`${object}: ${unreadable}`]);
      assert.equal(scene.bound().held, "both");
      scene.assertLimit(350);
    };
    scene.startController();
    ranges.create({ metadata, items: [{ type: "Container", max: 350 }] });
    scene.createPod("web");
    await scene.wantFor(10_000, 600);
    scene.assertLimit(350);
    assert.deepEqual([scene.bound().ceiling, scene.boundReasons()], [350, "LimitRange"]);
    ranges.modify("shop/cpu", (one) => ({ ...one, items: [], unreadable }));
    await assertKept("LimitRange cpu");
    ranges.remove("shop/cpu");
    autoscalers.create(sampleVPA("Off", { target: EVERY_WORKLOAD, unreadable }));
    await assertKept("VerticalPodAutoscaler web-vpa");
    autoscalers.remove("shop/web-vpa");
    await scene.pass(10_000);
    scene.assertLimit(600);
  },
);

/** The pod with containers that were started now, not Ready. */
function start({ changePod, clock }: ControllerScene): void {
  changePod("web", ({ readySinceMs: _over, ...pod }) => ({
    ...changeApp({ startedAtMs: clock.wall() })(pod),
    ready: false,
  }));
}

/** A pod that asks for a boost has just been started. */
async function started(scene: ControllerScene, boost: string) {
  scene.changeNamespace({ labels: { [ALLOW_OVERRIDES]: "true" } });
  scene.startController({ burstFactor: 4 });
  scene.createPod("web");
  scene.annotate({ [STARTUP_BOOST]: boost });
  await scene.pass(5000);
  start(scene);
}

function assertCeiling({ bound }: ControllerScene, ceiling: number): void {
  assert.deepEqual([bound().ceiling, bound().boost], [ceiling, ceiling > 800 ? true : undefined]);
}

loopTest("boosts ceilings until the pod is Ready and a little longer, once", async (scene) => {
  await started(scene, "2x,20s");
  await scene.pass(5000);
  assertCeiling(scene, 1600);
  setReady(scene);
  await scene.wantFor(18_000, 1600);
  assertCeiling(scene, 1600);
  assert.equal(scene.limits().wanted, 1600);
  // Nothing happens in the API at the end.
  await scene.pass(4000);
  assertCeiling(scene, 800);
  assert.equal(scene.limits().wanted, 800);
  await scene.pass(900_000);
  for (const ready of [false, true]) {
    setReady(scene, ready);
    await scene.pass(2000);
    assertCeiling(scene, 800);
  }
});
