import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Placement } from "../../controller/placement/placement.ts";
import type { ConfigMap } from "../../shared/api/config_map.ts";
import type { ListWatch } from "../../shared/control/informer.ts";
import { ALL_THERE, type ControllerProgram, startProgram } from "./controller_program.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";

function start(
  { api, clock }: ControllerScene,
  identity = "first",
): ControllerProgram {
  return startProgram({ api, clock, identity });
}

sceneTest("runController() manages pods, and ends with 0 when it is terminated", async (scene) => {
  const program = start(scene);
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.equal(program.waitsFor(), undefined);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  const metrics = await program.registry.metrics();
  assert.match(metrics, /^mbcas_resizes_total\{outcome="accepted",reason="DemandRose"\} 1$/m);
  assert.match(metrics, /^mbcas_allocations\{phase="Applied",reason="Applied"\} 1$/m);
  assert.match(metrics, /^mbcas_decision_confirmation_seconds_count 1$/m);
  assert.match(metrics, /^mbcas_reconcile_duration_seconds_count [1-9]/m);
  program.terminate();
  await scene.pass(1000);
  assert.equal(program.exitCode(), 0);
  assert.equal(scene.api.store.tables.Lease.get("mbcas-system/mbcas-controller")?.holder, "");
});

sceneTest("runController() hands over to a standby within 3 s of its end", async (scene) => {
  const first = start(scene);
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  const second = start(scene, "second");
  await scene.pass(10_000);
  assert.deepEqual([await first.leads(), await second.leads()], [true, false]);
  // Objects without an event when the standby begins: it must reconcile all that is there.
  first.terminate();
  await scene.pass(1000);
  scene.want("web", 400);
  await scene.pass(2000);
  assert.deepEqual([await first.leads(), await second.leads()], [false, true]);
  await scene.pass(5000);
  assert.deepEqual(scene.limits("web"), { wanted: 400, applied: 400 });
  second.terminate();
  await scene.pass(2000);
});

sceneTest("runController() takes up what a dead leader left, within 20 s", async (scene) => {
  const first = start(scene);
  scene.createPod("web");
  await scene.pass(10_000);
  const second = start(scene, "second");
  await scene.pass(10_000);
  // Its resizes fail from now on, so that the request is left for the other.
  first.cutOff();
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 500, times: 3 });
  scene.want("web", 300);
  await scene.pass(20_000);
  assert.equal(first.exitCode(), 1);
  assert.equal(await second.leads(), true);
  await scene.pass(5000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  second.terminate();
  await scene.pass(2000);
});

sceneTest("runController() looks at pods that nothing changes after a takeover", async (scene) => {
  const first = start(scene);
  await scene.pass(5000);
  const second = start(scene, "second");
  await scene.pass(5000);
  first.terminate();
  // Between the leaders: the standby's copy knows of the pod before the standby leads.
  await scene.pass(100);
  assert.equal(first.exitCode(), 0);
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  assert.deepEqual(scene.limits("web"), { wanted: 300, applied: 300 });
  second.terminate();
  await scene.pass(2000);
});

// The YAML parser looks at two variables for its own debugging.
sceneTest("runController() follows market: off and on while it runs", async (scene) => {
  const program = start(scene);
  scene.createPod("web");
  scene.want("web", 300);
  await scene.pass(10_000);
  const path = "configmap mbcas-config";
  program.settings.takeFile({ path, text: "market: off" });
  await scene.pass(3000);
  assert.deepEqual(scene.limits("web"), { wanted: 200, applied: 200 });
  program.settings.takeFile({
    path,
    text: "market: {enabled: on, burstFactor: 1.2, leastCeiling: 0}",
  });
  await scene.pass(10_000);
  assert.equal(scene.limits("web").applied, 240);
  program.terminate();
  await scene.pass(2000);
}, { permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] } });

