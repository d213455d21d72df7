import assert from "node:assert/strict";
import type { KindName } from "../../lab/simulation/api/kinds.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  ALL_THERE,
  type ControllerProgram,
  type ProgramPlace,
  simulatedPlacement,
  startProgram,
} from "./controller_program.ts";
import { reconcilerStage } from "../fixtures/market/reconciler_stage.ts";
import { pure } from "../fixtures/pure.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/recorded_ports.ts";
import { type ControllerScene, loopTest, sceneTest } from "./controller_scene.ts";

/** A program, terminated at the end of the test's steps. */
function programTest(
  name: string,
  check: (scene: ControllerScene, start: (identity: string) => ControllerProgram) => Promise<void>,
  place: (scene: ControllerScene) => Omit<Partial<ProgramPlace>, "api" | "clock" | "identity"> =
    () => ({}),
): void {
  const fn = async (scene: ControllerScene): Promise<void> => {
    const programs: ControllerProgram[] = [];
    await check(scene, (identity) => {
      const { api, clock } = scene;
      const followed = api.listWatch("ConfigMap");
      const program = startProgram({ api, clock, identity, followed, ...place(scene) });
      programs.push(program);
      return program;
    });
    for (const program of programs) program.terminate();
    await scene.pass(2000);
    for (const program of programs) assert.notEqual(program.exitCode(), undefined);
  };
  // The YAML parser looks at two variables for its own debugging.
  sceneTest(`runController() ${name}`, fn, { permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] } });
}

programTest("manages pods, and ends with 0 when it is terminated", async (scene, start) => {
  const program = start("first");
  await scene.raise();
  assert.equal(program.waitsFor(), undefined);
  const metrics = await program.registry.metrics();
  assert.match(metrics, /^mbcas_resizes_total\{outcome="accepted",reason="DemandRose"\} 1$/m);
  assert.match(metrics, /^mbcas_allocations\{phase="Applied",reason="Applied"\} 1$/m);
  assert.match(metrics, /^mbcas_decision_confirmation_seconds_count 1$/m);
  assert.match(metrics, /^mbcas_reconcile_duration_seconds_count [1-9]/m);
  program.terminate();
  await scene.pass(1000);
  assert.equal(program.exitCode(), 0);
  assert.equal(scene.tables.Lease.get("mbcas-system/mbcas-controller")?.holder, "");
});

programTest("leaves the lead to a standby within 3 s of its end", async (scene, start) => {
  const first = start("first");
  await scene.raise();
  const second = start("second");
  await scene.pass(10_000);
  assert.deepEqual([await first.leads(), await second.leads()], [true, false]);
  first.terminate();
  await scene.pass(100);
  assert.equal(first.exitCode(), 0);
  // Between the leaders: the standby's copy knows of the pod before the standby leads.
  scene.createPod("late");
  scene.want("late", 300);
  await scene.pass(900);
  await scene.wantFor(2000, 400);
  assert.deepEqual([await first.leads(), await second.leads()], [false, true]);
  await scene.pass(8000);
  scene.assertLimit(400);
  scene.assertLimit(300, "late");
});

programTest("takes up what a dead leader left, within 20 s", async (scene, start) => {
  const first = start("first");
  scene.createPod("web");
  await scene.pass(10_000);
  const second = start("second");
  await scene.pass(10_000);
  // Its resizes fail from now on, so that the request is left for the other.
  first.cutOff();
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 500, times: 3 });
  await scene.wantFor(20_000, 300);
  assert.equal(first.exitCode(), 1);
  assert.equal(await second.leads(), true);
  await scene.pass(5000);
  scene.assertLimit(300);
});

