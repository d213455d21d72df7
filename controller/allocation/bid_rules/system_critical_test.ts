import assert from "node:assert/strict";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import { systemCritical } from "./system_critical.ts";

function said(priorityClassName: string | undefined) {
  const pod = samplePod("web");
  const classified = priorityClassName === undefined ? pod : { ...pod, priorityClassName };
  return systemCritical(bidFacts({ ...classified, priority: 2_000_001_000 }));
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("systemCritical() holds the limits of both classes of the system from below", () => {
  for (const name of ["system-cluster-critical", "system-node-critical"]) {
    assert.deepEqual(said(name), [
      { reason: "SystemCritical", held: "lower", message: `the class is ${name}` },
    ]);
  }
});

test("systemCritical() says nothing of other classes, however high, or of none", () => {
  assert.deepEqual(said("system-critical"), []);
  assert.deepEqual(said("gold"), []);
  assert.deepEqual(said(undefined), []);
});