/** One ConfigMap that stays as it is. */
function settled(data: Readonly<Record<string, string>>): ListWatch<ConfigMap> {
  const metadata = {
    name: "mbcas-config",
    namespace: "mbcas-system",
    uid: "1",
    resourceVersion: "1",
  };
  return {
    list: () => Promise.resolve({ items: [{ metadata, data }], resourceVersion: "1" }),
    async *watch(resourceVersion, signal) {
      yield { type: "BOOKMARK", resourceVersion };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
}

sceneTest(
  "runController() follows OptiPod's keys in its ConfigMap, before it changes a pod",
  async (scene) => {
    const { api, clock } = scene;
    scene.createPod("web");
    scene.want("web", 300);
    for (
      const [data, dryRun, valid] of [
        [{ dryRun: "true" }, true, true],
        [{ "config.yaml": "market: on", dryRun: "true" }, true, true],
        // As a whole: neither key holds. It comes last, since the pod is then resized.
        [{ dryRun: "true", dryRunn: "false" }, false, false],
      ] as const
    ) {
      const identity = Object.keys(data).join();
      const program = startProgram({ api, clock, identity, followed: settled(data) });
      await scene.pass(10_000);
      assert.equal(await program.leads(), true);
      assert.deepEqual([program.settings.values().dryRun, program.settings.valid], [dryRun, valid]);
      assert.equal(scene.limits("web").applied, dryRun ? 200 : 300);
      program.terminate();
      await scene.pass(3000);
    }
  },
  { permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] } },
);

sceneTest("runController() waits for the custom resource and for the server", async (scene) => {
  let asked = 0;
  const { api, clock } = scene;
  const program = startProgram({
    api,
    clock,
    identity: "first",
    ask() {
      asked++;
      if (asked === 1) return Promise.reject(new ApiError(0, "Unreachable", "no route"));
      const servesAllocations = asked > 2;
      const unknownFields = asked > 4 ? [] : ["status.bounds.containers.boost"];
      const findings = { serverVersion: "v1.36.3", servesPodResize: true, missingRights: [] };
      return Promise.resolve({ ...findings, servesAllocations, unknownFields });
    },
  });
  await scene.pass(1);
  assert.match(program.waitsFor() ?? "", /answer.*: no route/);
  scene.createPod("web");
  const reasons = new Set<string | undefined>();
  for (let second = 0; second < 12; second++) {
    await scene.pass(1000);
    if (asked <= 4) assert.equal(scene.allocation("web"), undefined);
    reasons.add(program.waitsFor());
  }
  const [, missing, old] = [...reasons];
  assert.match(missing ?? "", /CustomResourceDefinition .* is missing/);
  assert.match(old ?? "", /older.* status\.bounds\.containers\.boost:/);
  await scene.pass(60_000);
  assert.equal(program.waitsFor(), undefined);
  assert.ok(scene.allocation("web"));
  program.terminate();
  await scene.pass(2000);
});

sceneTest("runController() ends with 1 where it lacks rights", async (scene) => {
  const { api, clock } = scene;
  const program = startProgram({
    api,
    clock,
    identity: "first",
    ask: async (rights) => ({ ...await ALL_THERE([]), missingRights: rights.slice(0, 2) }),
  });
  await scene.pass(1);
  assert.equal(program.exitCode(), 1);
});

sceneTest(
  "runController() runs without pods/resize: placement works, the market holds until it is served",
  async (scene) => {
    const { api, clock, limits } = scene;
    let servesPodResize = false;
    let placed = 0;
    const program = startProgram({
      api,
      clock,
      identity: "first",
      ask: async (rights) => ({ ...await ALL_THERE(rights), servesPodResize }),
      more: () => ({
        identity: "first",
        placement: {
          copies: {},
          mutators: [],
          lead: () => Promise.resolve(void placed++),
        } as unknown as Placement,
      }),
    });
    scene.createPod("web");
    await scene.pass(20_000);
    scene.want("web", 450);
    await scene.pass(20_000);
    assert.deepEqual([program.exitCode(), placed], [undefined, 1]);
    const { phase, reason, conditions } = scene.allocation("web")?.status ?? {};
    assert.deepEqual([phase, reason], ["Pending", "ResizeNotServed"]);
    assert.deepEqual(conditions?.map(({ type, status, reason }) => [type, status, reason]), [
      ["Applied", "False", "ResizeNotServed"],
    ]);
    assert.deepEqual(limits("web"), { wanted: 200, applied: 200 });
    // The server is upgraded while the controller runs, and back.
    servesPodResize = true;
    await scene.pass(330_000);
    assert.deepEqual(limits("web"), { wanted: 450, applied: 450 });
    servesPodResize = false;
    await scene.pass(330_000);
    scene.want("web", 600);
    await scene.pass(20_000);
    assert.equal(scene.allocation("web")?.status?.reason, "ResizeNotServed");
    program.terminate();
    await scene.pass(2000);
  },
);
