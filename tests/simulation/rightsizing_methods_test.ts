/** Numbered properties of what rightsizing applies and how, over random worlds in virtual time. */
import fc from "fast-check";
import assert from "node:assert/strict";
import type { PodContainer } from "../../shared/api/pod.ts";
import { truncatedProduct } from "../../shared/rightsizing/amounts.ts";
import { anyStrategy } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import type { PolicyChoice, RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import {
  anyWorkloads,
  assertNear,
  freeContainers,
  type Incident,
  incidentsWithin,
  inWorld,
  live,
  ownContainers,
  workloadsOf,
  worldProperty,
  type WorldWorkload,
  writesOf,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;

/** Nothing is in the way of a change of these. */
const freeWorkloads = workloadsOf(freeContainers);

/** Nothing but the recommendation decides. */
const AT_ONCE = { changeThresholdPercent: 0, cooldownMs: 0 } as const;

const bounds: fc.Arbitrary<NonNullable<PolicyChoice["bounds"]>> = fc.record({
  least: fc.integer({ min: 1, max: 400 }),
  more: fc.nat(600),
  leastMi: fc.integer({ min: 1, max: 200 }),
  moreMi: fc.nat(300),
}).map(({ least, more, leastMi, moreMi }) => ({
  cpu: { min: least, max: least + more },
  memory: { min: leastMi * MI, max: (leastMi + moreMi) * MI },
}));

/** Requests of each own container of each pod, `web-0 c0 150 67108864`. */
function requestsOf(scene: RightsizingScene, workload: WorldWorkload): string[] {
  const own = ownContainers(workload);
  return scene.podsOf(workload.name).flatMap(({ metadata, containers }) =>
    containers.filter(({ name }) => own.includes(name)).map((one) =>
      `${metadata.name} ${one.name} ${one.requests.cpu} ${one.requests.memory}`
    )
  );
}

/** The same as the recommendations have it. */
function recommendedOf(scene: RightsizingScene, workload: WorldWorkload): string[] {
  const { recommendations = [] } = scene.recordOf(workload.name) ?? {};
  return scene.podsOf(workload.name).flatMap(({ metadata }) =>
    recommendations.map(({ container, cpu, memory }) =>
      `${metadata.name} ${container} ${cpu} ${memory}`
    )
  );
}

worldProperty(
  "property 2: in mode Auto with enough samples and no blocker requests equal the recommendation, and with fewer nothing changes",
  [
    freeWorkloads,
    fc.boolean(),
    fc.integer({ min: 1, max: 60 }),
    fc.constantFrom("P50", "P90", "P95", "P99"),
    incidentsWithin(10 * MINUTE_MS),
  ],
  (workloads, isEnough, minSamples, percentile, incidents) =>
    inWorld(workloads, async (scene) => {
      const before = workloads.map((one) => requestsOf(scene, one));
      const troubles = incidents.filter(({ what }) =>
        typeof what === "string" || "failure" in what
      );
      scene.policy("all", {
        percentile,
        // An hour of history has been sampled each minute.
        minSamples: isEnough ? minSamples : 1000 + minSamples,
        intervalMs: 2 * MINUTE_MS,
        strategy: AT_ONCE,
      });
      await live(scene, 20 * MINUTE_MS, { incidents: troubles, workloads });
      for (const [index, workload] of workloads.entries()) {
        const record = scene.recordOf(workload.name);
        if (!isEnough) {
          assert.deepEqual(requestsOf(scene, workload), before[index]);
          assert.deepEqual([record?.status, record?.reason], ["Skipped", "InsufficientSamples"]);
          assert.match(record?.message ?? "", /has \d+ of \d+ samples/);
          assert.deepEqual([record?.recommendations, record?.recommendedAtMs], [[], undefined]);
          continue;
        }
        const { cpu, memory } = workload.usage;
        assert.deepEqual(
          record?.recommendations.map((one) => [one.container, one.cpu, one.memory]),
          ownContainers(workload).map((name) => [
            name,
            Math.max(10, truncatedProduct(cpu, 1.2)),
            truncatedProduct(memory, 1.2),
          ]),
        );
        assert.deepEqual(requestsOf(scene, workload), recommendedOf(scene, workload));
      }
      if (!isEnough) assert.equal(writesOf(scene), 0);
    }),
);

worldProperty(
  "property 4: each recommendation lies within the bounds, and what is inside is not moved",
  [
    anyWorkloads,
    bounds,
    fc.constantFrom(1, 1.15, 1.2, 2.5),
    anyStrategy,
    incidentsWithin(5 * MINUTE_MS),
  ],
  (workloads, within, safetyFactor, strategy, incidents) =>
    inWorld(workloads, async (scene) => {
      const troubles = incidents.filter(({ what }) =>
        typeof what === "string" || "failure" in what
      );
      scene.policy("all", { bounds: within, safetyFactor, strategy });
      await live(scene, 8 * MINUTE_MS, { incidents: troubles, workloads });
      for (const workload of workloads) {
        const { recommendations } = scene.recordOf(workload.name) ?? assert.fail("no record");
        assert.equal(recommendations.length, ownContainers(workload).length);
        for (const one of recommendations) {
          for (const resource of ["cpu", "memory"] as const) {
            const { min, max } = within[resource];
            const raw = truncatedProduct(workload.usage[resource], safetyFactor);
            assert.ok(one[resource] >= min && one[resource] <= max, `${resource} ${one[resource]}`);
            if (raw >= min && raw <= max) assert.equal(one[resource], raw);
          }
        }
      }
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

worldProperty(
  "properties 20, 21 and 22: while the server serves resizes, pods keep their UIDs and templates; else pods are recreated, where that is allowed",
  [
    freeWorkloads,
    fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
    fc.boolean(),
    fc.boolean(),
    incidentsWithin(10 * MINUTE_MS),
  ],
  (workloads, phases, allowRecreate, useServerSideApply, incidents) =>
    inWorld(workloads, async (scene) => {
      const { Pod, Deployment } = scene.api.store.tables;
      const troubles = incidents.filter(({ what }) =>
        typeof what === "string" || "failure" in what
      );
      const uidsOf = () => Pod.all().map(({ metadata }) => metadata.uid).toSorted();
      const uids = uidsOf();
      const resizesOf = () => scene.api.requests.get("resize Pod") ?? 0;
      for (const [index, isServed] of phases.entries()) {
        scene.served.resizeServed = isServed;
        // More each time, so that there is something to do.
        const usage = { cpu: 1000 + 200 * index, memory: (500 + 100 * index) * MI };
        for (const { name } of workloads) scene.uses(name, usage);
        if (index === 0) {
          const strategy = { ...AT_ONCE, allowRecreate, useServerSideApply };
          scene.policy("all", { intervalMs: 2 * MINUTE_MS, strategy });
        }
        const [resizes, recreations] = [resizesOf(), scene.recreations.length];
        const templates = Deployment.all().map(({ makes }) => makes);
        if (index === 0) await live(scene, 20 * MINUTE_MS, { incidents: troubles, workloads });
        // Changes that began before come to their end.
        await scene.run(5 * MINUTE_MS);
        if (isServed) {
          assert.equal(scene.recreations.length, recreations);
          assert.deepEqual(Deployment.all().map(({ makes }) => makes), templates);
        } else if (index === 0) assert.equal(resizesOf(), resizes);
        for (const workload of workloads) {
          const { status, reason, method, recommendations = [] } = scene.recordOf(workload.name) ??
            {};
          if (!isServed && !allowRecreate) {
            assert.deepEqual([status, reason], ["Skipped", "InPlaceResizeUnavailable"]);
            continue;
          }
          // A crash may come between the first rollout and its record: those values count as the author's.
          const isUnrecorded = allowRecreate && method === undefined && reason === "BelowThreshold";
          if (!isUnrecorded) assert.equal(status, "Applied", reason);
          if (workload.pods > 0 && phases.every((one) => one)) assert.equal(method, "InPlace");
          if (isServed) {
            assert.deepEqual(requestsOf(scene, workload), recommendedOf(scene, workload));
            continue;
          }
          const { template } = Deployment.get(`shop/${workload.name}`)?.makes ?? {};
          const own = template?.containers.filter(({ sidecar }) => !sidecar) ?? [];
          assert.deepEqual(
            own.map((one) => [one.name, one.requests.cpu, one.requests.memory]),
            recommendations.map((one) => [one.container, one.cpu, one.memory]),
          );
        }
      }
      assert.deepEqual(uidsOf(), uids);
    }),
);
