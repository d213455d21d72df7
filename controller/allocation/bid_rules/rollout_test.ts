import assert from "node:assert/strict";
import type { RolloutState } from "../../../shared/api/workload.ts";
import { samplePod } from "../../../tests/contract/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/bid_facts.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { rollout } from "./rollout.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function said(state: Partial<RolloutState>) {
  return rollout(bidFacts(samplePod("web"), { workload: sampleWorkload({ rollout: state }) }));
}

test("rollout() says nothing of bare pods, other kinds and workloads that stand", () => {
  assert.deepEqual(rollout(bidFacts(samplePod("web"))), []);
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ updated: 1, stands: true }), []);
});

test("rollout() lowers nothing while pods of an old template are being replaced", () => {
  const [word, ...more] = said({ updated: 1, total: 4 });
  assert.deepEqual(more, []);
  assert.equal(word?.reason, "RolloutInProgress");
  assert.equal(word?.held, "lower");
  assert.match(word?.message ?? "", /^Deployment web rolls out/);
  assert.equal(word?.untilMs, undefined);
});
