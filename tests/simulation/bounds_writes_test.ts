/** How often bounds are written and reported: what changes nothing costs nothing, crowds are bounded. */
import assert from "node:assert/strict";
import type { AllocationStore } from "../../controller/resize/ports.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { ALLOW_OVERRIDES, MAX_CPU } from "../../shared/api/market_keys.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { ofDeployment, sampleHPA, sampleWorkload } from "../fixtures/sample_workloads.ts";
import { type ControllerScene, loopTest } from "./controller_scene.ts";

function writes({ count }: ControllerScene): number {
  return count("updateStatus PodAllocation");
}

/** A pod of Deployment `web` in the market that has been cleared. */
async function settled(scene: ControllerScene): Promise<void> {
  scene.startController();
  scene.createPod("web", {}, ofDeployment);
  await scene.wantFor(10_000, 300);
}

/** Pod `web` with every rule speaking of it. */
async function troubled(scene: ControllerScene): Promise<void> {
  const { tables, clock } = scene;
  tables.Deployment.create(sampleWorkload({ rollout: { updated: 1 } }));
  const cpuTargets = [{ utilization: 9 }];
  tables.HorizontalPodAutoscaler.create(sampleHPA({ cpuTargets, lastScaleMs: clock.wall() }));
  scene.setQuota({ hardLimitsCPU: 500, usedLimitsCPU: 200 });
  scene.setLimitRange({ items: [{ type: "Container", max: 700 }] });
  scene.createPod("web", {}, ofDeployment);
  await scene.pass(5000);
  const restartedAtMs = clock.wall();
  scene.changePod("web", (pod) => ({
    ...pod,
    ...{ ready: false, priorityClassName: "system-node-critical" },
    containers: pod.containers.map((one) => ({ ...one, restartedAtMs })),
  }));
  scene.changeNode((node) => ({ ...node, draining: true }));
}

loopTest("writes bounds once while all that holds a pod stands still", async (scene) => {
  await troubled(scene);
  scene.startController();
  await scene.wantFor(5000, 300);
  assert.equal(
    scene.boundReasons(),
    "NodeDraining, SystemCritical, RecentRestart, PodNotReady, RolloutInProgress, HPAFloor, " +
      "HPADamped, HPAScaled, QuotaExceeded, HPACapped",
  );
  const before = writes(scene);
  await scene.pass(600_000);
  // Two holds end by themselves: the one after the restart, and the HPA's window.
  assert.ok(writes(scene) - before <= 2, `${writes(scene) - before} writes`);
  assert.ok((scene.status().bounds?.revision ?? 9) <= 3);
  assert.doesNotMatch(scene.boundReasons() ?? "", /RecentRestart|HPAScaled/);
  const subjects = scene.events("CPULimitBounded").map(({ about }) => about?.kind);
  assert.deepEqual(subjects, ["Node", undefined, "Deployment"]);
});

loopTest("reports new bounds in one event, and usual ones in none", async (scene) => {
  await settled(scene);
  assert.deepEqual(scene.events("CPULimitBounded"), []);
  scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
  await scene.pass(600_000);
  const [event = "", ...others] = scene.messages("CPULimitBounded");
  assert.match(event, /^HPAFloor: .*96m.*80m.*; HPADamped: .*web-hpa/);
  assert.deepEqual(others, []);
});

loopTest(
  "writes nothing when autoscalers, rollouts and quotas report what binds not",
  async (scene) => {
    scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
    scene.tables.Deployment.create(sampleWorkload());
    scene.setQuota({ hardLimitsCPU: 800, usedLimitsCPU: 200 });
    await settled(scene);
    await scene.pass(20_000);
    const rules = scene.status().bounds?.rules;
    assert.ok(rules?.some(({ reason }) => reason === "QuotaExceeded"));
    const before = writes(scene);
    // An HPA's controller writes its status every 15 s, a Deployment's with each pod that comes and
    // goes; the use of a quota jitters.
    for (let round = 0; round < 40; round++) {
      scene.tables.HorizontalPodAutoscaler.modify("shop/web-hpa", (hpa) => ({
        ...hpa,
        metadata: { ...hpa.metadata, annotations: { round: String(round) } },
      }));
      scene.setRollout(3 + round % 2, 3 + round % 2);
      scene.setQuota({ usedLimitsCPU: 250 + round % 7 });
      await scene.pass(15_000);
    }
    assert.equal(writes(scene), before);
    assert.deepEqual(scene.status().bounds?.rules, rules);
  },
);

