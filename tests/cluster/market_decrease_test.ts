/**
 * A limit of the market comes down when the container's own demand has fallen.
 *
 * @module
 */
import assert from "node:assert/strict";
import { appliedAllocation, assertAgreement, SETTLED } from "./scene/limits.ts";
import { loadPod } from "./scene/load_pod.ts";
import { cpuAccount, enforcedLimits, podDirectories } from "./scene/node_cgroups.ts";
import { onNode } from "./scene/real_node.ts";
import { pause, until } from "./scene/until.ts";
import { withTightLimits } from "./scene/product.ts";

withTightLimits();

Deno.test(
  "the market raises a throttled container's quota in its cgroup, and lowers it when others need the CPU",
  onNode(async (node, namespace) => {
    const loads = ["first", "second"].map((name) =>
      loadPod({
        name,
        namespace: namespace.name,
        containers: [{
          name: "load",
          request: "100m",
          limit: "300m",
          threads: 2,
          burstSeconds: 60,
        }],
      })
    );
    const [first, second] = await Promise.all(loads.map((load) => node.run(load)));
    assert.ok(first !== undefined && second !== undefined);
    const directories = podDirectories(first);
    const quota = (): number => enforcedLimits(directories).containers.get("load") ?? 0;
    await appliedAllocation(node, first);

    await node.signal(namespace.pod("first"), "load");
    const raised = await until("larger quota", () => quota() >= 900 ? quota() : undefined, SETTLED);
    await assertAgreement(node, namespace.pod("first"));
    const pod = await node.pod(namespace.pod("first"));
    assert.equal(pod?.metadata.uid, first.metadata.uid, "the pod was not replaced");

    await node.signal(namespace.pod("second"), "load");
    await until("smaller quota", () => quota() < raised ? true : undefined, SETTLED);
    await assertAgreement(node, namespace.pod("second"));
  }),
);

Deno.test(
  "the market raises a throttled container, and lowers it when its own usage has fallen",
  onNode(async (node, namespace) => {
    const one = await node.run(loadPod({
      name: "one",
      namespace: namespace.name,
      containers: [{ name: "load", request: "50m", limit: "250m", threads: 2, burstSeconds: 25 }],
    }));
    await appliedAllocation(node, one);
    const directories = podDirectories(one);
    const quota = (): number => enforcedLimits(directories).containers.get("load") ?? 0;
    const { throttledMs } = cpuAccount(directories);
    await node.signal(namespace.pod("one"), "load");
    await until("larger quota", () => quota() >= 800 || undefined, { timeoutMs: 25_000 });
    assert.ok(cpuAccount(directories).throttledMs > throttledMs, "it was throttled before");
    // In steps, each after half a minute of lower demand.
    await until("smaller quota", () => quota() <= 600 || undefined, { timeoutMs: 150_000 });
    for (let i = 0; i < 50; i++) {
      assert.ok(quota() <= 600, `the quota of an idle container stays low, it is ${quota()} m`);
      await pause(100);
    }
    await assertAgreement(node, namespace.pod("one"));
  }),
);
