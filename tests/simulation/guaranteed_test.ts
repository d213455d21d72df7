/** Guaranteed pods: left alone, and taken in with request and limit where they ask for it. */
import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { SKIP_GUARANTEED } from "../../shared/api/market_keys.ts";
import { sampleContainer, sampleGuaranteed } from "../contract/support/sample_objects.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import { coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { sampleHPA } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { optOut } from "./raised_pod.ts";

/** The pod with this text of the annotation that takes Guaranteed pods in. */
function skipping(pod: Pod, text: string): Pod {
  const annotations = { ...pod.metadata.annotations, [SKIP_GUARANTEED]: text };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

const optIn = (pod: Pod): Pod => skipping(pod, "false");

/** Makes a Guaranteed pod of 200 m that has asked to be taken in, and waits until it has bounds. */
async function takenIn(scene: ControllerScene, name = "web"): Promise<void> {
  scene.createPod(name, { containers: [sampleGuaranteed()] });
  scene.changePod(name, optIn);
  await scene.pass(5000);
  assert.equal(scene.allocation(name)?.status?.bounds?.revision, 1);
}

function assertBoth(scene: ControllerScene, name: string, millicores: number): void {
  const both = { wanted: millicores, applied: millicores };
  assert.deepEqual([scene.limits(name), scene.requests(name)], [both, both]);
  assert.equal(scene.pod(name).qosClass, "Guaranteed");
}

function patches({ api }: ControllerScene): number {
  return api.requests.get("resize Pod") ?? 0;
}

function eventsOf({ api }: ControllerScene, reason: string): readonly string[] {
  return api.events.all().filter((event) => event.reason === reason).map(({ message }) => message);
}

const quotaMetadata = { name: "cpu", namespace: "shop", uid: "", resourceVersion: "" };

sceneTest(
  "runAllocationLoop() leaves a Guaranteed pod alone that asks for nothing",
  async (scene) => {
    scene.startController();
    scene.createPod("web", { containers: [sampleGuaranteed()] });
    scene.createPod("db", { containers: [sampleGuaranteed()] });
    scene.changePod("db", (pod) => skipping(pod, "true"));
    for (const name of ["web", "db"]) scene.want(name, 500);
    await scene.pass(60_000);
    for (const name of ["web", "db"]) {
      assert.equal(scene.allocation(name), undefined);
      assertBoth(scene, name, 200);
    }
    assert.deepEqual([patches(scene), eventsOf(scene, "AnnotationIgnored")], [0, []]);
  },
);

sceneTest("runAllocationLoop() reports a text that takes no Guaranteed pod in", async (scene) => {
  scene.startController();
  scene.createPod("web", { containers: [sampleGuaranteed()] });
  scene.changePod("web", (pod) => skipping(pod, "False"));
  await scene.pass(10_000);
  assert.equal(scene.allocation("web"), undefined);
  assert.deepEqual(eventsOf(scene, "AnnotationIgnored"), [
    'mbcas.io/skip-guaranteed: "False" is not "true" or "false"',
  ]);
});

sceneTest(
  "runAllocationLoop() moves request and limit of a Guaranteed pod together",
  async (scene) => {
    scene.startController();
    await takenIn(scene);
    const { originalLimits, originalRequests, bounds } = scene.allocation("web")?.status ?? {};
    assert.deepEqual(originalLimits, [{ name: "app", cpu: "200m" }]);
    assert.deepEqual(originalRequests, [{ name: "app", cpu: "200m" }]);
    for (const limit of [450, 800, 300]) {
      scene.want("web", limit);
      await scene.pass(5000);
      assertBoth(scene, "web", limit);
      assert.equal(scene.allocation("web")?.status?.reason, "Applied");
      // Its own request weighs, whatever the market makes of it.
      assert.deepEqual(scene.allocation("web")?.status?.bounds?.containers, bounds?.containers);
    }
    const [bound] = bounds?.containers ?? [];
    assert.deepEqual([bound?.floor, bound?.ceiling, bound?.weight, bound?.requestMoves], [
      200,
      1600,
      200,
      true,
    ]);
    assert.deepEqual(eventsOf(scene, "CPULimitFailed"), []);
  },
);

sceneTest(
  "runAllocationLoop() brings both back when a Guaranteed pod leaves the market",
  async (scene) => {
    scene.startController();
    const ways: Readonly<Record<string, (pod: Pod) => Pod>> = {
      "web": optOut,
      "db": (pod) => skipping(pod, "true"),
    };
    for (const [name, leave] of Object.entries(ways)) {
      await takenIn(scene, name);
      scene.want(name, 600);
      await scene.pass(5000);
      assertBoth(scene, name, 600);
      scene.changePod(name, leave);
      await scene.pass(5000);
      assertBoth(scene, name, 200);
      assert.equal(scene.allocation(name), undefined);
    }
    scene.changePod("db", optIn);
    await scene.pass(5000);
    assertBoth(scene, "db", 600);
  },
);

sceneTest(
  "runAllocationLoop() brings both back under a silent agent, after a restart too",
  async (scene) => {
    const kill = scene.startController();
    await takenIn(scene);
    scene.want("web", 600);
    await scene.pass(5000);
    kill();
    await scene.pass(1000);
    scene.startController();
    scene.silent.add("node-1");
    await scene.pass(400_000);
    assertBoth(scene, "web", 200);
  },
);

sceneTest(
  "runAllocationLoop() reads both from the template when the record is lost",
  async (scene) => {
    scene.templates.set("web", new Map([["app", 200]]));
    const kill = scene.startController();
    await takenIn(scene);
    scene.want("web", 600);
    await scene.pass(5000);
    kill();
    await scene.pass(1000);
    const { uid } = scene.pod("web").metadata;
    scene.api.store.tables.PodAllocation.remove(`shop/${uid}`);
    scene.startController();
    await scene.pass(5000);
    const { originalRequests, bounds } = scene.allocation("web")?.status ?? {};
    assert.deepEqual(originalRequests, [{ name: "app", cpu: "200m" }]);
    assert.deepEqual(bounds?.containers.map(({ floor, weight }) => [floor, weight]), [[200, 200]]);
    scene.changePod("web", optOut);
    await scene.pass(5000);
    assertBoth(scene, "web", 200);
  },
);

sceneTest(
  "runAllocationLoop() takes a value that was set by hand for both original values",
  async (scene) => {
    scene.startController();
    await takenIn(scene);
    scene.want("web", 600);
    await scene.pass(5000);
    const { uid } = scene.pod("web").metadata;
    const change = { name: "app", sidecar: false, requests: { cpu: 400 }, limits: { cpu: 400 } };
    const hand = scene.api.podResizer("kubectl-patch");
    await settleVirtually(scene.clock, hand.resize("shop", "web", resizePatch(uid, [change])));
    await scene.pass(10_000);
    const { originalLimits, originalRequests, bounds } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([originalLimits, originalRequests], [
      [{ name: "app", cpu: "400m" }],
      [{ name: "app", cpu: "400m" }],
    ]);
    const [bound] = bounds?.containers ?? [];
    assert.deepEqual([bound?.floor, bound?.ceiling, bound?.weight], [400, 3200, 400]);
    scene.changePod("web", optOut);
    await scene.pass(5000);
    assertBoth(scene, "web", 400);
  },
);

sceneTest(
  "runAllocationLoop() keeps a Guaranteed pod within a quota on requests",
  async (scene) => {
    scene.startController({ quotaHeadroom: 0 });
    await takenIn(scene);
    scene.createPod("burstable");
    const { ResourceQuota: quotas } = scene.api.store.tables;
    quotas.create({
      metadata: quotaMetadata,
      hardLimitsCPU: 10_000,
      usedLimitsCPU: 400,
      requestsCPU: { hard: 450, used: 300 },
      scopes: [],
    });
    for (const name of ["web", "burstable"]) scene.want(name, 800);
    await scene.pass(20_000);
    assertBoth(scene, "web", 350);
    assert.match(scene.allocation("web")?.status?.bounds?.reason ?? "", /QuotaExceeded/);
    // A Burstable pod's request stays, and so this quota binds it not.
    assert.deepEqual(scene.limits("burstable"), { wanted: 800, applied: 800 });
    assert.deepEqual(eventsOf(scene, "CPULimitFailed"), []);
    quotas.modify("shop/cpu", (quota) => ({ ...quota, requestsCPU: { hard: 600, used: 450 } }));
    await scene.pass(60_000);
    assertBoth(scene, "web", 500);
  },
);

sceneTest("runAllocationLoop() foresees what the requests on the node leave", async (scene) => {
  scene.startController();
  await takenIn(scene);
  scene.createPod("filler", {
    containers: [sampleContainer({ requests: { cpu: 3500 }, limits: { cpu: 3600 } })],
  });
  await scene.pass(35_000);
  scene.want("web", 800);
  await scene.pass(10_000);
  assertBoth(scene, "web", 500);
  const { bounds } = scene.allocation("web")?.status ?? {};
  assert.deepEqual([bounds?.reason, bounds?.containers[0]?.ceiling], ["NodeCapacity", 500]);
  assert.deepEqual(scene.pod("web").resizeConditions, []);
  assert.match(eventsOf(scene, "CPULimitBounded").join(), /NodeCapacity: app .*500m/);
  // What goes leaves room, also without an event about this pod.
  scene.api.store.tables.Pod.remove("shop/filler");
  await scene.pass(60_000);
  assertBoth(scene, "web", 800);
});

sceneTest(
  "runAllocationLoop() reports that the kubelet has put off the raise of a request",
  async (scene) => {
    scene.startController();
    await takenIn(scene);
    // The controller believes in a larger node than the kubelet has.
    const { Node: nodes } = scene.api.store.tables;
    nodes.modify("node-1", (node) => ({ ...node, allocatableCPU: 8000 }));
    scene.createPod("filler", {
      containers: [sampleContainer({ requests: { cpu: 3500 }, limits: { cpu: 3600 } })],
    });
    await scene.pass(5000);
    scene.want("web", 800);
    await scene.pass(10_000);
    const { phase, reason, message } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([phase, reason], ["Pending", "ResizeDeferred"]);
    assert.match(message ?? "", /cpu.*800.*3500.*4000$/);
    assert.deepEqual(scene.requests("web"), { wanted: 800, applied: 200 });
    scene.api.store.tables.Pod.remove("shop/filler");
    await scene.pass(10_000);
    assertBoth(scene, "web", 800);
    assert.equal(scene.allocation("web")?.status?.reason, "Applied");
  },
);

sceneTest(
  "runAllocationLoop() reports that the server finds the node too small, and backs off",
  async (scene) => {
    scene.startController();
    await takenIn(scene);
    scene.want("web", 700);
    scene.api.failNext({
      verb: "resize",
      kind: "Pod",
      status: 403,
      times: 3,
      message: 'pods "web" is forbidden: node didn\'t have enough allocatable resources: cpu, ' +
        "requested: 700, allocatable: 600",
    });
    await scene.pass(2500);
    const { phase, reason } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([phase, reason], ["Failed", "NodeCapacity"]);
    await scene.pass(10_000);
    assertBoth(scene, "web", 700);
  },
);

sceneTest("runAllocationLoop() moves no request that an HPA divides by", async (scene) => {
  scene.startController();
  await takenIn(scene);
  scene.changePod("web", (pod) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      owner: { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "s" },
    },
  }));
  scene.want("web", 600);
  await scene.pass(5000);
  assertBoth(scene, "web", 600);
  const target = { kind: "StatefulSet", name: "web" };
  const { HorizontalPodAutoscaler: autoscalers } = scene.api.store.tables;
  autoscalers.create(sampleHPA({ target }));
  await scene.pass(5000);
  assertBoth(scene, "web", 200);
  assert.match(eventsOf(scene, "CPULimitsRestored").join(), /HPA web-hpa divides the CPU usage/);
  autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, cpuTargets: [{ value: 300 }] }));
  await scene.pass(5000);
  assertBoth(scene, "web", 600);
});

sceneTest("restoreCommand() and resizeCommand() move both beside a controller", async (scene) => {
  scene.startController();
  await takenIn(scene);
  scene.want("web", 450);
  await scene.pass(5000);
  const cli = coallocScene(scene);
  cli.controllerAlive = true;
  assert.equal(await cli.run("resize", "web", "--cpu-limit", "300m"), 0, cli.out + cli.err);
  assert.match(cli.out, /450m → 300m \(request and limit\).*market/);
  await scene.pass(10_000);
  assertBoth(scene, "web", 450);
  cli.out = "";
  assert.equal(await cli.run("restore", "web"), 0, cli.out + cli.err);
  assert.match(cli.out, /app 450m → 300m \(request and limit\)/);
  assertBoth(scene, "web", 300);
  await scene.pass(60_000);
  assertBoth(scene, "web", 300);
});
