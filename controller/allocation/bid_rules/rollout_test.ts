import assert from "node:assert/strict";
import type { RolloutState, WorkloadKind } from "../../../shared/api/workload.ts";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
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
  const [effect, ...more] = said({ updated: 1, total: 4 });
  assert.deepEqual(more, []);
  assert.equal(effect?.reason, "RolloutInProgress");
  assert.equal(effect?.held, "lower");
  assert.match(effect?.message ?? "", /^Deployment web /);
  assert.equal(effect?.untilMs, undefined);
});

test("rollout() ends the hold of a rollout that makes no step, but for Deployments", () => {
  const after = (stillMs: number, kind: WorkloadKind) => {
    const workload = { ...sampleWorkload({ rollout: { updated: 1, total: 4 } }), kind };
    const rolloutStillSinceMs = FACTS_NOW_MS - stillMs;
    return rollout(bidFacts(samplePod("web"), { workload, rolloutStillSinceMs }));
  };
  for (const kind of ["StatefulSet", "DaemonSet"] as const) {
    const [effect] = after(599_000, kind);
    assert.deepEqual([effect?.held, effect?.untilMs], ["lower", FACTS_NOW_MS + 1000]);
    assert.deepEqual(after(600_000, kind), []);
  }
  const [effect] = after(600_000, "Deployment");
  assert.deepEqual([effect?.held, effect?.untilMs], ["lower", undefined]);
});