loopTest("follows a rollout in two writes, however many pods it replaces", async (scene) => {
  scene.tables.Deployment.create(sampleWorkload({ rollout: { updated: 20, total: 20 } }));
  await settled(scene);
  const before = writes(scene);
  for (let updated = 0; updated <= 20; updated++) {
    scene.setRollout(updated, updated === 20 ? 20 : 21);
    await scene.pass(10_000);
  }
  assert.equal(writes(scene) - before, 2);
  assert.equal(scene.events("CPULimitBounded").length, 1);
});

loopTest("reconciles pods of a workload or an HPA only when that counts", async (scene) => {
  const { HorizontalPodAutoscaler: autoscalers, Deployment: deployments } = scene.tables;
  autoscalers.create(sampleHPA({ target: { kind: "Deployment", name: "api" } }));
  deployments.create(sampleWorkload());
  let reconciles = 0;
  scene.startController({}, { observer: { reconciled: () => void reconciles++ } });
  scene.createPod("web", {}, ofDeployment);
  await scene.pass(10_000);
  const isSeen = async (change: () => void): Promise<boolean> => {
    reconciles = 0;
    change();
    await scene.pass(1000);
    return reconciles > 0;
  };
  const hpa = (change: Parameters<typeof sampleHPA>[0]) => () =>
    void autoscalers.modify("shop/web-hpa", (one) => ({ ...one, ...change }));
  for (let lastScaleMs = 0; lastScaleMs < 3; lastScaleMs++) {
    assert.equal(await isSeen(hpa({ lastScaleMs })), false, "another workload's HPA");
  }
  assert.equal(await isSeen(hpa({ target: { kind: "Deployment", name: "web" } })), true);
  autoscalers.remove("shop/web-hpa");
  await scene.pass(10_000);
  // Scaled up and down; then a rollout with an event for every pod.
  const rollouts = [[4, 4, 0], [3, 3, 0], [0, 4, 1], [1, 4, 0], [2, 4, 0], [3, 3, 1]] as const;
  for (const [updated, total, seen] of rollouts) {
    const change = (): void => scene.setRollout(updated, total);
    assert.equal(await isSeen(change), seen === 1, `${updated} of ${total}`);
  }
});

loopTest("takes raises back from a workload when another comes under its quota", async (scene) => {
  scene.tables.Deployment.create(sampleWorkload());
  scene.setQuota({ hardLimitsCPU: 900, usedLimitsCPU: 200 });
  await settled(scene);
  await scene.wantFor(30_000, 800);
  assert.equal(scene.limits().wanted, 700);
  // Another workload's pod has come: this one gives back what goes to its share.
  scene.createPod("other");
  scene.setQuota({ usedLimitsCPU: 900 });
  await scene.pass(60_000);
  assert.equal(scene.limits().wanted, 350);
});

loopTest(
  "reports another cause soon, but not each time that it changes to and fro",
  async (scene) => {
    const say = (unreadable: string): void => scene.setLimitRange({ items: [], unreadable });
    const said = (): string =>
      scene.status().bounds?.rules?.find(({ reason }) => reason === "UnreadableBound")?.message ??
        "";
    say("no number");
    scene.startController();
    scene.createPod("web");
    await scene.pass(30_000);
    const revision = scene.status().bounds?.revision;
    say("no unit");
    await scene.pass(2000);
    assert.match(said(), /no unit$/);
    const before = writes(scene);
    for (let round = 0; round < 60; round++) {
      say(round % 2 === 0 ? "no number" : "no unit");
      await scene.pass(5000);
    }
    assert.ok(writes(scene) - before <= 6, `${writes(scene) - before} writes`);
    say("no sense");
    await scene.pass(91_000);
    assert.match(said(), /LimitRange cpu.*no sense$/);
    assert.equal(scene.status().bounds?.revision, revision);
  },
);

/** A store with a server that does this to a status before it stores it, while it is old. */
function oldStore(
  { api }: ControllerScene,
  admit: (allocation: PodAllocation) => PodAllocation,
): { readonly store: AllocationStore; readonly definition: { old: boolean } } {
  const definition = { old: true };
  const writeStatus = (allocation: PodAllocation): Promise<PodAllocation> =>
    api.allocationStore.writeStatus(definition.old ? admit(allocation) : allocation);
  return { definition, store: { ...api.allocationStore, writeStatus } };
}

/** As a server does that does not know `half`: 422; or that refuses it for a reason of its own. */
function refusingHalf(status = 422): (allocation: PodAllocation) => PodAllocation {
  return (allocation) => {
    if (allocation.status?.bounds?.containers[0]?.held !== "half") return allocation;
    const message = 'status.bounds.containers[0].held: Unsupported value: "half"';
    throw new ApiError(status, "Invalid", message);
  };
}

