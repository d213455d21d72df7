import assert from "node:assert/strict";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import type { EnforcementInput, PodVerdict } from "../inputs/resize_input.ts";
import { limitsOf, limitsWanted } from "../inputs/subject.ts";
import { copiesOutOfSync, oscillates } from "./direction.ts";

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
