import assert from "node:assert/strict";
import { setsCPU } from "./autoscalers.ts";
import {
  clampsOf,
  outcomeOf,
  recommendation,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const policy = (container: string, controlled: boolean) => ({ container, controlled });

test("setsCPU() takes a VPA without policies for one of all containers, unless it is Off", () => {
  assert.equal(setsCPU({ updateMode: "Auto" }, ["app"]), true);
  assert.equal(setsCPU({ updateMode: "Auto", cpuPolicies: [] }, ["app"]), true);
  assert.equal(setsCPU({ updateMode: "Off" }, ["app"]), false);
  assert.equal(setsCPU({ updateMode: "Off", cpuPolicies: [policy("app", true)] }, ["app"]), false);
});

test("setsCPU() asks each container's own policy first, then the one for all others", () => {
  const of = (...cpuPolicies: ReturnType<typeof policy>[]) =>
    setsCPU({ updateMode: "Recreate", cpuPolicies }, ["app", "proxy"]);
  assert.equal(of(policy("*", false)), false);
  assert.equal(of(policy("*", false), policy("proxy", true)), true);
  assert.equal(of(policy("app", false), policy("proxy", false), policy("*", true)), false);
  // A container that no policy names is controlled.
  assert.equal(of(policy("app", false)), true);
  // Policies of containers that the pod has not got say nothing.
  assert.equal(of(policy("*", false), policy("db", true)), false);
});

const BOTH = "InPlace: app cpu 150m, app memory 96Mi";

test("horizontalAutoscalerConflicts() leaves CPU alone under an HPA on utilisation; memory goes on", () => {
  const autoscalers = [sampleHPA()];
  assert.equal(outcomeOf({ autoscalers }), "InPlace: app memory 96Mi");
  assert.match(clampsOf({ autoscalers }).join(), / HPAConflict: .*web-hpa .*CPU .*app /);
  assert.equal(outcomeOf({ autoscalers, strategy: { allowWithHPA: true } }), BOTH);
  const limits = { autoscalers, strategy: { updateRequestsOnly: false } };
  assert.equal(outcomeOf(limits), "InPlace: app memory 96Mi (limit 112Mi)");
});

test("horizontalAutoscalerConflicts() leaves memory alone under an HPA on its utilisation", () => {
  const hpa = sampleHPA({ cpuTargets: [], memoryTargets: [{}] });
  assert.equal(outcomeOf({ autoscalers: [hpa] }), "InPlace: app cpu 150m");
  assert.match(clampsOf({ autoscalers: [hpa] }).join(), / HPAConflict: .*memory .*app /);
  assert.equal(outcomeOf({ autoscalers: [hpa], strategy: { allowWithHPA: true } }), BOTH);
  const ofLog = sampleHPA({ cpuTargets: [], memoryTargets: [{ container: "log" }] });
  assert.equal(outcomeOf({ autoscalers: [ofLog] }), BOTH);
});

test("horizontalAutoscalerConflicts() holds where only CPU would change", () => {
  const recommendations = [recommendation({ memory: 64 * 2 ** 20 })];
  const held = outcomeOf({ autoscalers: [sampleHPA()], recommendations });
  assert.match(held, /^HorizontalAutoscalerConflicts HPAConflict: /);
});

test("horizontalAutoscalerConflicts() has nothing against an HPA that divides by no request", () => {
  assert.equal(outcomeOf({ autoscalers: [sampleHPA({ cpuTargets: [{ value: 300 }] })] }), BOTH);
  assert.equal(outcomeOf({ autoscalers: [sampleHPA({ cpuTargets: [] })] }), BOTH);
});

test("horizontalAutoscalerConflicts() is about the container that the HPA looks at", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const autoscalers = [sampleHPA({ cpuTargets: [{ container: "log", utilization: 0.8 }] })];
  assert.equal(
    outcomeOf({ containers, autoscalers }),
    "InPlace: app cpu 150m, app memory 96Mi, log memory 96Mi",
  );
});
