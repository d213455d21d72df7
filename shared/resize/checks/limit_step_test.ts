import assert from "node:assert/strict";
import fc from "fast-check";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { EnforcementInput, PodVerdict } from "../inputs/resize_input.ts";
import { limitsOf, limitsWanted } from "../inputs/subject.ts";
import { copiesOutOfSync, oscillates, stepTooLarge } from "./limit_step.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** A pod with two containers at 200 m. */
function input(fields: Partial<EnforcementInput>): EnforcementInput {
  const containers = [enforcedContainer(), enforcedContainer({ name: "proxy" })];
  return enforcementInput({ pod: enforcedPod({ containers }), ...fields });
}

function outOfSync(limits: Readonly<Record<string, number>>, kinds = ["namespaces"]): PodVerdict {
  return copiesOutOfSync(
    input({ outOfSync: kinds }),
    limitsWanted(undefined, Object.entries(limits)),
  );
}

function swinging(limits: Readonly<Record<string, number>>, oscillatingMs = 9000): PodVerdict {
  return oscillates(input({ oscillatingMs }), limitsWanted(undefined, Object.entries(limits)));
}

test("copiesOutOfSync() lets decreases pass, and all while the copies follow", () => {
  assert.equal(outOfSync({ app: 100, proxy: 200 }), undefined);
  assert.equal(outOfSync({ app: 900 }, []), undefined);
});

test("copiesOutOfSync() leaves raises out, and holds where nothing else is wanted", () => {
  const clamped = outOfSync({ app: 100, proxy: 300 });
  assert.ok(clamped?.verdict === "clamp");
  assert.deepEqual([...limitsOf(clamped.wanted)], [["app", 100], ["proxy", 200]]);
  const held = outOfSync({ app: 300 }, ["nodes", "resourceQuotas"]);
  assert.ok(held?.verdict === "hold");
  assert.deepEqual([held.reason, held.retryAfterMs], ["OutOfSync", 2000]);
  assert.match(held.message, /nodes, resourceQuotas/);
});

test("oscillates() leaves decreases out, and holds where nothing else is wanted", () => {
  assert.equal(swinging({ app: 100 }, 0), undefined);
  assert.equal(swinging({ app: 300, proxy: 200 }), undefined);
  const clamped = swinging({ app: 100, proxy: 300 });
  assert.ok(clamped?.verdict === "clamp");
  assert.deepEqual([...limitsOf(clamped.wanted)], [["app", 200], ["proxy", 300]]);
  const held = swinging({ app: 100 });
  assert.ok(held?.verdict === "hold");
  assert.deepEqual([held.reason, held.retryAfterMs], ["Oscillating", 9000]);
});

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
