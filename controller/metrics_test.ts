import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { sampleAllocation, samplePod } from "../tests/contract/support/sample_objects.ts";
import { createControllerMetrics } from "./metrics.ts";
import type { ControllerSettings } from "./settings.ts";

function allocation(status: PodAllocation["status"]): PodAllocation {
  return { ...sampleAllocation(samplePod("web")), status };
}

async function scraped(allocations: readonly PodAllocation[]): Promise<readonly string[]> {
  const registry = new Registry();
  const settings = { market: true, dryRun: false } as ControllerSettings;
  createControllerMetrics(registry, {
    allocations: () => allocations,
    synced: () => [],
    settings: () => settings,
    settingsValid: () => true,
  });
  return (await registry.metrics()).split("\n").filter((line) => line.includes("reason="));
}

Deno.test({
  name: "createControllerMetrics() counts reasons of other versions under one reason",
  async fn() {
    const rules = (...reasons: readonly string[]) =>
      reasons.map((reason) => ({ reason, message: "as published" }));
    const bounds = { revision: 1, reason: "", containers: [] };
    assert.deepEqual(
      await scraped([
        allocation(undefined),
        allocation({ phase: "Applied", reason: "Applied" }),
        allocation({ phase: "Failed", reason: "OfALaterVersion" }),
        allocation({
          bounds: { ...bounds, rules: rules("NodeSize", "NodeSize", "Later", "Latest") },
        }),
      ]),
      [
        'mbcas_allocations{phase="Pending",reason="Waiting"} 2',
        'mbcas_allocations{phase="Applied",reason="Applied"} 1',
        'mbcas_allocations{phase="Failed",reason="OtherVersion"} 1',
        'mbcas_bounds{reason="NodeSize"} 1',
        'mbcas_bounds{reason="OtherVersion"} 1',
      ],
    );
  },
});
