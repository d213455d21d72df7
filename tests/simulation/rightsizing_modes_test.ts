/**
 * Numbered properties of rightsizing's modes, over random worlds in virtual time.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { anyStrategy } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import type { PolicyChoice, RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import {
  anyProblem,
  anyWorkloads,
  incidentsWithin,
  inWorld,
  live,
  ownContainers,
  worldProperty,
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
    Deployment.all().map(({ makes }) => makes),
  ]);
}

worldProperty(
  "property 8: Recommend leaves every template as it is, and each recommendation can be read",
  [anyWorkloads, anyStrategy, incidentsWithin(10 * MINUTE_MS)],
  (workloads, strategy, incidents) =>
    inWorld(workloads, async (scene) => {
      const before = specsOf(scene);
      scene.policy("all", { mode: "Recommend", strategy });
      await live(scene, 30 * MINUTE_MS, { incidents, workloads });
      assert.deepEqual(specsOf(scene), before);
      for (const workload of workloads) {
        const record = scene.recordOf(workload.name);
        assert.deepEqual([record?.status, record?.reason], ["Recommended", "RecommendOnly"]);
        const reported = record?.recommendations.map(({ container }) => container);
        assert.deepEqual(reported, ownContainers(workload));
        const status = scene.statusOf("all").workloads?.find(({ name }) => name === workload.name);
        assert.deepEqual(status?.recommendations.map(({ container }) => container), reported);
      }
    }),
);

worldProperty(
  "property 9: Recommend makes each recommendation anew with its time in each cycle",
  [anyWorkloads, intervalMs, fc.integer({ min: 0, max: 119 })],
  (workloads, interval, restartAtS) =>
    inWorld(workloads, async (scene) => {
      scene.policy("all", { mode: "Recommend", intervalMs: interval });
      await scene.run(restartAtS * 1000);
      await scene.restart();
      await scene.run(MINUTE_MS);
      const timeOf = (name: string): number => scene.recordOf(name)?.recommendedAtMs ?? NaN;
      for (let cycle = 0; cycle < 3; cycle++) {
        const before = workloads.map(({ name }) => timeOf(name));
        await scene.run(interval);
        for (const [index, { name }] of workloads.entries()) {
          const sinceMs = timeOf(name) - (before[index] ?? NaN);
          assert.ok(sinceMs > 0, `${name}: ${sinceMs}`);
          assert.ok(scene.clock.wall() - timeOf(name) <= interval, name);
        }
      }
    }),
);

worldProperty(
  "property 18: Recommend is evaluated each interval and writes to no spec",
  [anyWorkloads, intervalMs, incidentsWithin(20 * MINUTE_MS)],
  (workloads, interval, incidents) =>
    inWorld(workloads, async (scene) => {
      scene.policy("all", { mode: "Recommend", intervalMs: interval });
      await live(scene, 20 * MINUTE_MS, { incidents, workloads });
      // A restart or a failure that has not been made up for yet.
      await scene.run(MINUTE_MS);
      for (let cycle = 0; cycle < 3; cycle++) {
        const from = scene.source.asked.length;
        const reported = statusWritesOf(scene);
        await scene.run(interval);
        const asked = scene.source.asked.slice(from).map(({ workload }) => workload.name);
        const names = workloads.map(({ name }) => name).toSorted();
        assert.deepEqual([...new Set(asked)].toSorted(), names);
        // A cycle begins up to a tenth sooner, so that two may; its own status wakes no loop.
        assert.ok(asked.length <= 2 * names.length, `${asked.length}`);
        // And as many that failed: three at most of each of three incidents.
        const writes = statusWritesOf(scene) - reported;
        assert.ok(writes <= 2 + 3 * 3, `${writes}`);
      }
      assert.equal(writesOf(scene), 0);
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
      scene.config.annotateWorkloads = annotates;
      scene.policy("all", { mode });
      await scene.run(disabledAtMs);
      scene.policy("all", { mode: "Disabled" });
      // What was under way comes to its end.
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
  "property 29: dry-run recommends for all, applies nothing and says so",
  [
    anyWorkloads,
    anyStrategy,
    fc.option(fc.integer({ min: 100, max: 5 * MINUTE_MS }), { nil: 0 }),
    incidentsWithin(10 * MINUTE_MS),
  ],
  (workloads, strategy, onAtMs, incidents) =>
    inWorld(workloads, async (scene) => {
      scene.config.dryRun = onAtMs === 0;
      const policy: PolicyChoice = { strategy, intervalMs: 2 * MINUTE_MS };
      scene.policy("all", policy);
      await scene.run(onAtMs);
      scene.config.dryRun = true;
      await scene.run(MINUTE_MS);
      const writes = writesOf(scene);
      if (onAtMs === 0) assert.equal(writes, 0);
      await live(scene, 15 * MINUTE_MS, { incidents, workloads });
      assert.equal(writesOf(scene), writes);
      for (const workload of workloads) {
        const record = scene.recordOf(workload.name);
        assert.deepEqual([record?.status, record?.reason], ["Recommended", "DryRun"]);
        assert.deepEqual(
          record?.recommendations.map(({ container }) => container),
          ownContainers(workload),
        );
      }
      const dryRun = scene.statusOf("all").conditions?.find(({ type }) => type === "DryRun");
      assert.equal(dryRun?.status, "True");
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
      // What was under way comes to its end, and the cache's last answers with it.
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
