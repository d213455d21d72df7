/** How often bounds are written and reported: an unchanged cluster costs nothing. */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };

/** Writes of allocations' status so far. */
function writes({ api }: ControllerScene): number {
  return api.requests.get("updateStatus PodAllocation") ?? 0;
}

function reported({ api }: ControllerScene): readonly string[] {
  return api.events.all().filter(({ reason }) => reason === "CPULimitBounded")
    .map(({ message }) => message);
}

function restartedAt(ms: number): (pod: Pod) => Pod {
  return (pod) => ({
    ...pod,
    containers: pod.containers.map((one) => ({ ...one, restartedAtMs: ms })),
  });
}

/** Pod `web` with every rule speaking of it. */
async function troubled(scene: ControllerScene): Promise<void> {
  const { tables } = scene.api.store;
  tables.Deployment.create(sampleWorkload({ rollout: { updated: 1 } }));
  tables.HorizontalPodAutoscaler.create(
    sampleHPA({ cpuTargets: [{ utilization: 9 }], lastScaleMs: scene.clock.wall() }),
  );
  tables.ResourceQuota.create({ metadata, hardLimitsCPU: 500, usedLimitsCPU: 200, scopes: [] });
  tables.LimitRange.create({ metadata, items: [{ type: "Container", max: 700 }] });
  scene.createPod("web");
  scene.changePod("web", ofDeployment);
  scene.changePod("web", (pod) => ({ ...pod, priorityClassName: "system-node-critical" }));
  await scene.pass(5000);
  scene.changePod("web", (pod) => ({ ...restartedAt(scene.clock.wall())(pod), ready: false }));
  tables.Node.modify("node-1", (node) => ({ ...node, draining: true }));
}

sceneTest(
  "runAllocationLoop() writes bounds once while all that holds a pod stands still",
  async (scene) => {
    await troubled(scene);
    scene.startController();
    scene.want("web", 300);
    await scene.pass(5000);
    const said = scene.allocation("web")?.status?.bounds;
    assert.equal(
      said?.reason,
      "NodeDraining, SystemCritical, RecentRestart, PodNotReady, RolloutInProgress, HPAFloor, " +
        "HPADamped, HPAScaled, QuotaExceeded, HPACapped",
    );
    const before = writes(scene);
    await scene.pass(600_000);
    // Two holds end by themselves: the one after the restart, and the HPA's window.
    assert.ok(writes(scene) - before <= 2, `${writes(scene) - before} writes`);
    const later = scene.allocation("web")?.status?.bounds;
    assert.ok((later?.revision ?? 0) <= 3, `${later?.revision}`);
    assert.doesNotMatch(later?.reason ?? "", /RecentRestart|HPAScaled/);
    const subjects = scene.api.events.all().filter(({ reason }) => reason === "CPULimitBounded")
      .map(({ about }) => about?.kind);
    assert.deepEqual(subjects, ["Node", undefined, "Deployment"], reported(scene).join("\n"));
  },
);

sceneTest(
  "runAllocationLoop() reports new bounds in one event, and of usual ones in none",
  async (scene) => {
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 300);
    await scene.pass(10_000);
    assert.deepEqual(reported(scene), []);
    scene.api.store.tables.HorizontalPodAutoscaler.create(sampleHPA());
    await scene.pass(600_000);
    const [event = "", ...others] = reported(scene);
    assert.match(event, /^HPAFloor: .*96m.*80m.*; HPADamped: .*web-hpa/);
    assert.deepEqual(others, []);
  },
);

sceneTest(
  "runAllocationLoop() writes nothing when an autoscaler reports what concerns no bound",
  async (scene) => {
    const { tables } = scene.api.store;
    tables.HorizontalPodAutoscaler.create(sampleHPA());
    tables.Deployment.create(sampleWorkload());
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 300);
    await scene.pass(10_000);
    const before = writes(scene);
    // An HPA's controller writes its status every 15 s, a Deployment's with each pod that comes and
    // goes.
    for (let round = 0; round < 40; round++) {
      tables.HorizontalPodAutoscaler.modify("shop/web-hpa", (hpa) => ({
        ...hpa,
        metadata: { ...hpa.metadata, annotations: { round: String(round) } },
      }));
      tables.Deployment.modify("shop/web", (workload) => ({
        ...workload,
        rollout: { ...workload.rollout, updated: 3 + round % 2, total: 3 + round % 2 },
      }));
      await scene.pass(15_000);
    }
    assert.equal(writes(scene), before);
  },
);

sceneTest(
  "runAllocationLoop() follows a rollout in two writes, however many pods it replaces",
  async (scene) => {
    const { Deployment: deployments } = scene.api.store.tables;
    deployments.create(sampleWorkload({ rollout: { updated: 20, total: 20 } }));
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 300);
    await scene.pass(10_000);
    const before = writes(scene);
    for (let updated = 0; updated <= 20; updated++) {
      deployments.modify("shop/web", (workload) => ({
        ...workload,
        rollout: { ...workload.rollout, updated, total: updated === 20 ? 20 : 21 },
      }));
      await scene.pass(10_000);
    }
    assert.equal(writes(scene) - before, 2);
    assert.equal(reported(scene).length, 1);
  },
);

