import assert from "node:assert/strict";
import { unwrittenRecord } from "./unwritten_record.ts";

/** A workload that a policy matches. */
function matched(namespace: string) {
  const record = {
    workload: { kind: "Deployment", namespace, name: "web" },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [],
  } as const;
  return { record, metricsMissing: false, difference: 0 };
}

Deno.test("unwrittenRecord() names a namespace of the policy's workloads, and no other", () => {
  const book = {
    unwritten: (namespace: string) => namespace === "bank" ? "forbidden" : undefined,
  };
  const both = { matched: [matched("shop"), matched("bank")] };
  const problem = unwrittenRecord(both, book);
  assert.equal(problem?.reason, "RecordNotWritten");
  assert.match(problem.message, / bank: forbidden$/);
  assert.equal(unwrittenRecord({ matched: [matched("shop")] }, book), undefined);
});
