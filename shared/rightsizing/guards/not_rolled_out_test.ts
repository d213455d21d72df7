import assert from "node:assert/strict";
import {
  clampsOf,
  type FactsChoice,
  MI,
  outcomeOf,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const VALUES = { requestCPU: 150, requestMemory: 96 * MI };
const { workload } = rightsizingFacts();

/** A workload whose template was given the recommendation. */
function recreated(stands: boolean, choice: FactsChoice = {}): FactsChoice {
  return {
    workload: {
      ...workload,
      rollout: { updated: 0, total: 2, stands },
      template: { containers: [templateContainer(VALUES)], initContainers: [] },
    },
    inForce: new Map([["app", VALUES]]),
    strategy: { allowInPlaceResize: false, allowRecreate: true },
    ...choice,
  };
}

test("notRolledOut() tells of pods that nobody replaces, and holds nothing", () => {
  const decision = decideRightsizing(rightsizingFacts(recreated(true)));
  assert.ok(decision.outcome === "hold" && decision.restOnly);
  assert.equal(decision.reason, "NotRolledOut");
  assert.match(decision.message, /Deployment web .*2 pods .*web-1 /);
  const first = recreated(true, { inForce: new Map() });
  assert.match(
    outcomeOf({
      ...first,
      workload: { ...workload, rollout: { updated: 0, total: 2, stands: true } },
    }),
    /^Recreate: /,
  );
});

test("notRolledOut() says nothing where pods have the values, are being replaced, or are resized", () => {
  const pods = [workloadPod("web-1", [templateContainer(VALUES)])];
  assert.match(outcomeOf(recreated(true, { pods })), /^BelowThreshold /);
  assert.match(outcomeOf(recreated(false)), /^RolloutHolds /);
  assert.deepEqual(clampsOf(recreated(true, { strategy: {} })), []);
});
