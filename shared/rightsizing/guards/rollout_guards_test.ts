import assert from "node:assert/strict";
import {
  clampsOf,
  type FactsChoice,
  MI,
  outcomeOf,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import type { RightsizedWorkload } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { workload } = rightsizingFacts();
const withState = (change: Partial<RightsizedWorkload>): string =>
  outcomeOf({ workload: { ...workload, ...change } });

test("rolloutHolds() waits for a rollout to end, and for a paused one to go on", () => {
  const rollout = { updated: 1, total: 3, stands: false };
  assert.match(
    withState({ rollout }),
    /^RolloutHolds RolloutInProgress: Deployment web .*1 of 3 pods /,
  );
  assert.match(withState({ paused: true }), /^RolloutHolds RolloutPaused: .*Deployment web /);
  assert.match(withState({ rollout: { ...rollout, updated: 3 } }), /^InPlace: /);
  assert.match(withState({ rollout: { ...rollout, stands: true } }), /^InPlace: /);
});

const VALUES = { requestCPU: 150, requestMemory: 96 * MI };

/** A workload with the recommendation in its template. */
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

test("notRolledOut() reports pods that are not replaced, and holds nothing", () => {
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
