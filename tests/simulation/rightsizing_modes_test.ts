/** Numbered properties of rightsizing's modes, reach, times and what holds a change, over random worlds in virtual time. */
import fc from "fast-check";
import assert from "node:assert/strict";
import type { PodContainer } from "../../shared/api/pod.ts";
import { anyStrategy } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  type PolicyChoice,
  type RightsizingScene,
  sceneTest,
} from "../fixtures/rightsizing/rightsizing_scene.ts";
import {
  anyProblem,
  anyWorkloads,
  appContainers,
  assertNear,
  type Incident,
  incidentsWithin,
  inWorld,
  live,
  worldProperty,
  type WorldWorkload,
  writesOf,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;

const intervalMs = fc.integer({ min: 2, max: 10 }).map((minutes) => minutes * MINUTE_MS);

const statusWritesOf = ({ api }: RightsizingScene): number =>
  api.requests.get("updateStatus OptimizationPolicy") ?? 0;

/** All templates and the resources of all pods. */
function specsOf({ api }: RightsizingScene): unknown {
  const { Pod, Deployment } = api.store.tables;
  return structuredClone([
    Pod.all().map(({ containers }) => containers),
    Deployment.all().map(({ spec }) => spec),
  ]);
}

worldProperty(
  "properties 8, 9, 18 and 29: Recommend and a dry-run write to no spec, and make each recommendation anew in each interval, with its time",
  [anyWorkloads, anyStrategy, intervalMs, fc.boolean(), incidentsWithin(20 * MINUTE_MS)],
  (workloads, strategy, interval, dryRun, incidents) =>
    inWorld(workloads, async (scene) => {
      const before = specsOf(scene);
      const names = workloads.map(({ name }) => name).toSorted();
      const timeOf = (name: string): number => scene.recordOf(name)?.recommendedAtMs ?? NaN;
      scene.settings.dryRun = dryRun;
      const mode = dryRun ? "Auto" : "Recommend";
      scene.policy("all", { mode, strategy, intervalMs: interval });
      await live(scene, 20 * MINUTE_MS, { incidents, workloads });
      // A restart or a failure that has not been made up for yet.
      await scene.run(MINUTE_MS);
      for (let cycle = 0; cycle < 3; cycle++) {
        const [from, reported] = [scene.source.asked.length, statusWritesOf(scene)];
        const times = names.map(timeOf);
        await scene.run(interval);
        const asked = scene.source.asked.slice(from).map(({ workload }) => workload.name);
        assert.deepEqual([...new Set(asked)].toSorted(), names);
        // A cycle begins up to a tenth sooner, so that two may; its own status wakes no loop.
        assert.ok(asked.length <= 2 * names.length, `${asked.length}`);
        // And as many that failed: three at most of each of three incidents.
        const writes = statusWritesOf(scene) - reported;
        assert.ok(writes <= 2 + 3 * 3, `${writes}`);
        for (const [index, name] of names.entries()) {
          assert.ok(timeOf(name) > (times[index] ?? NaN), `${name}: ${timeOf(name)}`);
          assert.ok(scene.clock.wall() - timeOf(name) <= interval, name);
        }
      }
      assert.deepEqual(specsOf(scene), before);
      assert.equal(writesOf(scene), 0);
      for (const workload of workloads) {
        const record = scene.recordOf(workload.name);
        const reason = dryRun ? "DryRun" : "RecommendOnly";
        assert.deepEqual([record?.status, record?.reason], ["Recommended", reason]);
        const reported = record?.recommendations.map(({ container }) => container);
        assert.deepEqual(reported, appContainers(workload));
        const status = scene.statusOf("all").workloads?.find(({ name }) => name === workload.name);
        assert.deepEqual(status?.recommendations.map(({ container }) => container), reported);
      }
      const condition = scene.statusOf("all").conditions?.find(({ type }) => type === "DryRun");
      assert.equal(condition?.status, dryRun ? "True" : "False");
    }),
);

worldProperty(
  "property 19: Disabled asks for no metrics, writes nothing and keeps its status and annotations",
  [
    fc.boolean(),
    anyWorkloads,
    fc.constantFrom("Auto" as const, "Recommend" as const),
    fc.integer({ min: 100, max: 5 * MINUTE_MS }),
    incidentsWithin(20 * MINUTE_MS),
  ],
  (annotates, workloads, mode, disabledAtMs, incidents) =>
    inWorld(workloads, async (scene) => {
      scene.settings.annotateWorkloads = annotates;
      scene.policy("all", { mode });
      await scene.run(disabledAtMs);
      scene.policy("all", { mode: "Disabled" });
      // Changes under way come to their end.
      await scene.run(MINUTE_MS);
      const asked = scene.source.asked.length;
      const writes = writesOf(scene);
      const { workloads: reported, lastReconciliation } = scene.statusOf("all");
      const records = workloads.map(({ name }) => scene.recordOf(name));
      const annotations = workloads.map(({ name }) => scene.annotationsOf(name));
      assert.ok(asked > 0 && reported !== undefined);
      await live(scene, 30 * MINUTE_MS, { incidents, workloads });
      assert.equal(scene.source.asked.length, asked);
      assert.equal(writesOf(scene), writes);
      assert.deepEqual(scene.statusOf("all").workloads, reported);
      assert.equal(scene.statusOf("all").lastReconciliation, lastReconciliation);
      assert.deepEqual(workloads.map(({ name }) => scene.recordOf(name)), records);
      assert.deepEqual(workloads.map(({ name }) => scene.annotationsOf(name)), annotations);
    }),
);

worldProperty(
  "property 7: without metrics nothing is written, and the reason says that they are missing",
  [
    anyWorkloads,
    anyStrategy,
    anyProblem,
    fc.option(fc.integer({ min: 100, max: 10 * MINUTE_MS }), { nil: 0 }),
    incidentsWithin(10 * MINUTE_MS),
  ],
  (workloads, strategy, problem, goneAtMs, incidents) =>
    inWorld(workloads, async (scene) => {
      if (goneAtMs === 0) scene.source.problem = problem;
      scene.policy("all", { strategy, intervalMs: 2 * MINUTE_MS });
      await scene.run(goneAtMs);
      scene.source.problem = problem;
      // Changes under way come to their end, and the cache's last answers with them.
      await scene.run(4 * MINUTE_MS);
      const writes = writesOf(scene);
      if (goneAtMs === 0) assert.equal(writes, 0);
      const troubles = incidents.filter(({ what }) =>
        typeof what === "string" || "failure" in what
      );
      await live(scene, 15 * MINUTE_MS, { incidents: troubles, workloads });
      assert.equal(writesOf(scene), writes);
      const isDown = problem.problem === "unreachable" || problem.problem === "unavailable";
      const expected = isDown ? "ProviderUnavailable" : "MetricsMissing";
      for (const { name } of workloads) {
        const { status, reason, message } = scene.recordOf(name) ?? {};
        assert.deepEqual([status, reason, message], ["Skipped", expected, problem.message]);
      }
      const { conditions = [] } = scene.statusOf("all");
      assert.equal(conditions.find(({ type }) => type === "MetricsMissing")?.status, "True");
      const ready = conditions.find(({ type }) => type === "Ready");
      assert.equal(ready?.reason, isDown ? "ProviderUnavailable" : "PolicyValid");
    }),
);

interface HeldWorld {
  readonly workload: WorldWorkload;
  readonly strategy: NonNullable<PolicyChoice["strategy"]>;
  readonly incidents: readonly Incident[];
}

const hasLimits = ({ workload: { containers } }: HeldWorld): boolean =>
  containers.some(({ limits: { cpu: limitCPU, memory: limitMemory } }) =>
    (limitCPU ?? limitMemory) !== undefined
  );

const isBare = (
  {
    requests: { cpu: requestCPU, memory: requestMemory },
    limits: { cpu: limitCPU, memory: limitMemory },
  }: PodContainer,
): boolean => (requestCPU ?? requestMemory ?? limitCPU ?? limitMemory) === undefined;

/** Reasons that may hold a change in a world without other controllers, quotas and final refusals. */
const HOLDS: Readonly<Record<string, (world: HeldWorld) => boolean>> = {
  MethodNotAllowed: ({ strategy }) => !strategy.allowInPlaceResize && !strategy.allowRecreate,
  BelowThreshold: () => true,
  Cooldown: ({ strategy }) => (strategy.cooldownMs ?? 0) > 0,
  RequestAboveLimit: hasLimits,
  // With any value, a pod of the class BestEffort would be of another one.
  QoSWouldChange: (world) => hasLimits(world) || world.workload.containers.every(isBare),
  // Usage is the same all the time, and 1.2 times it is recommended.
  UnsafeMemoryDecrease: ({ incidents }) =>
    incidents.some(({ what }) => typeof what === "object" && "usage" in what),
  RestartPolicy: ({ workload: { containers }, strategy }) =>
    !strategy.allowRecreate &&
    containers.some(({ restartsOnCPU, restartsOnMemory }) => restartsOnCPU || restartsOnMemory),
};

worldProperty(
  "property 17: Auto is evaluated each interval, and applied unless a guard holds",
  [
    anyWorkloads,
    anyStrategy,
    fc.constantFrom(0, 10 * MINUTE_MS),
    fc.integer({ min: 2, max: 6 }).map((minutes) => minutes * MINUTE_MS),
    incidentsWithin(15 * MINUTE_MS),
  ],
  (workloads, strategy, cooldownMs, intervalMs, incidents) =>
    inWorld(workloads, async (scene) => {
      scene.policy("all", { intervalMs, strategy: { ...strategy, cooldownMs } });
      await live(scene, 20 * MINUTE_MS, { incidents, workloads });
      await scene.run(2 * intervalMs);
      for (let cycle = 0; cycle < 3; cycle++) {
        await scene.run(intervalMs);
        for (const workload of workloads) {
          const record = scene.recordOf(workload.name) ?? assert.fail("no record");
          const agoMs = scene.clock.wall() - (record.recommendedAtMs ?? -Infinity);
          assert.ok(agoMs <= intervalMs, `${workload.name}: ${agoMs}`);
          if (record.reason !== undefined) {
            const mayHold = HOLDS[record.reason];
            assert.ok(mayHold, `${record.reason}: ${record.message}`);
            const said = `${record.reason}: ${record.message} ${JSON.stringify(workload)}`;
            assert.ok(
              mayHold({ workload, strategy: { ...strategy, cooldownMs }, incidents }),
              said,
            );
            // Another message beside it has cut what is there.
            const isAlone = !/; [A-Z]\w+: /.test(record.message ?? "");
            if (record.reason !== "BelowThreshold" || !isAlone) continue;
            assertNear(scene, { workload, percent: strategy.changeThresholdPercent ?? 0 });
            continue;
          }
          assert.equal(record.status, "Applied");
          assertNear(scene, { workload, percent: 0 });
        }
      }
    }),
);

sceneTest("runRightsizingLoop() rolls out once where another takes values back", async (scene) => {
  const containers = [
    bareContainer("app", { requests: { cpu: 100, memory: 64 * MI }, limits: {} }),
  ];
  scene.deployment("web", { containers });
  scene.uses("web", { cpu: 150, memory: 80 * MI });
  const { Deployment } = scene.api.store.tables;
  const { spec } = Deployment.get("shop/web") ?? {};
  assert.ok(spec !== undefined);
  /** A tool that looks every three minutes whether all is as its manifests say. */
  async function heal(minutes: number): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 3) {
      await scene.run(3 * MINUTE_MS);
      Deployment.modify("shop/web", (workload) => ({ ...workload, ...(spec && { spec }) }));
    }
  }
  scene.policy("all", { strategy: { allowInPlaceResize: false, allowRecreate: true } });
  await heal(120);
  const written = (): unknown[] =>
    scene.recreations.map(({ wanted }) => wanted.get("app")?.requests.cpu);
  assert.deepEqual(written(), [180]);
  const { status, reason } = scene.recordOf("web") ?? {};
  assert.deepEqual([status, reason], ["Skipped", "TakenBack"]);
  const reported = scene.events.filter(({ message }) => message.includes("TakenBack"));
  assert.deepEqual(reported.map(({ type, reason, about }) => [type, reason, about.kind]), [
    ["Warning", "WorkloadSkipped", "Deployment"],
    ["Warning", "WorkloadSkipped", "OptimizationPolicy"],
  ]);
  // The next process knows of it, too.
  await scene.restart();
  await heal(45);
  assert.deepEqual(written(), [180]);
  // Another recommendation waits for the day as well; then it is written, and undone once more.
  scene.uses("web", { cpu: 300, memory: 80 * MI });
  await heal(90);
  assert.deepEqual(written(), [180]);
  await heal(24 * 60);
  assert.deepEqual(written(), [180, 360]);
  assert.equal(scene.recordOf("web")?.reason, "TakenBack");
});
