import assert from "node:assert/strict";
import { parseNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { NODE_CLASS_PRESETS, nodeClassOf } from "../../../../shared/placement/node_classes.ts";
import {
  nodeLease,
  nodeObject,
  nodeStatus,
  SCENE,
  sceneBounds,
  SIMULATED,
} from "./simulated_node.ts";

const NOW = 1_700_000_000_123;

Deno.test({
  name:
    "nodeObject() makes nodes of both classes, as the product reads them, for a scene's pods alone",
  permissions: "none",
  fn() {
    for (const one of ["spot", "on-demand"] as const) {
      const node = { name: `${one}-1`, class: one, scene: "burst", pods: 7 };
      const { metadata, ...rest } = nodeObject(node) as {
        metadata: { name: string; labels: Record<string, string> };
        spec: { taints: { key: string }[] };
      };
      assert.ok(metadata.name > "coallocator-node");
      const raw = {
        ...rest,
        metadata: { ...metadata, uid: "u1", resourceVersion: "1" },
        status: nodeStatus(node, NOW),
      };
      const { labels = {}, ready } = parseNode(raw);
      assert.equal(ready, true);
      assert.equal(nodeClassOf(labels, NODE_CLASS_PRESETS.karpenter), one);
      assert.equal("kubernetes.io/os" in labels, false);
      const { nodeSelector, tolerations } = sceneBounds("burst") as {
        nodeSelector: Record<string, string>;
        tolerations: { key: string }[];
      };
      assert.deepEqual(nodeSelector, { [SCENE]: "burst" });
      assert.equal(labels[SCENE], "burst");
      assert.deepEqual(rest.spec.taints.map(({ key }) => key), [SIMULATED]);
      assert.ok(tolerations.some(({ key }) => key === SIMULATED));
    }
  },
});

Deno.test({
  name: "nodeLease() is a Lease that goes with its node",
  permissions: "none",
  fn() {
    const lease = nodeLease({ name: "z-spot-1", uid: "u1" }, NOW) as {
      metadata: { ownerReferences: { uid: string }[] };
      spec: { renewTime: string };
    };
    assert.equal(lease.metadata.ownerReferences[0]?.uid, "u1");
    assert.equal(lease.spec.renewTime, "2023-11-14T22:13:20.123000Z");
  },
});
