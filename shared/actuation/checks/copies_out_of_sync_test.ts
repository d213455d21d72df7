import assert from "node:assert/strict";
import {
  enforcedContainer,
  enforcedPod,
  enforcementInput,
} from "../../../tests/fixtures/enforcement_input.ts";
import type { Verdict } from "../check.ts";
import { copiesOutOfSync } from "./copies_out_of_sync.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** What becomes of limits of a pod with two containers at 200 m. */
function verdict(limits: Readonly<Record<string, number>>, outOfSync = ["namespaces"]): Verdict {
  const containers = [enforcedContainer(), enforcedContainer({ name: "proxy" })];
  const input = enforcementInput({ pod: enforcedPod({ containers }), outOfSync });
  return copiesOutOfSync(input, new Map(Object.entries(limits)));
}

test("copiesOutOfSync() lets decreases pass, and all while the copies follow", () => {
  assert.equal(verdict({ app: 100, proxy: 200 }), undefined);
  assert.equal(verdict({ app: 900 }, []), undefined);
});

test("copiesOutOfSync() leaves raises out, and holds where nothing else is wanted", () => {
  const clamped = verdict({ app: 100, proxy: 300 });
  assert.ok(clamped?.verdict === "clamp");
  assert.deepEqual([...clamped.limits], [["app", 100], ["proxy", 200]]);
  const held = verdict({ app: 300 }, ["nodes", "resourceQuotas"]);
  assert.ok(held?.verdict === "hold");
  assert.deepEqual([held.reason, held.retryAfterMs], ["OutOfSync", 2000]);
  assert.match(held.message, /nodes, resourceQuotas/);
});
