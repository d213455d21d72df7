/** Properties of the changes that rightsizing blocks, over any workload, pods and policy. */
import { type ContainerFields, withFields } from "../fixtures/container_fields.ts";
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import { leastSafeMemory } from "../../shared/rightsizing/guards/memory_decrease.ts";
import type { RightsizingSnapshot } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { decisionEvents, heldStatus } from "../../shared/rightsizing/guards/workload_events.ts";
import { anySnapshot } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import {
  asking,
  MI,
  rightsizingSnapshot,
  sized,
  workloadPod,
} from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import { podsAfter } from "../fixtures/rightsizing/rightsizing_patches.ts";

pure("property 5: an unsafe memory decrease is never applied in place", () => {
  let [ran, lowered] = [0, 0];
  fc.assert(fc.property(anySnapshot, (snapshot) => {
    ran++;
    const decision = decideRightsizing(snapshot);
    if (decision.outcome === "hold" || decision.method === "Recreate") return;
    const plan = inPlacePlan(snapshot, decision.wanted);
    for (const [index, after] of podsAfter(snapshot, plan).entries()) {
      for (const [at, { name, requests, limits }] of after.containers.entries()) {
        const before = snapshot.pods[index]?.containers[at] ?? assert.fail();
        const safe = leastSafeMemory(snapshot.memoryPeaks.get(name) ?? Infinity);
        const pairs = [
          [before.requests.memory ?? 0, requests.memory ?? 0],
          [before.limits.memory ?? Infinity, limits.memory ?? Infinity],
        ] as const;
        for (const [was, is] of pairs) {
          if (is >= was) continue;
          lowered++;
          assert.ok(is >= safe, `${name}: ${was} to ${is}, at least ${safe}`);
        }
      }
    }
  }));
  assert.ok(lowered > ran / 50, `${lowered} in ${ran}`);
});

pure("property 5: what is safe of a memory decrease is applied, the rest is skipped", () => {
  const unsafe = fc.record({
    present: fc.integer({ min: 20, max: 1000 }),
    to: fc.integer({ min: 1, max: 80 }),
    peak: fc.integer({ min: 1, max: 1100 }),
  });
  const seen = new Set<string>();
  fc.assert(fc.property(unsafe, ({ present, to, peak }) => {
    const memory = Math.floor(present * to / 100);
    fc.pre(memory > 0);
    const peakBytes = Math.floor(present * peak / 1000) * MI;
    const decision = decideRightsizing(rightsizingSnapshot({
      containers: [sized([100, present], [200, 2 * present])],
      recommendations: [asking(100, memory)],
      memoryPeaks: new Map([["app", peakBytes]]),
    }));
    const safe = Math.min(leastSafeMemory(peakBytes), present * MI);
    if (decision.outcome === "apply") {
      const isSafe = memory * MI >= safe;
      seen.add(isSafe ? "as asked" : "to what is safe");
      assert.equal(decision.wanted.get("app")?.requests.memory, Math.max(memory * MI, safe));
      const reasons = decision.clamps.map(({ reason }) => reason);
      assert.equal(reasons.includes("UnsafeMemoryDecrease"), !isSafe);
      return;
    }
    seen.add("skipped");
    // It has no more than two steps of the threshold above what is safe.
    assert.ok(memory * MI < safe && present * MI <= safe * 1.21 + 1);
    assert.equal(decision.reason, "UnsafeMemoryDecrease");
    assert.equal(heldStatus(decision.reason), "Skipped");
  }));
  assert.equal(seen.size, 3, [...seen].join());
});

/** Obstacles that keep pods from being resized in place without a restart. */
const OBSTACLES: Readonly<Record<string, (snapshot: RightsizingSnapshot) => RightsizingSnapshot>> =
  {
    notServed: (snapshot) => ({ ...snapshot, resizeServed: false }),
    oldKubelet: (snapshot) => ({
      ...snapshot,
      nodes: new Map([["node-1", { kubeletVersion: "v1.31.2", pressures: [] }]]),
    }),
    restarts: (snapshot) =>
      withContainers(snapshot, { restartsOnCPU: true, restartsOnMemory: true }),
  };

