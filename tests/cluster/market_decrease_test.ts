/**
 * A limit of the market comes down when the container's own demand has fallen.
 *
 * @module
 */
import assert from "node:assert/strict";
import { appliedAllocation, assertAgreement } from "./scene/agreement.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { openRealNode } from "./scene/real_node.ts";
import { scratchNamespace } from "./scene/scratch_namespace.ts";
import { pause, until } from "./scene/until.ts";
import { withSettings } from "./scene/with_settings.ts";

Deno.test("the market raises a throttled container, and lowers it when its own usage has fallen", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  await using _settings = await withSettings({ market: { idleCPU: "tight", burstFactor: 4 } });
  const one = await node.run(loadPod({
    name: "one",
    namespace: namespace.name,
    containers: [{ name: "load", request: "50m", limit: "250m", threads: 2, burstSeconds: 25 }],
  }));
  await appliedAllocation(node, one);
  const directories = podDirectories(one);
  const quota = (): number => enforcedLimits(directories).containers.get("load") ?? 0;
  const { throttledMs } = cpuAccount(directories);
  await node.signal({ namespace: namespace.name, name: "one" }, "load");
  await until("larger quota", () => quota() >= 800 || undefined, { timeoutMs: 25_000 });
  assert.ok(cpuAccount(directories).throttledMs > throttledMs, "it was throttled before");
  // In steps, each after half a minute of lower demand.
  await until("smaller quota", () => quota() <= 600 || undefined, { timeoutMs: 150_000 });
  for (let i = 0; i < 50; i++) {
    assert.ok(quota() <= 600, `the quota of an idle container stays low, it is ${quota()} m`);
    await pause(100);
  }
  await assertAgreement(node, { namespace: namespace.name, name: "one" });
});
