/** Properties of the values that rightsizing sends, over any workload, pods and policy. */
import { pure } from "../fixtures/pure.ts";
import fc from "fast-check";
import assert from "node:assert/strict";
import { templateAfter } from "../../controller/rightsizing/apply_decision.ts";
import { inPlacePlan } from "../../shared/rightsizing/guards/method.ts";
import { podCreationPatch } from "../../controller/rightsizing/pod_creation.ts";
import type { JSONPatchOperation } from "../../shared/admission/json_patch.ts";
import { templatePatch } from "../../shared/rightsizing/template_patch.ts";
import { containerResources, resizePatch } from "../../shared/resize/patch.ts";
import { NO_RESOURCES } from "../../shared/api/pod.ts";
import { countingValues } from "../../shared/rightsizing/guards/counting_values.ts";
import {
  decideRightsizing,
  retryResize,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { RightsizingSnapshot } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { valuesInForce } from "../../shared/rightsizing/workload_record.ts";
import {
  anyContainers,
  anyRecordedSnapshot,
  anySnapshot,
  counted,
  snapshotOf,
} from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import {
  MI,
  recommendation,
  rightsizingSnapshot,
  sized,
} from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  createdPod,
  ownedOf,
  podsAfter,
  readEntry,
} from "../fixtures/rightsizing/rightsizing_patches.ts";

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

pure("property 2: requests are set to the recommendation where nothing forbids it", () => {
  const world = fc.record({
    request: fc.integer({ min: 10, max: 400 }),
    requestMebi: fc.integer({ min: 1, max: 200 }),
    limits: fc.constantFrom([], [5000, 9000] as const),
    cpu: fc.integer({ min: 10, max: 4000 }),
    memory: fc.integer({ min: MI, max: 4096 * MI }),
    recreate: fc.boolean(),
  });
  const seen = new Set<string>();
  fc.assert(fc.property(world, ({ request, requestMebi, limits, cpu, memory, recreate }) => {
    const snapshot = rightsizingSnapshot({
      containers: [sized([request, requestMebi], limits)],
      recommendations: [recommendation({ cpu, memory })],
      memoryPeaks: new Map([["app", 0]]),
      strategy: {
        changeThresholdPercent: 0,
        allowInPlaceResize: !recreate,
        allowRecreate: recreate,
      },
    });
    const decision = decideRightsizing(snapshot);
    if (request === cpu && requestMebi * MI === memory) return;
    assert.ok(decision.outcome === "apply");
    seen.add(decision.method);
    const { wanted } = decision;
    if (decision.method === "InPlace") {
      for (const { containers } of podsAfter(snapshot, inPlacePlan(snapshot, wanted))) {
        assert.deepEqual(containers[0]?.requests, { cpu, memory });
      }
      return;
    }
    const patch = templatePatch(snapshot.workload, { wanted, owned: ownedOf(snapshot) });
    const [entry = assert.fail()] = patch.body.spec.template.spec.containers ?? [];
    assert.deepEqual(readEntry(entry).requests, { cpu, memory });
  }));
  assert.deepEqual(seen, new Set(["InPlace", "Recreate"]));
});

/** The decision where there is nothing new. */
const BELOW: RightsizingDecision = {
  outcome: "hold",
  by: "",
  reason: "BelowThreshold",
  message: "",
  restOnly: true,
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

pure("countingValues() leave what was just adopted, and are the same a second time", () => {
  const methods = new Set<string>();
  fc.assert(
    fc.property(anyRecordedSnapshot, ({ snapshot: drawn, recorded }) => {
      const snapshot = counted({ snapshot: drawn, recorded });
      const { workload: { template } } = snapshot;
      const around = { ...snapshot, quotas: [] };
      const again = countingValues(valuesInForce(snapshot.inForce, template.containers), around);
      assert.deepEqual([again.values, again.messages], [snapshot.inForce, []]);
      const decision = decideRightsizing(snapshot);
      if (decision.outcome === "hold") return;
      methods.add(`${decision.method} ${snapshot.inForce.size > 0 ? "anew" : "first"}`);
      const { inForce } = inPlacePlan(snapshot, decision.wanted);
      const containers = templateAfter(snapshot, decision);
      const workload = { ...snapshot.workload, template: { ...template, containers } };
      const kept = countingValues(valuesInForce(inForce, containers), { ...around, workload });
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
