import assert from "node:assert/strict";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import { sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import { createQuotaMemory } from "./quota_memory.ts";

Deno.test({
  name: "createQuotaMemory() reports what a quota allows from what is used of it",
  permissions: "none",
  fn() {
    let quota: ResourceQuota | undefined = sampleQuota();
    const isAnother = createQuotaMemory({ all: () => [].values(), get: () => quota });
    const after = (change: Partial<ResourceQuota> | undefined): boolean => {
      quota = change && sampleQuota(change);
      return isAnother("shop/cpu");
    };
    assert.ok(after({}));
    assert.ok(!after({ usedLimitsCPU: 900 }));
    assert.ok(after({ hardLimitsCPU: 900 }));
    assert.ok(after({ requestsCPU: { hard: 500, used: 0 } }));
    assert.ok(!after({ requestsCPU: { hard: 500, used: 100 } }));
    assert.ok(after({ scopes: [{ name: "Terminating", operator: "Exists", values: [] }] }));
    assert.ok(after(undefined));
    assert.ok(!after(undefined));
  },
});
