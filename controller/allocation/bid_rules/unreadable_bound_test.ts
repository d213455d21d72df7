import assert from "node:assert/strict";
import { samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts } from "../../../tests/fixtures/market/bid_facts.ts";
import { unreadableBound } from "./unreadable_bound.ts";

Deno.test({
  name: "unreadableBound() holds all limits, once for each object that can't be read",
  permissions: "none",
  fn() {
    const said = (...unreadable: readonly string[]) =>
      unreadableBound(bidFacts(samplePod("web"), { unreadable }));
    assert.deepEqual(said(), []);
    assert.deepEqual(said("ResourceQuota cpu: so", "LimitRange mem: so"), [
      { reason: "UnreadableBound", held: "both", message: "ResourceQuota cpu: so" },
      { reason: "UnreadableBound", held: "both", message: "LimitRange mem: so" },
    ]);
  },
});
