import assert from "node:assert/strict";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { outcomeOf } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("verticalAutoscalerConflicts() leaves the workload to a VPA in any mode but Off", () => {
  for (const mode of ["Initial", "Recreate", "InPlaceOrRecreate", "Auto", "SomethingNew"]) {
    const held = outcomeOf({ verticalAutoscalers: [sampleVPA(mode)] });
    assert.match(held, /^VerticalAutoscalerConflicts VPAConflict: .*web-vpa, .*Deployment web$/);
    assert.ok(held.includes(mode), held);
  }
  assert.match(outcomeOf({ verticalAutoscalers: [sampleVPA("Off")] }), /^InPlace: app cpu 150m/);
});

test("verticalAutoscalerConflicts() lets CPU go on that the VPA does not control", () => {
  const cpuPolicies = [{ container: "*", controlled: false }];
  const verticalAutoscalers = [sampleVPA("Auto", { cpuPolicies })];
  assert.equal(outcomeOf({ verticalAutoscalers }), "InPlace: app cpu 150m");
});