/** A pod that is raised to 300 m under this store, and then an HPA with bounds that are refused. */
async function raisedThenScaled(scene: ControllerScene, store: AllocationStore): Promise<void> {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController({}, { store });
  await scene.raise(300, ofDeployment);
  scene.tables.HorizontalPodAutoscaler.create(sampleHPA());
}

loopTest("ends bounds that the server finds invalid as one clear reason", async (scene) => {
  const { store, definition } = oldStore(scene, refusingHalf());
  await raisedThenScaled(scene, store);
  const before = writes(scene);
  await scene.pass(280_000);
  const { phase, reason, message = "" } = scene.status();
  assert.deepEqual([phase, reason, scene.boundReasons()], ["Failed", "Refused", "BurstFactor"]);
  assert.match(message, /"half".* manifests\/crds/);
  assert.equal(writes(scene) - before, 1);
  const warnings = scene.api.events.all().filter(({ type }) => type === "Warning");
  assert.deepEqual(warnings.map((one) => [one.reason, one.message]), [["CPULimitFailed", message]]);
  definition.old = false;
  await scene.pass(60_000);
  assert.deepEqual([scene.bound().held, scene.status().phase], ["half", "Applied"]);
});

loopTest("does not write bounds again and again where the server drops a field", async (scene) => {
  const { store, definition } = oldStore(scene, (allocation) => {
    const { status } = allocation;
    if (status?.bounds === undefined) return allocation;
    const containers = status.bounds.containers.map(({ held: _unknown, ...rest }) => rest);
    return { ...allocation, status: { ...status, bounds: { ...status.bounds, containers } } };
  });
  await raisedThenScaled(scene, store);
  const before = writes(scene);
  await scene.pass(280_000);
  assert.ok(writes(scene) - before <= 1, `${writes(scene) - before} writes`);
  definition.old = false;
  await scene.pass(60_000);
  assert.equal(scene.bound().held, "half");
});

for (const status of [422, 403, 500]) {
  loopTest(
    `restores under a silent agent though bounds are answered with ${status}`,
    async (scene) => {
      const { store } = oldStore(scene, refusingHalf(status));
      await raisedThenScaled(scene, store);
      await scene.pass(60_000);
      assert.equal(scene.limits().wanted, 300);
      scene.silent.add("node-1");
      await scene.pass(400_000);
      assert.deepEqual([scene.limits().wanted, scene.status().reason], [200, "Restored"]);
    },
  );
}

/** Kubernetes' own default for a node. */
const PODS = 110;
const CROWD = Array.from({ length: PODS }, (_, index) => `web-${index}`);

/** A crowd of a Deployment that stands in the market; the agent has cleared with all of it. */
async function crowd(scene: ControllerScene): Promise<void> {
  scene.tables.Deployment.create(sampleWorkload());
  scene.startController();
  for (const name of CROWD) {
    scene.createPod(name, {}, ofDeployment);
    scene.want(name, 200);
  }
  await scene.pass(30_000);
  assert.deepEqual(new Set(CROWD.map((name) => scene.status(name).bounds?.revision)), new Set([1]));
}

/** What was reported since, each with its object. */
function reported({ api }: ControllerScene, sinceMs = 0): readonly string[] {
  return api.events.all().filter(({ atMs }) => atMs >= sinceMs).map(({ about, podName, message }) =>
    `${about === undefined ? `Pod ${podName}` : `${about.kind} ${about.name}`}: ${message}`
  );
}

function assertHeld({ bound }: ControllerScene, held: "both" | "lower" | undefined): void {
  assert.deepEqual(new Set(CROWD.map((name) => bound(name).held)), new Set([held]));
}

loopTest(
  "reports a node that is not Ready once, on the node, and writes at a pace",
  async (scene) => {
    await crowd(scene);
    // With the node goes its agent.
    for (const name of CROWD) scene.want(name, undefined);
    const begunMs = scene.clock.monotonic();
    const before = writes(scene);
    const inFirstSecond = async (ready: boolean): Promise<number> => {
      const begun = writes(scene);
      scene.changeNode((node) => ({ ...node, ready }));
      await scene.pass(1000);
      return writes(scene) - begun;
    };
    assert.ok(await inFirstSecond(false) <= 102);
    await scene.pass(60_000);
    assertHeld(scene, "both");
    assert.deepEqual(reported(scene, begunMs), ["Node node-1: NodeNotReady: node-1 is not Ready"]);
    // Bounds, and that they wait for the agent.
    assert.equal(writes(scene) - before, 2 * PODS);
    await scene.pass(120_000);
    assert.equal(writes(scene) - before, 2 * PODS);
    assert.ok(await inFirstSecond(true) <= 102);
    assert.ok(CROWD.some((name) => scene.bound(name).held === "both"));
    await scene.pass(4000);
    assertHeld(scene, undefined);
    assert.equal(reported(scene, begunMs).length, 1);
  },
);

