/** Properties of the changes that rightsizing blocks and of the values that it sends, for any workload, pods and policy. */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { RIGHTSIZING_REASONS } from "../../shared/api/reasons/rightsizing_reasons.ts";
import {
  decideRightsizing,
  retryResize,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import { leastSafeMemory } from "../../shared/rightsizing/guards/memory_decrease.ts";
import type { RightsizingSnapshot } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { decisionEvents, heldStatus } from "../../shared/rightsizing/guards/workload_events.ts";
import {
  anyContainers,
  anyRecordedSnapshot,
  anySnapshot,
  counted,
  snapshotOf,
} from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import {
  asking,
  MI,
  rightsizingSnapshot,
  sized,
  workloadPod,
} from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  createdPod,
  ownedOf,
  podsAfter,
  readEntry,
} from "../fixtures/rightsizing/rightsizing_patches.ts";
import { templateAfter } from "../../controller/rightsizing/apply_decision.ts";
import { podCreationPatch } from "../../controller/rightsizing/pod_creation.ts";
import type { JSONPatchOperation } from "../../shared/admission/json_patch.ts";
import { templatePatch } from "../../shared/rightsizing/template_patch.ts";
import { containerResources, resizePatch } from "../../shared/resize/patch.ts";
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import { validValues } from "../../shared/rightsizing/guards/valid_values.ts";
import { valuesInForce } from "../../shared/rightsizing/workload_record.ts";

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
  };

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

pure("inPlacePlan() asks for nothing that the server refuses, and is done after once", () => {
  let [ran, applied] = [0, 0];
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      ran++;
      const decision = decideRightsizing(snapshot);
      if (decision.outcome === "hold" || decision.method === "Recreate") return;
      applied++;
      const plan = inPlacePlan(snapshot, decision.wanted);
      const pods = podsAfter(snapshot, plan);
      const again = { ...snapshot, pods, inForce: plan.inForce };
      assert.deepEqual(inPlacePlan(again, decision.wanted).pods, []);
      // And the present pods were valid, so it is not the server that is lenient.
      assert.equal(decideRightsizing({ ...snapshot, dryRun: true }).outcome, "hold");
    }),
  );
  assert.ok(applied > ran / 12, `${applied} of ${ran}`);
});

/** The decision where there is nothing new. */
const BELOW: RightsizingDecision = {
  outcome: "hold",
  by: "",
  reason: "BelowThreshold",
  message: "",
  onlyBelowThreshold: true,
  clamps: [],
};

function keepsLimits(
  snapshot: RightsizingSnapshot,
  { wanted }: Pick<Extract<RightsizingDecision, { outcome: "apply" }>, "wanted">,
): void {
  for (const { changes } of inPlacePlan(snapshot, wanted).pods) {
    for (const change of changes) {
      assert.deepEqual(change.limits, {});
    }
  }
}

function setsLimits(step: JSONPatchOperation): boolean {
  return step.path.includes("/limits") ||
    "value" in step && Object.hasOwn(Object(step.value), "limits");
}

pure("validValues() leave what was just adopted, and are the same a second time", () => {
  const methods = new Set<string>();
  fc.assert(
    fc.property(anyRecordedSnapshot, ({ snapshot: drawn, recorded }) => {
      const snapshot = counted({ snapshot: drawn, recorded });
      const { workload: { template } } = snapshot;
      const around = { ...snapshot, quotas: [] };
      const again = validValues(valuesInForce(snapshot.inForce, template.containers), around);
      assert.deepEqual([again.values, again.messages], [snapshot.inForce, []]);
      const decision = decideRightsizing(snapshot);
      if (decision.outcome === "hold") return;
      methods.add(`${decision.method} ${snapshot.inForce.size > 0 ? "anew" : "first"}`);
      const { inForce } = inPlacePlan(snapshot, decision.wanted);
      const containers = templateAfter(snapshot, decision);
      const workload = { ...snapshot.workload, template: { ...template, containers } };
      const kept = validValues(valuesInForce(inForce, containers), { ...around, workload });
      assert.deepEqual([kept.values, kept.messages], [inForce, []]);
    }),
  );
  const all = ["InPlace first", "InPlace anew", "Recreate first", "Recreate anew"];
  assert.deepEqual([...methods].toSorted(), all.toSorted());
});

