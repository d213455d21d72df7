import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { createObjectCache } from "../../../shared/control/object_cache.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { nodeCeiling, nodeRoom } from "./node_room.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NODE = sampleNode("node-1");

function podWith(change: Partial<Pod>, ...containers: readonly PodContainer[]): Pod {
  return { ...samplePod("web", { containers }), ...change };
}

test("nodeRoom() is allocatable less the requests of pods that have not finished", () => {
  const asking = (requestCPU: number) => sampleContainer({ requests: { cpu: requestCPU } });
  assert.equal(nodeRoom(NODE, []), 4000);
  const pods = [
    podWith({ phase: "Running" }, asking(1000), asking(500)),
    podWith({ phase: "Pending" }, asking(300)),
    podWith({ phase: "Succeeded" }, asking(700)),
    podWith({ phase: "Failed" }, asking(700)),
  ];
  assert.equal(nodeRoom(NODE, pods), 2200);
  assert.equal(nodeRoom(NODE, [podWith({}, asking(5000))]), -1000);
});

test("nodeRoom() counts a request that has not fallen yet", () => {
  const falling = sampleContainer({ requests: { cpu: 100 }, applied: { requests: { cpu: 900 } } });
  assert.equal(nodeRoom(NODE, [podWith({}, falling)]), 3100);
});

test("nodeRoom() counts the largest init container where it asks for more than the others", () => {
  const app = sampleContainer({ requests: { cpu: 200 } });
  const proxy = sampleContainer({ name: "proxy", sidecar: true, requests: { cpu: 50 } });
  const init = (requestCPU: number) =>
    sampleContainer({ name: "init", requests: { cpu: requestCPU } });
  const withInit = (...requests: readonly number[]) =>
    nodeRoom(NODE, [podWith({ initContainers: requests.map(init) }, app, proxy)]);
  assert.equal(withInit(), 3750);
  assert.equal(withInit(100, 150), 3750);
  assert.equal(withInit(100, 300), 3650);
});

test("nodeCeiling() is what a Guaranteed pod has and all that is free on its node", () => {
  const cache = createObjectCache<Pod>(({ metadata, nodeName }) => [
    metadata.namespace,
    `node/${nodeName}`,
  ]);
  const own = samplePod("own", { containers: [sampleGuaranteed(), sampleGuaranteed()] });
  cache.put(own);
  cache.put(samplePod("other", { containers: [sampleContainer({ requests: { cpu: 2985 } })] }));
  cache.put(samplePod("far", { nodeName: "node-2" }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400 + 610);
  assert.equal(nodeCeiling({ pod: own, node: undefined }, cache), undefined);
  assert.equal(nodeCeiling({ pod: samplePod("web"), node: NODE }, cache), undefined);
  cache.put(samplePod("more", { containers: [sampleContainer({ requests: { cpu: 1000 } })] }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400);
});