programTest("follows its ConfigMap while it runs, with OptiPod's keys", async (scene, start) => {
  const { ConfigMap } = scene.tables;
  const place = { name: "mbcas-config", namespace: "mbcas-system" };
  ConfigMap.create({ metadata: { ...place, uid: "", resourceVersion: "" }, data: {} });
  const { settings } = start("first");
  await scene.raise();
  const ceiling = (factor: number): string =>
    `market: {enabled: on, burstFactor: ${factor}, leastCeiling: 0}`;
  const rows: readonly (readonly [data: Readonly<Record<string, string>>, limitCPU: number])[] = [
    [{ "config.yaml": "market: off" }, 200],
    [{ "config.yaml": ceiling(1.2) }, 240],
    // It would be 300.
    [{ "config.yaml": ceiling(2), dryRun: "true" }, 240],
    [{ "config.yaml": ceiling(2) }, 300],
    // A fault: what was valid before stays.
    [{ dryRun: "true", dryRunn: "false" }, 300],
    [{ dryRun: "true" }, 300],
  ];
  for (const [data, limitCPU] of rows) {
    ConfigMap.modify("mbcas-system/mbcas-config", (one) => ({ ...one, data }));
    await scene.pass(20_000);
    const isValid = data["dryRunn"] === undefined;
    assert.deepEqual([scene.limits().applied, settings.valid], [limitCPU, isValid]);
    assert.equal(settings.values().dryRun, isValid && data["dryRun"] === "true");
  }
});

const server = { asked: 0 };

programTest("waits for the custom resource and for the server", async (scene, start) => {
  const program = start("first");
  await scene.pass(1);
  assert.match(program.waitsFor() ?? "", /answer.*: no route/);
  scene.createPod("web");
  const reasons = new Set<string | undefined>();
  for (let second = 0; second < 12; second++) {
    await scene.pass(1000);
    if (server.asked <= 4) assert.equal(scene.allocation(), undefined);
    reasons.add(program.waitsFor());
  }
  const [, missing, old] = [...reasons];
  assert.match(missing ?? "", /CustomResourceDefinition .* is missing/);
  assert.match(old ?? "", /older.* status\.bounds\.containers\.boost:/);
  await scene.pass(60_000);
  assert.equal(program.waitsFor(), undefined);
  assert.ok(scene.allocation());
}, () => ({
  async ask() {
    const asked = ++server.asked;
    if (asked === 1) throw new ApiError(0, "Unreachable", "no route");
    const unknownFields = asked > 4 ? [] : ["status.bounds.containers.boost"];
    return { ...await ALL_THERE(), servesAllocations: asked > 2, unknownFields };
  },
}));

const support = { servesPodResize: false, placed: 0 };

programTest("runs without pods/resize: the market holds until then", async (scene, start) => {
  const program = start("first");
  scene.createPod("web");
  await scene.pass(20_000);
  await scene.wantFor(20_000, 450);
  assert.deepEqual([program.exitCode(), support.placed], [undefined, 1]);
  const { phase, reason, conditions } = scene.status();
  assert.deepEqual([phase, reason], ["Pending", "ResizeNotServed"]);
  const found = conditions?.map(({ type, status, reason }) => [type, status, reason]);
  assert.deepEqual(found, [["Applied", "False", "ResizeNotServed"]]);
  scene.assertLimit(200);
  // The server is upgraded while the controller runs, and back.
  support.servesPodResize = true;
  await scene.pass(330_000);
  scene.assertLimit(450);
  support.servesPodResize = false;
  await scene.pass(330_000);
  await scene.wantFor(20_000, 600);
  assert.equal(scene.status().reason, "ResizeNotServed");
}, ({ api }) => ({
  ask: async () => ({ ...await ALL_THERE(), servesPodResize: support.servesPodResize }),
  flags: new Map([["--placement", "on"]]),
  placement: {
    ...simulatedPlacement(api, keptCheckpoints()),
    store: {
      ...keptCheckpoints(),
      list: () => Promise.resolve([]).finally(() => support.placed++),
    },
  },
}));

pure("runAllocationLoop() counts why a limit is held; a refusal is an event, too", async () => {
  const { reconcile, want, clock, state, heldBy, events } = reconcilerStage();
  for (const atMs of [0, 0, 2000]) {
    await clock.runUntil(atMs);
    await reconcile();
  }
  const waiting = [heldBy.splice(0), events.splice(0).map(({ reason }) => reason)];
  assert.deepEqual(waiting, [["Waiting"], []]);
  want("300m");
  state.refusal = new ApiError(403, "Forbidden", "exceeded quota: cpu");
  await reconcile();
  const refused = [heldBy, events.map(({ reason }) => reason)];
  assert.deepEqual(refused, [["QuotaExceeded"], ["CPULimitFailed"]]);
});

