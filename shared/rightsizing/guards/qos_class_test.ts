import assert from "node:assert/strict";
import {
  bareContainer,
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const LIMITS = { updateRequestsOnly: false };
const guaranteed = templateContainer({ requestCPU: 200, requestMemory: 128 * MI });

test("qosWouldChange() moves request and limit of Guaranteed pods together, or not at all", () => {
  assert.equal(
    outcomeOf({ containers: [guaranteed], strategy: LIMITS }),
    "InPlace: app cpu 150m (limit 150m), app memory 96Mi (limit 96Mi)",
  );
  assert.match(
    outcomeOf({ containers: [guaranteed] }),
    /^QoSWouldChange QoSWouldChange: .*app cpu .*together.*; .*app memory .*together/,
  );
  assert.match(outcomeOf({ containers: [templateContainer()] }), /^InPlace: /);
});

test("qosWouldChange() keeps a Burstable pod's last request a unit below its limit", () => {
  const containers = [templateContainer({ requestMemory: 128 * MI })];
  const recommendations = [recommendation({ cpu: 500, memory: 128 * MI })];
  assert.equal(outcomeOf({ containers, recommendations }), "InPlace: app cpu 199m");
  assert.match(clampsOf({ containers, recommendations }).join(), /: pod web-1 .*Guaranteed: /);
  const other = [...containers, templateContainer({ name: "log" })];
  assert.equal(outcomeOf({ containers: other, recommendations }), "InPlace: app cpu 200m");
});

test("qosWouldChange() gives BestEffort pods nothing", () => {
  assert.match(
    outcomeOf({ containers: [bareContainer("app", {})] }),
    /^QoSWouldChange QoSWouldChange: pod web-1 .*BestEffort to Burstable$/,
  );
});

test("qosWouldChange() has nothing to say where the pod's own resources make the class", () => {
  const podLevel = {
    requestCPU: 400,
    limitCPU: 400,
    requestMemory: 512 * MI,
    limitMemory: 512 * MI,
  };
  const facts = rightsizingFacts();
  const template = { ...facts.workload.template, podLevel };
  const workload = { ...facts.workload, template };
  const pods = facts.pods.map((pod) => ({ ...pod, podLevel, qosClass: "Guaranteed" as const }));
  assert.equal(outcomeOf({ workload, pods }), "InPlace: app cpu 150m, app memory 96Mi");
});

test("qosWouldChange() leaves the CPU of a Guaranteed pod of the market to its own limit", () => {
  assert.equal(
    outcomeOf({ containers: [guaranteed], strategy: LIMITS, marketManages: true }),
    "InPlace: app cpu 150m (limit 150m), app memory 96Mi (limit 96Mi)",
  );
});

test("qosWouldChange() counts what is in force beside the template that a rollout writes", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const equal = { cpu: 150, cpuLimit: 150, memory: 96 * MI, memoryLimit: 96 * MI };
  const rollout = {
    containers,
    strategy: { ...LIMITS, allowInPlaceResize: false, allowRecreate: true },
    recommendations: [recommendation({ container: "log", ...equal })],
  };
  assert.equal(
    outcomeOf(rollout),
    "Recreate: log cpu 150m (limit 150m), log memory 96Mi (limit 96Mi)",
  );
  const whole = { requestCPU: 150, limitCPU: 150, requestMemory: 96 * MI, limitMemory: 96 * MI };
  const beside = { ...rollout, inForce: new Map([["app", whole]]) };
  assert.equal(
    outcomeOf(beside),
    "Recreate: log cpu 149m (limit 150m), log memory 96Mi (limit 96Mi)",
  );
  assert.match(clampsOf(beside).join(), /new pods .*Guaranteed: /);
});
