import assert from "node:assert/strict";
import { autoPolicy, NOW_MS, rightsizingFacts } from "../../tests/fixtures/rightsizing_facts.ts";
import { isBriefLack } from "./brief_lack.ts";
import type { WorkloadRecord } from "./workload_record.ts";

const POLICY = { namespace: "shop", name: "all" };
const BEFORE: WorkloadRecord = {
  workload: { kind: "Deployment", namespace: "shop", name: "web" },
  policy: POLICY,
  uid: "uid-web",
  status: "Applied",
  recommendedAtMs: NOW_MS - 60_000,
  recommendations: [],
  inForce: [],
};

Deno.test({
  name: "isBriefLack() is true for a workload that had enough within the hour, and has half of it",
  permissions: "none",
  fn() {
    const of = (change: Partial<WorkloadRecord>, have = 9, windowMs = 300_000): boolean =>
      isBriefLack(
        rightsizingFacts({
          samples: new Map([["app", have]]),
          policy: autoPolicy({}, { windowMs }),
        }),
        { before: { ...BEFORE, ...change }, now: { uid: "uid-web", policy: POLICY } },
      );
    assert.equal(of({}), true);
    assert.deepEqual([of({}, 5), of({}, 4)], [true, false]);
    assert.equal(of({ status: "Error" }), false);
    assert.equal(of({ reason: "InsufficientSamples" }), false);
    assert.equal(of({ uid: "uid-former" }), false);
    assert.equal(of({ policy: { ...POLICY, name: "other" } }), false);
    const anHourAgo = { recommendedAtMs: NOW_MS - 3_600_001 };
    assert.deepEqual([of(anHourAgo), of(anHourAgo, 9, 4_000_000)], [false, true]);
    assert.equal(isBriefLack(rightsizingFacts(), { before: undefined, now: BEFORE }), false);
  },
});
