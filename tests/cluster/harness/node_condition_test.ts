import assert from "node:assert/strict";
import { allocatableCPU, notReady } from "./node_condition.ts";

const node = (status: string, taints: readonly unknown[] = []): unknown => ({
  spec: { taints },
  status: {
    allocatable: { cpu: "2" },
    conditions: [{ type: "Ready", status, message: "container-runtime-down" }],
  },
});

Deno.test({
  name: "notReady() is undefined for a ready node without taints, else a reason",
  permissions: "none",
  fn() {
    assert.equal(notReady(node("True")), undefined);
    assert.equal(notReady(node("True", [{ key: "k", effect: "PreferNoSchedule" }])), undefined);
    assert.equal(notReady(node("False")), "container-runtime-down");
    const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
    assert.match(notReady(node("True", [taint])) ?? "", /not-ready/);
    for (const empty of [undefined, null, {}, { status: { conditions: 5 } }]) {
      assert.match(notReady(empty) ?? "", /no condition/);
    }
  },
});

Deno.test({
  name: "allocatableCPU() is what the node says, undefined when it says nothing",
  permissions: "none",
  fn() {
    assert.equal(allocatableCPU(node("True")), "2");
    assert.equal(allocatableCPU({}), undefined);
  },
});
