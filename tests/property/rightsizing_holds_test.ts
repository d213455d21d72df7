/**
 * Properties of the changes that rightsizing blocks, over any workload, pods and policy.
 *
 * @module
 */
import { type ContainerFields, withFields } from "../fixtures/container_fields.ts";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { workloadAnnotations } from "../../shared/rightsizing/workload_annotations.ts";
import { decideRightsizing } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import { leastSafeMemory } from "../../shared/rightsizing/guards/memory_decrease.ts";
import type { RightsizingFacts } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { decisionEvents, heldStatus } from "../../shared/rightsizing/guards/workload_events.ts";
import { anyFacts } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import {
  MI,
  NOW_MS,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../fixtures/rightsizing/rightsizing_facts.ts";
import { podsAfter } from "../fixtures/rightsizing/rightsizing_patches.ts";
import assert from "node:assert/strict";
import fc from "fast-check";

function property(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

property(
  "property 5: an unsafe memory decrease is never applied in place: what is safe of it is, the rest is skipped with that reason",
  () => {
    let [ran, lowered] = [0, 0];
    fc.assert(
      fc.property(anyFacts, (facts) => {
        ran++;
        const decision = decideRightsizing(facts);
        if (decision.outcome === "hold" || decision.method === "Recreate") return;
        const plan = inPlacePlan(facts, decision.wanted);
        for (const [index, after] of podsAfter(facts, plan).entries()) {
          for (
            const [
              at,
              { name, requests: { memory: requestMemory }, limits: { memory: limitMemory } },
            ] of after.containers.entries()
          ) {
            const before = facts.pods[index]?.containers[at];
            const safe = leastSafeMemory(facts.memoryPeaks.get(name) ?? Infinity);
            const pairs = [
              [before?.requests.memory ?? 0, requestMemory ?? 0],
              [before?.limits.memory ?? Infinity, limitMemory ?? Infinity],
            ] as const;
            for (const [was, is] of pairs) {
              if (is >= was) continue;
              lowered++;
              assert.ok(is >= safe, `${name}: ${was} to ${is}, at least ${safe}`);
            }
          }
        }
      }),
    );
    assert.ok(lowered > ran / 50, `${lowered} in ${ran}`);
    const unsafe = fc.record({
      present: fc.integer({ min: 20, max: 1000 }),
      to: fc.integer({ min: 1, max: 80 }),
      peak: fc.integer({ min: 1, max: 1100 }),
    });
    const seen = new Set<string>();
    fc.assert(
      fc.property(unsafe, ({ present, to, peak }) => {
        const memory = Math.floor(present * to / 100) * MI;
        fc.pre(memory > 0);
        const peakBytes = Math.floor(present * peak / 1000) * MI;
        const containers = [
          templateContainer({
            requests: { memory: present * MI },
            limits: { memory: 2 * present * MI },
          }),
        ];
        const decision = decideRightsizing(rightsizingFacts({
          containers,
          recommendations: [recommendation({ cpu: 100, memory })],
          memoryPeaks: new Map([["app", peakBytes]]),
        }));
        const safe = Math.min(leastSafeMemory(peakBytes), present * MI);
        const reasons = decision.clamps.map(({ reason }) => reason);
        if (decision.outcome === "apply") {
          const isSafe = memory >= safe;
          seen.add(isSafe ? "as asked" : "to what is safe");
          assert.equal(decision.wanted.get("app")?.requests.memory, Math.max(memory, safe));
          assert.equal(reasons.includes("UnsafeMemoryDecrease"), !isSafe);
          return;
        }
        seen.add("skipped");
        // It has no more than two steps of the threshold above what is safe.
        assert.ok(memory < safe && present * MI <= safe * 1.21 + 1);
        assert.equal(decision.reason, "UnsafeMemoryDecrease");
        assert.equal(heldStatus(decision.reason), "Skipped");
      }),
    );
    assert.equal(seen.size, 3, [...seen].join());
  },
);

/** What keeps pods from being resized in place without a restart. */
const OBSTACLES: Readonly<Record<string, (facts: RightsizingFacts) => RightsizingFacts>> = {
  notServed: (facts) => ({ ...facts, resizeServed: false }),
  oldKubelet: (facts) => ({
    ...facts,
    nodes: new Map([["node-1", { kubeletVersion: "v1.31.2", pressures: [] }]]),
  }),
  restarts: (facts) => withContainers(facts, { restartsOnCPU: true, restartsOnMemory: true }),
};

function withContainers(facts: RightsizingFacts, change: ContainerFields): RightsizingFacts {
  const containers = facts.workload.template.containers.map((one) => withFields(one, change));
  return {
    ...facts,
    workload: { ...facts.workload, template: { ...facts.workload.template, containers } },
    pods: facts.pods.map((pod) => workloadPod(pod.metadata.name, containers)),
  };
}

const obstructed = fc.record({
  obstacle: fc.constantFrom(...Object.keys(OBSTACLES)),
  allowRecreate: fc.boolean(),
  cpu: fc.integer({ min: 120, max: 190 }),
  memory: fc.integer({ min: 72, max: 120 }),
}).map(({ obstacle, allowRecreate, cpu, memory }) => ({
  obstacle,
  allowRecreate,
  facts: (OBSTACLES[obstacle] ?? ((facts) => facts))(rightsizingFacts({
    strategy: { allowRecreate },
    recommendations: [recommendation({ cpu, memory: memory * MI })],
  })),
}));

property(
  "property 6: what needs recreation happens only if allowed, otherwise there is one Warning event",
  () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(obstructed, ({ obstacle, allowRecreate, facts }) => {
        seen.add(`${obstacle} ${allowRecreate}`);
        const decision = decideRightsizing(facts);
        const warnings = decisionEvents(decision).filter(({ type }) => type === "Warning");
        if (allowRecreate) {
          assert.ok(decision.outcome === "apply");
          assert.equal(decision.method, "Recreate");
          assert.deepEqual(warnings, []);
        } else {
          assert.equal(decision.outcome, "hold");
          assert.deepEqual(warnings.map(({ reason }) => reason), ["InPlaceResizeUnavailable"]);
        }
      }),
    );
    assert.equal(seen.size, 2 * Object.keys(OBSTACLES).length);
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decideRightsizing(facts);
        if (decision.outcome === "apply" && decision.method === "Recreate") {
          assert.ok(facts.policy.updateStrategy.allowRecreate);
        }
        const unavailable = decisionEvents(decision)
          .filter(({ reason }) => reason === "InPlaceResizeUnavailable");
        assert.ok(unavailable.length <= 1);
      }),
    );
  },
);