/** A pod with its original limit of 200 m back, since its agent, which wanted 300 m, fell silent. */
async function restoredPod(scene: ControllerScene): Promise<void> {
  await scene.raise();
  scene.silent.add("node-1");
  await scene.pass(290_000);
  scene.assertLimit(300);
  await scene.pass(110_000);
  scene.assertLimit(200);
  const { reason, conditions } = scene.status();
  assert.deepEqual([reason, conditions?.[0]?.status], ["Restored", "False"]);
}

/** Fails where a resize is sent within a quarter of an hour, or the limit is not the original one. */
async function assertNothingApplied(scene: ControllerScene, limit: number): Promise<void> {
  const before = scene.count("resize Pod");
  await scene.pass(900_000);
  assert.equal(scene.count("resize Pod"), before);
  scene.assertLimit(limit);
  assert.equal(scene.originalLimit(), `${limit}m`);
}

/** Events while an agent is silent: its desired limits stay ineffective, a user's do not. */
const WHILE_SILENT: Readonly<Record<string, (scene: ControllerScene) => unknown>> = {
  "a restart": (scene) => scene.restartController(),
  "a limit of 500m set by hand": (scene) => scene.setByHand(500),
  "an outage of the leases"(scene) {
    scene.api.failNext({ verb: "watch", kind: "Lease", status: 503 });
    scene.api.failNext({ verb: "list", kind: "Lease", status: 503, times: 4 });
    scene.api.closeWatches();
  },
};

for (const [event, happens] of Object.entries(WHILE_SILENT)) {
  loopTest(`applies nothing of a silent agent after ${event}, until it is back`, async (scene) => {
    scene.startController();
    await restoredPod(scene);
    await happens(scene);
    await scene.pass(20_000);
    assert.equal(scene.status().reason, "Restored");
    await assertNothingApplied(scene, event.includes("500m") ? 500 : 200);
    scene.silent.clear();
    await scene.pass(20_000);
    scene.assertLimit(300);
  });
}

/** Lists and watches of this kind fail for half an hour, and those that run end. */
async function cutOff(scene: ControllerScene, kind: KindName): Promise<void> {
  for (const verb of ["list", "watch"] as const) {
    scene.api.failNext({ verb, kind, status: 500, times: 100 });
  }
  scene.api.closeWatches();
  await scene.pass(5000);
}

loopTest("raises no limit while it can't know that the namespace has opted out", async (scene) => {
  scene.startController();
  await scene.raise();
  await cutOff(scene, "Namespace");
  scene.setManaged("false", "namespace");
  await scene.wantFor(1_000_000, 600);
  assert.equal(scene.limits().wanted, 300);
  const { reason, message = "" } = scene.status();
  assert.equal(reason, "OutOfSync");
  assert.match(message, /\bnamespaces\b/);
  await scene.pass(4_000_000);
  assert.equal(scene.limits().wanted, 200);
});

const DECISIVE: readonly KindName[] = [
  "Node",
  "PodAllocation",
  "LimitRange",
  "ResourceQuota",
  "Deployment",
  "HorizontalPodAutoscaler",
  "VerticalPodAutoscaler",
];

for (const kind of DECISIVE) {
  loopTest(`lowers limits but raises none while ${kind}s are out of sync`, async (scene) => {
    scene.startController();
    await scene.raise();
    await cutOff(scene, kind);
    await scene.wantFor(60_000, 600);
    assert.equal(scene.limits().wanted, 300);
    // Without a copy of the allocations the agent's desired limit is not seen.
    if (kind === "PodAllocation") return;
    await scene.wantFor(60_000, 150);
    assert.equal(scene.limits().wanted, 150);
    await scene.pass(4_000_000);
    await scene.wantFor(10_000, 600);
    assert.equal(scene.limits().wanted, 600);
  });
}
