/** Both loops on the same pods: the owner of each field, and the immediate effects of a new request. */
import assert from "node:assert/strict";
import type { UsageSource } from "../../controller/rightsizing/ports.ts";
import type { UpdateStrategy } from "../../shared/rightsizing/policy_spec.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import { autoPolicy, MI, templateContainer } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { ofDeployment } from "../fixtures/sample_workloads.ts";
import { ALL_THERE, startProgram } from "./controller_program.ts";
import { type ControllerScene, optOut, sceneTest } from "./controller_scene.ts";

import { simulatedRightsizing, startRightsizing } from "./running_rightsizing.ts";

const MINUTE_MS = 60_000;

/** A pod of Deployment `web`, its original limit 200 m. */
function deployedPod(scene: ControllerScene): void {
  scene.api.store.tables.Deployment.create({
    kind: "Deployment",
    metadata: {
      name: "web",
      namespace: "shop",
      uid: "",
      resourceVersion: "",
      labels: {},
      annotations: {},
    },
    rollout: { updated: 1, total: 1, stands: false },
    makes: {
      paused: false,
      replicas: 1,
      template: { containers: [templateContainer()], initContainers: [] },
    },
  });
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
  api.store.tables.OptimizationPolicy.create({
    metadata: { name: "all", namespace: "shop", uid: "", resourceVersion: "", generation: 1 },
    spec: autoPolicy(strategy, {
      selector: {
        namespaces: { allow: ["shop"], deny: [] },
        workloadKinds: ["Deployment"],
      },
    }),
    faults: [],
    status: {},
  });
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

sceneTest(
  "a new request moves floor and weight at once, and is not the market's",
  async (scene) => {
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
  },
);

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
    const { config, ...rightsizing } = simulatedRightsizing(api, { source, resizeServed: false });
    const program = startProgram({
      api,
      clock,
      identity: "first",
      flags: new Map([["--market", "off"]]),
      ask: async (rights) => ({ ...await ALL_THERE(rights), servesPodResize: false }),
      rightsizing: { ...rightsizing, config: { ...config, dryRun } },
    });
    await scene.pass(MINUTE_MS);
    assert.equal(program.exitCode(), undefined);
    const { makes } = api.store.tables.Deployment.get("shop/web") ?? {};
    assert.equal(makes?.template.containers[0]?.requests.cpu, dryRun ? 100 : 180);
    assert.equal(api.requests.get("resize Pod"), undefined);
    program.terminate();
    await scene.pass(2000);
  });
}
