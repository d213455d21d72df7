import assert from "node:assert/strict";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  marketWish,
} from "../../../tests/fixtures/enforcement_input.ts";
import type { Pod } from "../../api/pod.ts";
import { MARKET_CHAIN } from "../chains.ts";
import type { EnforcementInput } from "../check.ts";
import { decide } from "../decide.ts";
import { arbitrate } from "../intent.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function heldBy(fields: Partial<EnforcementInput>, chain = MARKET_CHAIN): string {
  const { changes, by, reason } = decide(chain, enforcementInput(fields));
  assert.deepEqual(changes, []);
  return `${by} ${reason}`;
}

test("decide() goes on when the kubelet reports an error, and tells it", () => {
  const condition = { type: "PodResizeInProgress", reason: "Error", message: "cgroup is busy" };
  const failing = enforcedPod({
    containers: [enforcedContainer({ limitCPU: 400 })],
    resizeConditions: [{ ...condition, type: "PodResizeInProgress" }],
  });
  assert.equal(heldBy({ pod: failing }), "AlreadyThere ResizeError");
  const intents = arbitrate([marketWish(300)]);
  assert.equal(decide(MARKET_CHAIN, enforcementInput({ pod: failing, intents })).changes.length, 1);
});

test("decide() passes over what the kubelet said of an older resize", () => {
  const { metadata } = enforcedPod();
  const said = (observedGeneration: number): Pod =>
    enforcedPod({
      metadata: { ...metadata, generation: 3 },
      containers: [enforcedContainer({ limitCPU: 400 })],
      resizeConditions: [{
        type: "PodResizePending",
        reason: "Infeasible",
        message: "no",
        observedGeneration,
      }],
    });
  assert.equal(heldBy({ pod: said(3) }), "AlreadyThere ResizeInfeasible");
  assert.equal(heldBy({ pod: said(2) }), "AlreadyThere ResizeInProgress");
});
