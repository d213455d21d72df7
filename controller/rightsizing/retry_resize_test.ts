import assert from "node:assert/strict";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { describeWanted } from "../../shared/resize/inputs/resources.ts";
import type { RightsizingDecision } from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  type FactsChoice,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { retryResize } from "./retry_resize.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const IN_FORCE = { requests: { cpu: 105, memory: 96 * MI }, limits: {} };

/** What is done for pods of which `web-1` has what is in force and `web-2` the template's values. */
function done(
  reason: RightsizingReason,
  { restOnly, ...choice }: FactsChoice & { readonly restOnly?: true } = {},
): string | undefined {
  const pods = [
    workloadPod("web-1", [templateContainer(IN_FORCE)]),
    workloadPod("web-2", [templateContainer()]),
  ];
  const held: RightsizingDecision = {
    outcome: "hold",
    by: "",
    reason,
    message: "",
    clamps: [],
    ...(restOnly && { restOnly }),
  };
  const inForce = new Map([["app", IN_FORCE]]);
  const facts = rightsizingFacts({ pods, inForce, lastAppliedMs: NOW_MS - 1, ...choice });
  const again = retryResize(facts, held);
  return again?.outcome === "apply"
    ? `${again.method} ${describeWanted(again.wanted)}`
    : again?.reason;
}

test("retryResize() gives a straggler what is in force, though it is little and the cooldown runs", () => {
  for (const reason of ["Cooldown", "InsufficientSamples"] as const) {
    assert.equal(done(reason), "InPlace app cpu 105m, app memory 96Mi", reason);
  }
  for (const reason of ["BelowThreshold", "HPAConflict"] as const) {
    assert.equal(done(reason, { restOnly: true }), "InPlace app cpu 105m, app memory 96Mi", reason);
  }
});

test("retryResize() does nothing where the hold is one against these values, too", () => {
  for (const reason of ["RecommendOnly", "DryRun", "RolloutInProgress", "HPAConflict"] as const) {
    assert.equal(done(reason), undefined, reason);
  }
  assert.equal(done("Cooldown", { dryRun: true }), "DryRun");
});

test("retryResize() says why a straggler can't have it, and asks nothing for what all have", () => {
  const late = workloadPod("web-2", [templateContainer({ requests: { cpu: 105 } })]);
  assert.equal(done("Cooldown", { pods: [late] }), "InPlace app memory 96Mi");
  const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
  assert.equal(done("Cooldown", { pods: [late], nodes }), "NodePressure");
});

test("retryResize() does nothing where all is there, and recreates no pod for a straggler", () => {
  const all = [workloadPod("web-1", [templateContainer(IN_FORCE)])];
  assert.equal(done("Cooldown", { pods: all }), undefined);
  assert.equal(done("Cooldown", { inForce: new Map() }), undefined);
});

test("retryResize() says that there is no way, whether or not others may be recreated", () => {
  for (const allowRecreate of [false, true]) {
    for (const reason of ["Cooldown", "BelowThreshold"] as const) {
      const holds = (choice: FactsChoice): string | undefined =>
        done(reason, { restOnly: true, ...choice });
      const strategy = { allowRecreate };
      assert.equal(holds({ strategy, resizeServed: false }), "InPlaceResizeUnavailable");
      assert.equal(
        holds({ strategy: { ...strategy, allowInPlaceResize: false } }),
        "MethodNotAllowed",
      );
      const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
      assert.equal(holds({ strategy, nodes }), "NodePressure");
    }
  }
});

test("retryResize() leaves to a rollout what stands in the template", () => {
  const written = [templateContainer(IN_FORCE)];
  const { workload } = rightsizingFacts({ containers: written });
  const strategy = { allowRecreate: true };
  assert.equal(done("Cooldown", { workload, strategy, resizeServed: false }), undefined);
  assert.equal(done("Cooldown", { workload, resizeServed: false }), "InPlaceResizeUnavailable");
  assert.match(done("Cooldown", { workload, strategy }) ?? "", /^InPlace /);
});
