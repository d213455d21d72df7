/** Raises that fill a quota go back to pods that the namespace still lacks, whatever holds them up. */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

const metadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };
const HARD = 1600;
const OWN = 200;
const RAISED = ["web-0", "web-1", "web-2"];

function totalOf({ api }: ControllerScene): number {
  return [...api.store.tables.Pod.all()].reduce(
    (sum, { containers }) => sum + (containers[0]?.limits.cpu ?? 0),
    0,
  );
}

/** Three pods of Deployment `web`, raised from 200 to 400 m within a quota of 1600 m. */
async function raised(scene: ControllerScene): Promise<void> {
  const { tables } = scene.api.store;
  tables.Deployment.create(sampleWorkload());
  tables.ResourceQuota.create({ metadata, hardLimitsCPU: HARD, usedLimitsCPU: 600, scopes: [] });
  scene.startController();
  for (const name of RAISED) {
    scene.createPod(name);
    scene.changePod(name, ofDeployment);
    scene.want(name, 400);
  }
  await scene.pass(30_000);
  for (const name of RAISED) assert.equal(scene.limits(name).wanted, 400);
}

/** As a ReplicaSet does: a pod at a time, where the quota lets it in. Returns how many there are. */
async function grow(scene: ControllerScene, replicas: number): Promise<number> {
  const { Pod: pods, ResourceQuota: quotas } = scene.api.store.tables;
  for (let round = 0; round < 40; round++) {
    const count = [...pods.all()].length;
    const used = totalOf(scene);
    if (count < replicas && used + OWN <= HARD) {
      const name = `web-${count}`;
      scene.createPod(name);
      scene.changePod(name, ofDeployment);
      scene.want(name, OWN);
      quotas.modify("shop/cpu", (quota) => ({ ...quota, usedLimitsCPU: used + OWN }));
    }
    await scene.pass(5000);
  }
  return [...pods.all()].length;
}

function heldBy(scene: ControllerScene, hold: string): boolean {
  const rules = scene.allocation("web-0")?.status?.bounds?.rules ?? [];
  return rules.some(({ reason }) => reason === hold);
}

/** What holds limits from below, and lasts. */
const HOLDS: Readonly<Record<string, (scene: ControllerScene) => void>> = {
  HPAScaled(scene) {
    const lastScaleMs = scene.clock.wall();
    const hpa = sampleHPA({ cpuTargets: [{ utilization: 0.5 }], lastScaleMs });
    scene.api.store.tables.HorizontalPodAutoscaler.create({ ...hpa, stabilizationMs: 3_600_000 });
  },
  RolloutInProgress({ api }) {
    api.store.tables.Deployment.modify("shop/web", (workload) => ({
      ...workload,
      rollout: { updated: 1, total: 4, stands: false },
    }));
  },
  RecentRestart(scene) {
    const restartedAtMs = scene.clock.wall();
    for (const name of RAISED) {
      scene.changePod(name, (pod) => ({
        ...pod,
        containers: pod.containers.map((one) => ({ ...one, restartedAtMs })),
      }));
    }
  },
};

for (const [reason, begin] of Object.entries(HOLDS)) {
  sceneTest(
    `runAllocationLoop() lets all pods of a workload come that a quota has room for without raises (${reason})`,
    async (scene) => {
      await raised(scene);
      begin(scene);
      await scene.pass(5000);
      assert.equal(await grow(scene, 8), 8);
      assert.ok(heldBy(scene, reason));
      for (const name of RAISED) assert.equal(scene.limits(name).wanted, OWN, name);
    },
  );
}

/** What keeps a raise even where the quota is full. */
const FIRM: Readonly<Record<string, (scene: ControllerScene) => void>> = {
  SystemCritical(scene) {
    const priorityClassName = "system-cluster-critical";
    const critical = (pod: Pod): Pod => ({ ...pod, priorityClassName });
    for (const name of RAISED) scene.changePod(name, critical);
  },
  NodeDraining({ api }) {
    api.store.tables.Node.modify("node-1", (node) => ({ ...node, draining: true }));
  },
};

for (const [reason, begin] of Object.entries(FIRM)) {
  sceneTest(
    `runAllocationLoop() takes no raise back from a pod that keeps it (${reason})`,
    async (scene) => {
      await raised(scene);
      begin(scene);
      await scene.pass(5000);
      // 400 m are left beside the raises: two pods.
      assert.equal(await grow(scene, 8), 5);
      assert.ok(heldBy(scene, reason));
      for (const name of RAISED) assert.equal(scene.limits(name).wanted, 400, name);
    },
  );
}

sceneTest(
  "runAllocationLoop() takes back what a quota needs and no more from limits that are not lowered",
  async (scene) => {
    await raised(scene);
    HOLDS["HPAScaled"]?.(scene);
    await scene.pass(5000);
    for (const name of RAISED) scene.want(name, 100);
    await scene.pass(60_000);
    // Nothing is missing: idle limits stay up.
    for (const name of RAISED) assert.equal(scene.limits(name).wanted, 400, name);
    // Two pods come, and room for one more is wanted.
    assert.equal(await grow(scene, 5), 5);
    const left = HARD - totalOf(scene);
    assert.ok(left >= OWN && left <= OWN + 30, `${left} m left`);
    assert.equal(scene.allocation("web-0")?.status?.bounds?.containers[0]?.held, "lower");
    // Where raises are gone, original limits stay, though the quota is full and the agent wants less.
    assert.equal(await grow(scene, 8), 8);
    assert.equal(totalOf(scene), HARD);
    for (const name of RAISED) assert.equal(scene.limits(name).wanted, OWN, name);
  },
);

const TERMINATING = [{ name: "Terminating", operator: "Exists", values: [] }];

sceneTest(
  "runAllocationLoop() takes no raise back for a quota that does not count the pod",
  async (scene) => {
    const { ResourceQuota: quotas } = scene.api.store.tables;
    const jobs = { ...metadata, name: "jobs" };
    const full = { hardLimitsCPU: 200, usedLimitsCPU: 200, scopes: TERMINATING };
    quotas.create({ metadata: jobs, ...full });
    await raised(scene);
    await scene.pass(60_000);
    for (const name of RAISED) {
      assert.equal(scene.limits(name).wanted, 400, name);
      const rules = scene.allocation(name)?.status?.bounds?.rules ?? [];
      assert.ok(rules.every(({ message }) => !message.includes("ResourceQuota jobs")));
    }
    // A pod of jobs has no room for more, and is reported in which quota.
    scene.createPod("job");
    scene.changePod("job", (pod) => ({ ...pod, hasDeadline: true }));
    scene.want("job", 400);
    await scene.pass(30_000);
    assert.equal(scene.limits("job").wanted, OWN);
    const rules = scene.allocation("job")?.status?.bounds?.rules ?? [];
    const quota = rules.find(({ reason }) => reason === "QuotaExceeded");
    assert.match(quota?.message ?? "", /200m.*ResourceQuota jobs$/);
    // The same quota without scopes counts them all.
    const usedLimitsCPU = totalOf(scene);
    quotas.modify("shop/jobs", (quota) => ({ ...quota, scopes: [], usedLimitsCPU }));
    await scene.pass(60_000);
    for (const name of RAISED) assert.equal(scene.limits(name).wanted, OWN, name);
  },
);