loopTest(
  "writes nothing to pods of a node that is Ready again before their turn",
  async (scene) => {
    await crowd(scene);
    const before = writes(scene);
    scene.changeNode((node) => ({ ...node, ready: false }));
    await scene.pass(200);
    scene.changeNode((node) => ({ ...node, ready: true }));
    await scene.pass(60_000);
    assertHeld(scene, undefined);
    const count = writes(scene) - before;
    // Those that were written before are written back; the agent clears with both at once.
    assert.ok(count > 0 && count <= 2 * 65, `${count} writes`);
  },
);

loopTest("reports a rollout and an HPA once, on the workload", async (scene) => {
  await crowd(scene);
  const { HorizontalPodAutoscaler: autoscalers } = scene.tables;
  const begunMs = scene.clock.monotonic();
  scene.setRollout(0, PODS);
  await scene.pass(10_000);
  autoscalers.create(sampleHPA());
  await scene.pass(10_000);
  const lastScaleMs = scene.clock.wall();
  autoscalers.modify("shop/web-hpa", (hpa) => ({ ...hpa, lastScaleMs }));
  await scene.pass(10_000);
  const [rollout = "", aim = "", scaled = "", ...others] = reported(scene, begunMs);
  assert.match(rollout, /^Deployment web: RolloutInProgress: [^;]+$/);
  assert.match(aim, /^Deployment web: HPAFloor: .*96m.*80m.*; HPADamped: .*web-hpa[^;]+$/);
  assert.match(scaled, /^Deployment web: HPAScaled: .*web-hpa.*300 s$/);
  assert.deepEqual(others, []);
  assertHeld(scene, "lower");
});

loopTest("reports another fault in an annotation later, another hold at once", async (scene) => {
  scene.changeNamespace({ labels: { [ALLOW_OVERRIDES]: "true" } });
  scene.tables.Deployment.create(sampleWorkload({ rollout: { updated: 0 } }));
  scene.startController();
  scene.createPod("web", {}, ofDeployment);
  scene.annotate({ [MAX_CPU]: "lots" });
  await scene.pass(10_000);
  scene.annotate({ [MAX_CPU]: "many" });
  scene.setLimitRange({ items: [], unreadable: "no number" });
  await scene.pass(10_000);
  const parts = ['"lots"', '"many"', "RolloutInProgress", "UnreadableBound"];
  const counts = (): readonly number[] =>
    parts.map((part) => reported(scene).filter((text) => text.includes(part)).length);
  assert.deepEqual(counts(), [1, 0, 1, 1]);
  await scene.pass(300_000);
  assert.deepEqual(counts(), [1, 1, 1, 1]);
  const later = reported(scene);
  await scene.pass(900_000);
  assert.deepEqual(reported(scene), later);
});

loopTest(
  "reports annotations that pods share once, on their object, by each leader",
  async (scene) => {
    scene.tables.Deployment.create(sampleWorkload({ annotations: { [MAX_CPU]: "2" } }));
    scene.changeNamespace({ labels: { "mbcas.io/max-cpus": "2" } });
    for (const name of CROWD) scene.createPod(name, {}, ofDeployment);
    scene.startController();
    const ignored = (): string => reported(scene).filter((text) => /max-cpu/.test(text)).join("\n");
    await scene.pass(60_000);
    assert.match(ignored(), /^Namespace shop: .* is not known.*\nDeployment web: .*$/);
    await scene.restartController();
    await scene.pass(600_000);
    assert.equal(ignored().split("\n").length, 4, ignored());
  },
);

loopTest("reports on the node, once, that its kubelet enforces no limits", async (scene) => {
  await crowd(scene);
  const begunMs = scene.clock.monotonic();
  const { PodAllocation: allocations } = scene.tables;
  for (const name of CROWD) scene.want(name, undefined);
  const expected: string[] = [];
  for (const reason of ["QuotaOff", "QuotaBack"] as const) {
    for (const { metadata: { name } } of [...allocations.all()]) {
      allocations.modify(`shop/${name}`, ({ spec, ...one }) => {
        assert.ok(spec.market);
        return { ...one, spec: { ...spec, market: { ...spec.market, reason } } };
      });
    }
    await scene.pass(60_000);
    expected.push(`Node node-1: ${reason}`);
    const seen = reported(scene, begunMs).map((text) => text.split(": ", 2).join(": "));
    assert.deepEqual(seen, expected);
  }
});
