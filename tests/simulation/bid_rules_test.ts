/** What each rule of the bids does to a pod in a whole cluster, and what happens without it. */
import { withFields, type ContainerFields } from "../fixtures/container_fields.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { ContainerBounds } from "../../shared/api/pod_allocation.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { ofDeployment, ownedBy, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import assert from "node:assert/strict";

/** Bounds of container `app` of pod `web`. */
function bounds(scene: ControllerScene): ContainerBounds | undefined {
  return scene.allocation("web")?.status?.bounds?.containers[0];
}

function reasons(scene: ControllerScene): string {
  return scene.allocation("web")?.status?.bounds?.reason ?? "";
}

/** Messages of the events about bounds. */
function reported({ api }: ControllerScene): readonly string[] {
  return api.events.all().filter(({ reason }) => reason === "CPULimitBounded")
    .map(({ message }) => message);
}

/** Pod `web` of a Deployment, raised from 200 m to 600 m. */
async function raised(scene: ControllerScene): Promise<void> {
  scene.createPod("web");
  scene.changePod("web", ofDeployment);
  scene.want("web", 600);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
}

/** Whether the lower limit that the agent requests is applied. */
async function lowers(scene: ControllerScene): Promise<boolean> {
  scene.want("web", 200);
  await scene.pass(5000);
  const { wanted = 0 } = scene.limits("web");
  scene.want("web", 600);
  await scene.pass(5000);
  assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
  return wanted < 600;
}

function container(change: ContainerFields): (pod: Pod) => Pod {
  return (pod) => ({
    ...pod,
    containers: pod.containers.map((one) => withFields(one, change)),
  });
}

interface Hold {
  readonly reason: string;
  /** The hold, before `begin` the absence of it. */
  begin(scene: ControllerScene): void;
  end(scene: ControllerScene): void;
}

const web = "shop/web";

function rollingOut(scene: ControllerScene, updated: number): void {
  scene.api.store.tables.Deployment.modify(web, (workload) => ({
    ...workload,
    rollout: { ...workload.rollout, updated },
  }));
}

const HOLDS: readonly Hold[] = [
  {
    reason: "PodNotReady",
    begin: ({ changePod }) => changePod("web", (pod) => ({ ...pod, ready: false })),
    end: ({ changePod }) => changePod("web", (pod) => ({ ...pod, ready: true })),
  },
  {
    reason: "CrashLoopBackOff",
    begin: ({ changePod }) => changePod("web", container({ crashLooping: true })),
    end: ({ changePod }) =>
      changePod("web", (pod) => ({
        ...pod,
        containers: pod.containers.map(({ crashLooping: _over, ...one }) => one),
      })),
  },
  {
    reason: "SystemCritical",
    begin: ({ changePod }) =>
      changePod("web", (pod) => ({ ...pod, priorityClassName: "system-cluster-critical" })),
    end: ({ changePod }) => changePod("web", ({ priorityClassName: _none, ...pod }) => pod),
  },
  {
    reason: "RolloutInProgress",
    begin: (scene) => rollingOut(scene, 1),
    end: (scene) => rollingOut(scene, 3),
  },
];

for (const { reason, begin, end } of HOLDS) {
  sceneTest(
    `runAllocationLoop() lowers no limit under ${reason}, and does before and after`,
    async (scene) => {
      scene.api.store.tables.Deployment.create(sampleWorkload());
      scene.startController();
      await raised(scene);
      assert.equal(await lowers(scene), true);
      begin(scene);
      await scene.pass(2000);
      assert.deepEqual([bounds(scene)?.held, reasons(scene)], ["lower", `${reason}, BurstFactor`]);
      assert.equal(await lowers(scene), false);
      end(scene);
      await scene.pass(2000);
      assert.deepEqual([bounds(scene)?.held, reasons(scene)], [undefined, "BurstFactor"]);
      assert.equal(await lowers(scene), true);
    },
  );
}

for (
  const [reason, change] of [
    ["NodeNotReady", { ready: false }],
    ["NodeDraining", { draining: true }],
  ] as const
) {
  sceneTest(
    `runAllocationLoop() changes no limit under ${reason}, and goes on after it`,
    async (scene) => {
      const { Node: nodes } = scene.api.store.tables;
      scene.startController();
      await raised(scene);
      nodes.modify("node-1", (node) => ({ ...node, ...change }));
      await scene.pass(2000);
      assert.equal(bounds(scene)?.held, "both");
      for (const limit of [200, 800]) {
        scene.want("web", limit);
        await scene.pass(10_000);
        assert.deepEqual(scene.limits("web"), { wanted: 600, applied: 600 });
      }
      nodes.modify("node-1", ({ draining: _over, ...node }) => ({ ...node, ready: true }));
      await scene.pass(5000);
      assert.deepEqual(scene.limits("web"), { wanted: 800, applied: 800 });
      assert.equal(reported(scene).filter((text) => text.includes(reason)).length, 1);
    },
  );
}

sceneTest(
  "runAllocationLoop() ends the hold of a cordon by itself, and raises under it",
  async (scene) => {
    const { Node: nodes } = scene.api.store.tables;
    scene.startController();
    await raised(scene);
    nodes.modify("node-1", (node) => ({ ...node, cordonedAtMs: scene.clock.wall() }));
    await scene.pass(2000);
    assert.deepEqual([bounds(scene)?.held, reasons(scene)], ["lower", "NodeCordoned, BurstFactor"]);
    assert.equal(await lowers(scene), false);
    scene.want("web", 800);
    await scene.pass(10_000);
    assert.deepEqual(scene.limits("web"), { wanted: 800, applied: 800 });
    scene.want("web", 200);
    await scene.pass(600_000 - 25_000);
    assert.equal(scene.limits("web").wanted, 800);
    await scene.pass(10_000);
    assert.deepEqual([bounds(scene)?.held, reasons(scene)], [undefined, "BurstFactor"]);
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  },
);

sceneTest("runAllocationLoop() ends the hold after a restart by itself", async (scene) => {
  scene.startController();
  await raised(scene);
  scene.changePod("web", container({ restartedAtMs: scene.clock.wall() - 60_000 }));
  await scene.pass(2000);
  assert.equal(reasons(scene), "RecentRestart, BurstFactor");
  assert.equal(await lowers(scene), false);
  scene.want("web", 200);
  await scene.pass(240_000 - 13_000);
  assert.equal(scene.limits("web").wanted, 600);
  await scene.pass(4000);
  assert.equal(reasons(scene), "BurstFactor");
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
});

sceneTest(
  "runAllocationLoop() lowers nothing for one window after an HPA has scaled",
  async (scene) => {
    const { HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
    autoscalers.create(sampleHPA({ stabilizationMs: 60_000 }));
    scene.startController();
    await raised(scene);
    assert.deepEqual([bounds(scene)?.held, reasons(scene)], [
      "half",
      "HPAFloor, HPADamped, BurstFactor",
    ]);
    assert.equal(await lowers(scene), true);
    autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, lastScaleMs: scene.clock.wall() }));
    await scene.pass(2000);
    assert.equal(bounds(scene)?.held, "lower");
    assert.equal(await lowers(scene), false);
    scene.want("web", 200);
    await scene.pass(60_000 - 13_000);
    assert.equal(scene.limits("web").wanted, 600);
    // Nothing happens in the API at the end of the window.
    await scene.pass(4000);
    assert.equal(bounds(scene)?.held, "half");
    assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  },
);