function withContainers(
  snapshot: RightsizingSnapshot,
  change: ContainerFields,
): RightsizingSnapshot {
  const containers = snapshot.workload.template.containers.map((one) => withFields(one, change));
  return {
    ...snapshot,
    workload: { ...snapshot.workload, template: { ...snapshot.workload.template, containers } },
    pods: snapshot.pods.map((pod) => workloadPod(pod.metadata.name, containers)),
  };
}

const obstructed = fc.record({
  obstacle: fc.constantFrom(...Object.keys(OBSTACLES)),
  allowRecreate: fc.boolean(),
  cpu: fc.integer({ min: 120, max: 190 }),
  memory: fc.integer({ min: 72, max: 120 }),
});

pure("properties 6, 22: pods are recreated only if allowed, else there is one Warning", () => {
  const seen = new Set<string>();
  fc.assert(fc.property(obstructed, ({ obstacle, allowRecreate, cpu, memory }) => {
    seen.add(`${obstacle} ${allowRecreate}`);
    const choice = { strategy: { allowRecreate }, recommendations: [asking(cpu, memory)] };
    const decision = decideRightsizing(OBSTACLES[obstacle]!(rightsizingSnapshot(choice)));
    const warnings = decisionEvents(decision).filter(({ type }) => type === "Warning");
    const came = decision.outcome === "apply" ? decision.method : "none";
    assert.equal(came, allowRecreate ? "Recreate" : "none");
    const expected = allowRecreate ? [] : ["InPlaceResizeUnavailable"];
    assert.deepEqual(warnings.map(({ reason }) => reason), expected);
  }));
  assert.equal(seen.size, 2 * Object.keys(OBSTACLES).length);
});

pure("properties 6, 22: no pods are recreated or resized against policy and support", () => {
  const drawn = fc.record({
    snapshot: anySnapshot,
    obstacle: fc.constantFrom(undefined, "notServed", "oldKubelet"),
  }).map(({ snapshot, obstacle }) => {
    const { containers } = snapshot.workload.template;
    const pods = snapshot.pods.length === 0 ? [workloadPod("web-0", containers)] : snapshot.pods;
    const obstruct = obstacle && OBSTACLES[obstacle];
    return { obstacle, snapshot: obstruct ? obstruct({ ...snapshot, pods }) : snapshot };
  });
  const outcomes = new Set<string>();
  fc.assert(fc.property(drawn, ({ snapshot, obstacle }) => {
    const decision = decideRightsizing(snapshot);
    const unavailable = decisionEvents(decision)
      .filter(({ reason }) => reason === "InPlaceResizeUnavailable");
    assert.ok(unavailable.length <= 1);
    const came = decision.outcome === "apply" ? decision.method : decision.outcome;
    outcomes.add(`${came} ${obstacle === undefined}`);
    if (obstacle !== undefined) assert.notEqual(came, "InPlace");
    if (came === "Recreate") assert.ok(snapshot.policy.updateStrategy.allowRecreate);
  }));
  assert.equal(outcomes.size, 5, [...outcomes].join());
});

pure("property 24: each skip leaves a machine-readable reason of the list", () => {
  const reasons = new Set<string>();
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const decision = decideRightsizing(snapshot);
      const skips = decision.outcome === "hold" ? [decision, ...decision.clamps] : decision.clamps;
      for (const { by, reason, message } of skips) {
        assert.ok(Object.hasOwn(RIGHTSIZING_REASONS, reason), reason);
        assert.ok(by !== "" && message !== "");
        reasons.add(reason);
      }
    }),
  );
  assert.ok(reasons.size > 12, [...reasons].join());
});

pure("decideRightsizing() applies nothing in a dry-run", () => {
  fc.assert(fc.property(anySnapshot, (snapshot) => {
    const decision = decideRightsizing({ ...snapshot, dryRun: true });
    assert.ok(decision.outcome === "hold");
    const { mode } = snapshot.policy;
    const reasons = { Auto: "DryRun", Recommend: "RecommendOnly", Disabled: "PolicyDisabled" };
    assert.equal(decision.reason, reasons[mode]);
    assert.equal(heldStatus(decision.reason), mode === "Disabled" ? "Skipped" : "Recommended");
  }));
});
