import assert from "node:assert/strict";
import { noteRules } from "./watch_bounds.ts";

function listOf(...pods: readonly (readonly [string, readonly string[]])[]): unknown {
  return {
    items: pods.map(([podUID, reasons]) => ({
      spec: { podUID },
      status: { bounds: { rules: reasons.map((reason) => ({ reason })) } },
    })),
  };
}

Deno.test("noteRules() counts each pod once a reason, over all looks", () => {
  const seen = new Map<string, Set<string>>();
  noteRules(seen, listOf(["a", ["HPAFloor", "QuotaExceeded"]], ["b", ["HPAFloor"]]));
  noteRules(seen, listOf(["a", ["HPAFloor"]], ["c", []]));
  noteRules(seen, { items: [{ spec: { podUID: "d" } }, 5] });
  assert.deepEqual([...seen].map(([reason, pods]) => [reason, [...pods]]), [
    ["HPAFloor", ["a", "b"]],
    ["QuotaExceeded", ["a"]],
  ]);
});
