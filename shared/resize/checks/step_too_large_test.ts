import assert from "node:assert/strict";
import fc from "fast-check";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import { stepTooLarge } from "./step_too_large.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The limit after one step, millicores. */
function step(from: number, to: number, maxStep?: number): number | undefined {
  const pod = enforcedPod({ containers: [enforcedContainer({ limits: { cpu: from } })] });
  const input = enforcementInput({ pod, ...(maxStep === undefined ? {} : { maxStep }) });
  const verdict = stepTooLarge(input, new Map([["app", { requests: {}, limits: { cpu: to } }]]));
  if (verdict === undefined) return to;
  return verdict.verdict === "clamp" ? verdict.wanted.get("app")?.limits.cpu : undefined;
}

test("stepTooLarge() bounds a change in both directions, when it is set", () => {
  assert.equal(step(200, 8000), 8000);
  assert.equal(step(200, 8000, 1.5), 300);
  assert.equal(step(300, 10, 1.5), 200);
  assert.equal(step(200, 290, 1.5), 290);
});

test("stepTooLarge() leads to any limit in the end", () => {
  const limit = fc.integer({ min: 1, max: 2000 });
  fc.assert(
    fc.property(limit, limit, fc.double({ min: 1.1, max: 3, noNaN: true }), (a, b, most) => {
      let present = a;
      for (let steps = 0; present !== b; steps++) {
        assert.ok(steps < 200, `${a} to ${b} by ${most}`);
        present = step(present, b, most) ?? NaN;
      }
    }),
  );
});