sceneTest(
  "runAllocationLoop() looks at no pods of others when an autoscaler changes",
  async (scene) => {
    const { HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
    autoscalers.create(sampleHPA({ target: { kind: "Deployment", name: "api" } }));
    let looks = 0;
    scene.startController({}, { observer: { reconciled: () => void looks++ } });
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    await scene.pass(10_000);
    const scale = (lastScaleMs: number): void =>
      void autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, lastScaleMs }));
    looks = 0;
    for (let round = 0; round < 10; round++) {
      scale(round);
      await scene.pass(1000);
    }
    assert.equal(looks, 0);
    const target = { kind: "Deployment", name: "web" };
    autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, target }));
    await scene.pass(1000);
    assert.ok(looks > 0);
  },
);

sceneTest(
  "runAllocationLoop() looks at no pods when their workload reports nothing that counts",
  async (scene) => {
    const { Deployment: deployments } = scene.api.store.tables;
    deployments.create(sampleWorkload());
    let looks = 0;
    scene.startController({}, { observer: { reconciled: () => void looks++ } });
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    await scene.pass(10_000);
    const count = async (updated: number, total: number): Promise<number> => {
      looks = 0;
      deployments.modify("shop/web", (workload) => ({
        ...workload,
        rollout: { ...workload.rollout, updated, total },
      }));
      await scene.pass(1000);
      return looks;
    };
    // Scaled up and down; then a rollout with an event for every pod.
    assert.deepEqual([await count(4, 4), await count(3, 3)], [0, 0]);
    assert.ok(await count(0, 4) > 0);
    assert.deepEqual([await count(1, 4), await count(2, 4)], [0, 0]);
    assert.ok(await count(3, 3) > 0);
  },
);

sceneTest(
  "runAllocationLoop() takes raises back from a workload when another comes under its quota",
  async (scene) => {
    const { tables } = scene.api.store;
    tables.Deployment.create(sampleWorkload());
    tables.ResourceQuota.create({ metadata, hardLimitsCPU: 900, usedLimitsCPU: 200, scopes: [] });
    scene.startController();
    scene.createPod("web");
    scene.changePod("web", ofDeployment);
    scene.want("web", 800);
    await scene.pass(30_000);
    assert.equal(scene.limits("web").wanted, 700);
    // Another workload's pod has come: this one gives back what goes to its share.
    scene.createPod("other");
    tables.ResourceQuota.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU: 900 }));
    await scene.pass(60_000);
    assert.equal(scene.limits("web").wanted, 350);
  },
);

sceneTest(
  "runAllocationLoop() writes nothing when the use of a quota jitters",
  async (scene) => {
    const { ResourceQuota: quotas } = scene.api.store.tables;
    quotas.create({ metadata, hardLimitsCPU: 800, usedLimitsCPU: 200, scopes: [] });
    scene.startController();
    scene.createPod("web");
    scene.want("web", 250);
    await scene.pass(30_000);
    const rules = scene.allocation("web")?.status?.bounds?.rules ?? [];
    assert.deepEqual(rules.map(({ reason }) => reason), ["QuotaExceeded"]);
    const before = writes(scene);
    for (let round = 0; round < 120; round++) {
      const usedLimitsCPU = 250 + round % 7;
      quotas.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU }));
      await scene.pass(5000);
    }
    assert.equal(writes(scene) - before, 0);
    const after = scene.allocation("web")?.status?.bounds?.rules ?? [];
    assert.deepEqual(after, rules);
  },
);

sceneTest(
  "runAllocationLoop() reports another cause soon, but not each time that it changes to and fro",
  async (scene) => {
    const { LimitRange: ranges } = scene.api.store.tables;
    ranges.create({ metadata, items: [], unreadable: "no number" });
    scene.startController();
    scene.createPod("web");
    await scene.pass(30_000);
    const { revision } = scene.allocation("web")?.status?.bounds ?? {};
    const said = (): string | undefined =>
      scene.allocation("web")?.status?.bounds?.rules
        ?.find(({ reason }) => reason === "UnreadableBound")?.message;
    const say = (unreadable: string): void =>
      void ranges.modify("shop/cpu", (range) => ({ ...range, unreadable }));
    say("no unit");
    await scene.pass(2000);
    assert.match(said() ?? "", /no unit$/);
    const before = writes(scene);
    for (let round = 0; round < 60; round++) {
      say(round % 2 === 0 ? "no number" : "no unit");
      await scene.pass(5000);
    }
    assert.ok(writes(scene) - before <= 6, `${writes(scene) - before} writes`);
    say("no sense");
    await scene.pass(91_000);
    assert.match(said() ?? "", /LimitRange cpu.*no sense$/);
    assert.equal(scene.allocation("web")?.status?.bounds?.revision, revision);
  },
);