sceneTest(
  "runAllocationLoop() keeps limits above an HPA's aim, and lets go with the HPA",
  async (scene) => {
    const { HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
    autoscalers.create(sampleHPA({ cpuTargets: [{ utilization: 2 }] }));
    scene.startController();
    await raised(scene);
    scene.want("web", 100);
    await scene.pass(5000);
    assert.deepEqual(scene.limits("web"), { wanted: 240, applied: 240 });
    autoscalers.remove("shop/web-hpa");
    await scene.pass(5000);
    assert.deepEqual(scene.limits("web"), { wanted: 100, applied: 100 });
  },
);

sceneTest(
  "runAllocationLoop() reports where an HPA's aim lies above the ceiling",
  async (scene) => {
    scene.api.store.tables.HorizontalPodAutoscaler.create(
      sampleHPA({ cpuTargets: [{ value: 5000 }] }),
    );
    scene.startController({ burstFactor: 2, leastCeiling: 0 });
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 100);
    await scene.pass(10_000);
    assert.deepEqual([bounds(scene)?.floor, bounds(scene)?.ceiling], [400, 400]);
    assert.match(reasons(scene), /HPACapped/);
    assert.deepEqual(scene.limits("web"), { wanted: 400, applied: 400 });
  },
);

sceneTest(
  "runAllocationLoop() heeds an HPA or a rollout of the pod's own workload only",
  async (scene) => {
    const { tables } = scene.api.store;
    const elsewhere = <T extends { readonly metadata: object }>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, namespace: "other" },
    });
    const rolling = sampleWorkload({ rollout: { updated: 1 } });
    tables.Deployment.create(elsewhere(rolling));
    tables.Deployment.create({ ...rolling, metadata: { ...rolling.metadata, name: "api" } });
    tables.StatefulSet.create({ ...rolling, kind: "StatefulSet" });
    tables.HorizontalPodAutoscaler.create(elsewhere(sampleHPA()));
    tables.HorizontalPodAutoscaler.create(
      sampleHPA({ target: { kind: "Deployment", name: "api" } }),
    );
    scene.startController();
    await raised(scene);
    assert.deepEqual([bounds(scene)?.held, reasons(scene)], [undefined, "BurstFactor"]);
  },
);

for (const kind of ["StatefulSet", "DaemonSet"] as const) {
  sceneTest(`runAllocationLoop() lowers no limit while a ${kind} rolls out`, async (scene) => {
    const { tables } = scene.api.store;
    tables[kind].create(sampleWorkload({ kind }));
    scene.startController();
    await raised(scene);
    scene.changePod("web", (pod) => ownedBy(kind, pod));
    await scene.pass(2000);
    assert.equal(await lowers(scene), true);
    tables[kind].modify(web, (workload: Workload) => ({
      ...workload,
      rollout: { ...workload.rollout, updated: 2 },
    }));
    await scene.pass(2000);
    assert.equal(await lowers(scene), false);
    tables[kind].remove(web);
    await scene.pass(2000);
    assert.equal(await lowers(scene), true);
  });
}

sceneTest(
  "runAllocationLoop() lowers pods of a StatefulSet with a rollout that stands still for 10 min",
  async (scene) => {
    const { StatefulSet: statefulSets } = scene.api.store.tables;
    const sample = sampleWorkload({ rollout: { updated: 3 } });
    statefulSets.create({ ...sample, kind: "StatefulSet" });
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", (pod) => {
      const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "w" };
      return { ...pod, metadata: { ...pod.metadata, owner } };
    });
    scene.want("web", 300);
    await scene.pass(20_000);
    const roll = (updated: number): void =>
      void statefulSets.modify("shop/web", (one) => ({
        ...one,
        rollout: { updated, total: 3, stands: false },
      }));
    roll(1);
    await scene.pass(300_000);
    roll(2);
    await scene.pass(30_000);
    scene.want("web", 250);
    await scene.pass(500_000);
    assert.equal(scene.limits("web").applied, 300);
    await scene.pass(120_000);
    assert.equal(scene.limits("web").applied, 250);
  },
);
