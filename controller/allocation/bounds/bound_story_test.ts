import assert from "node:assert/strict";
import type { BoundRule } from "../../../shared/api/pod_allocation.ts";
import { boundStory } from "./bound_story.ts";

function same(one: string, other: string, reason = "QuotaExceeded"): boolean {
  const rules = (message: string): BoundRule[] => [{ reason, message }];
  return boundStory(rules(one)) === boundStory(rules(other));
}

Deno.test({
  name: "boundStory() heeds causes and names, and no numbers",
  permissions: "none",
  fn() {
    assert.ok(same("app at most 431m: ResourceQuota", "app at most 80m: ResourceQuota"));
    assert.ok(same("dial 10.0.0.1:4711: refused", "dial 10.0.0.1:4712: refused"));
    assert.ok(!same("query jobs: refused", "query jobs: empty"));
    assert.ok(!same("HPA web-1 scales", "HPA web-2 scales"));
    assert.ok(!same("query jobs1: old", "query jobs2: old"));
    assert.ok(same("app could use 5m: a", "app could use 5m: b", "MetricDemand"));
    assert.equal(boundStory(undefined), boundStory([]));
  },
});
