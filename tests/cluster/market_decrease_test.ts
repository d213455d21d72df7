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

Deno.test("the market raises a throttled container, and lowers it when its own usage has fallen", async () => {
  using node = await openRealNode();
  await using namespace = await scratchNamespace(node.connection);
  // The neighbours stay idle. They are lent what is free, so that it is not lent to the one.
  const names = ["one", ...Array.from({ length: 6 }, (_, i) => `idle-${i}`)];
  const [one] = await Promise.all(names.map((name) =>
    node.run(loadPod({
      name,
      namespace: namespace.name,
      containers: [{ name: "load", request: "50m", limit: "250m", threads: 2, burstSeconds: 25 }],
    }))
  ));
  assert.ok(one !== undefined);
  await appliedAllocation(node, one);
  const directories = podDirectories(one);
  const quota = (): number => enforcedLimits(directories).containers.get("load") ?? 0;
  const { throttledMs } = cpuAccount(directories);
  await node.signal({ namespace: namespace.name, name: "one" }, "load");
  await until("larger quota", () => quota() >= 800 || undefined, { timeoutMs: 25_000 });
  assert.ok(cpuAccount(directories).throttledMs > throttledMs, "it was throttled before");
  // In steps, each after half a minute of lower demand; what is left of the raise is lent to it.
  await until("smaller quota", () => quota() <= 600 || undefined, { timeoutMs: 150_000 });
  for (let i = 0; i < 50; i++) {
    assert.ok(quota() <= 600, `the quota of an idle container stays low, it is ${quota()} m`);
    await pause(100);
  }
  await assertAgreement(node, { namespace: namespace.name, name: "one" });
});