pure("property 3: requests-only leaves the limits of every container, by every method", () => {
  const methods = new Set<string>();
  // Limits may have been adopted before the policy turned to requests only.
  const requestsOnly = anyRecordedSnapshot.map(({ snapshot, recorded }) => ({
    recorded,
    snapshot: {
      ...snapshot,
      policy: {
        ...snapshot.policy,
        updateStrategy: { ...snapshot.policy.updateStrategy, updateRequestsOnly: true },
      },
    },
  }));
  let [ran, dropped, caughtUp] = [0, 0, 0];
  fc.assert(
    fc.property(requestsOnly, ({ snapshot: drawn, recorded }) => {
      ran++;
      const snapshot = counted({ snapshot: drawn, recorded });
      if (recorded.some(({ cpuLimit }) => cpuLimit !== undefined)) dropped++;
      const catchUp = retryResize(snapshot, BELOW);
      if (catchUp?.outcome === "apply") caughtUp++;
      for (const one of [decideRightsizing(snapshot), catchUp]) {
        if (one?.outcome === "apply") keepsLimits(snapshot, one);
      }
      const raw = snapshot.workload.template.containers.map((one) => containerResources(one));
      const given = podCreationPatch(
        createdPod({ spec: { containers: raw } }),
        snapshot.inForce,
      );
      assert.ok(!given.some(setsLimits));
      const decision = decideRightsizing(snapshot);
      if (decision.outcome === "hold") return;
      const { method, wanted } = decision;
      methods.add(method);
      const plan = inPlacePlan(snapshot, wanted);
      assert.deepEqual(plan.originalLimits, new Map());
      const byName = new Map(snapshot.workload.template.containers.map((one) => [one.name, one]));
      for (const serverSideApply of [true, false]) {
        const { body } = templatePatch(
          snapshot.workload,
          { wanted, owned: ownedOf(snapshot) },
          { serverSideApply },
        );
        const { containers = [], initContainers = [] } = body.spec.template.spec;
        for (const entry of [...containers, ...initContainers]) {
          const { limits: { cpu: limitCPU, memory: limitMemory } } = readEntry(entry);
          const present = byName.get(entry.name);
          assert.ok(limitCPU === undefined || limitCPU === present?.limits.cpu);
          assert.ok(limitMemory === undefined || limitMemory === present?.limits.memory);
        }
        // An apply that no longer named an owned limit would remove it.
        if (serverSideApply) {
          const named = new Map([...containers, ...initContainers].map((one) => [one.name, one]));
          for (const present of snapshot.workload.template.containers) {
            const entry = named.get(present.name);
            const { limits } = entry === undefined ? NO_RESOURCES : readEntry(entry);
            assert.deepEqual(limits, present.limits);
          }
        }
      }
      assert.ok(
        !podCreationPatch(createdPod({ spec: { containers: raw } }), plan.inForce).some(
          setsLimits,
        ),
      );
    }),
  );
  assert.ok(dropped > ran / 15, `${dropped} of ${ran}`);
  assert.ok(caughtUp > ran / 50, `${caughtUp} of ${ran}`);
  assert.deepEqual(methods, new Set(["InPlace", "Recreate"]));
});

pure("property 10: every container is named exactly once, in quantities that read back", () => {
  let [ran, named] = [0, 0];
  fc.assert(fc.property(anyContainers.chain(snapshotOf), (drawn) => {
    ran++;
    const snapshot = { ...drawn, dryRun: false };
    const decision = decideRightsizing(snapshot);
    if (decision.outcome === "hold") return;
    const { wanted } = decision;
    const { body } = templatePatch(snapshot.workload, { wanted, owned: ownedOf(snapshot) });
    const { containers = [], initContainers = [] } = body.spec.template.spec;
    const names = [...containers, ...initContainers].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of wanted.keys()) assert.ok(names.includes(name));
    for (const entry of containers) {
      const { requests, limits } = wanted.get(entry.name) ?? NO_RESOURCES;
      const read = readEntry(entry);
      named++;
      assert.equal(read.requests.cpu, requests.cpu ?? read.requests.cpu);
      assert.equal(read.limits.memory, limits.memory ?? read.limits.memory);
    }
    for (const { changes } of inPlacePlan(snapshot, wanted).pods) {
      const all = changes.map(({ name }) => name);
      assert.equal(new Set(all).size, all.length);
      const { containers: entries = [] } = resizePatch("u", changes).spec;
      assert.equal(entries.length, all.length);
      for (const entry of entries) assert.ok(Object.keys(readEntry(entry)).length > 0);
    }
  }));
  assert.ok(named > ran / 5, `${named} in ${ran}`);
});
