import assert from "node:assert/strict";
import { outcomeOf, rightsizingFacts } from "../../../tests/fixtures/rightsizing_facts.ts";
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
