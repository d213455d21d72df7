import assert from "node:assert/strict";
import { clearMarket } from "@coallocator/coallocator/market";
import { decide, MANUAL_CHAIN, parsePod, resizePatch } from "@coallocator/coallocator/resize";
import { pure } from "../../tests/fixtures/pure.ts";

pure("the library clears a market, and makes the patch of a limit that a pod may have", () => {
  const bids = [900, 2000].map((demand, index) => ({
    weight: [100, 300][index] ?? 0,
    floor: 0,
    ceiling: 4000,
    demand,
  }));
  assert.deepEqual([...clearMarket(bids, 1000).shares], [250, 750]);
  const resources = { requests: { cpu: "250m" }, limits: { cpu: "500m" } };
  const pod = parsePod({
    metadata: { namespace: "shop", name: "web", uid: "u", resourceVersion: "1" },
    spec: { nodeName: "node-1", containers: [{ name: "app", resources }] },
    status: {
      phase: "Running",
      qosClass: "Burstable",
      containerStatuses: [{ name: "app", containerID: "c://1", resources }],
    },
  });
  const { changes } = decide(MANUAL_CHAIN, { pod }, { limits: [["app", 750]] });
  assert.deepEqual(resizePatch(pod.metadata.uid, changes), {
    metadata: { uid: "u" },
    spec: { containers: [{ name: "app", resources: { limits: { cpu: "750m" } } }] },
  });
});