property(
  "property 22: where in-place is not supported, pods are recreated if allowed, else skipped",
  () => {
    const unsupported = fc.record({
      facts: anyFacts,
      obstacle: fc.constantFrom("notServed", "oldKubelet"),
    }).map(({ facts, obstacle }) => {
      const one = facts.pods.length === 0
        ? [workloadPod("web-0", facts.workload.template.containers)]
        : facts.pods;
      return OBSTACLES[obstacle]?.({ ...facts, pods: one }) ?? facts;
    });
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(unsupported, (facts) => {
        const decision = decideRightsizing(facts);
        const { allowRecreate } = facts.policy.updateStrategy;
        outcomes.add(decision.outcome);
        if (decision.outcome === "hold") return;
        assert.equal(decision.method, "Recreate");
        assert.ok(allowRecreate);
      }),
    );
    assert.deepEqual(outcomes, new Set(["apply", "hold"]));
    fc.assert(
      fc.property(obstructed, ({ obstacle, allowRecreate, facts }) => {
        fc.pre(obstacle !== "restarts");
        const decision = decideRightsizing(facts);
        const came = decision.outcome === "apply" ? decision.method : decision.reason;
        assert.equal(came, allowRecreate ? "Recreate" : "InPlaceResizeUnavailable");
      }),
    );
  },
);

property("property 24: each skip leaves a machine-readable reason of the list", () => {
  const reasons = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const decision = decideRightsizing(facts);
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

property(
  "decideRightsizing() applies nothing in a dry-run, and still has all recommendations",
  () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decideRightsizing({ ...facts, dryRun: true });
        assert.ok(decision.outcome === "hold");
        const { mode } = facts.policy;
        assert.equal(
          decision.reason,
          { Auto: "DryRun", Recommend: "RecommendOnly", Disabled: "PolicyDisabled" }[mode],
        );
        assert.equal(heldStatus(decision.reason), mode === "Disabled" ? "Skipped" : "Recommended");
        const { recommendations } = facts;
        const reported = workloadAnnotations({
          policy: "shop/p",
          recommendedAtMs: NOW_MS,
          recommendations,
        });
        for (const { container } of recommendations) {
          assert.ok(Object.keys(reported).some((name) => name.includes(`.${container}.`)));
        }
      }),
    );
  },
);
