import assert from "node:assert/strict";
import { sampleNode } from "../../tests/contract/sample_objects.ts";
import { knownNodes } from "./known_nodes.ts";
import { NODE_CLASS_PRESETS } from "./node_class_presets.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("knownNodes() knows nodes by their host's label and by their names", () => {
  const labels = {
    "karpenter.sh/capacity-type": "spot",
    "kubernetes.io/hostname": "ip-10-0-0-1",
  };
  const onDemand = { "karpenter.sh/capacity-type": "on-demand" };
  const nodes = [
    { ...sampleNode("plain"), labels: onDemand },
    { ...sampleNode("labelled"), labels },
  ];
  const known = knownNodes(() => nodes, NODE_CLASS_PRESETS.karpenter);
  assert.deepEqual(
    ["ip-10-0-0-1", "labelled", "plain", "gone"].map((host) => known.hostClass(host)),
    [
      "spot",
      "spot",
      "on-demand",
      undefined,
    ],
  );
});

test("knownNodes() has no class for nodes to which none of the selectors sends a pod", () => {
  const preemptible = { "cloud.google.com/gke-provisioning": "preemptible" };
  const nodes = [sampleNode("plain"), { ...sampleNode("old"), labels: preemptible }];
  const classOf = (host: string, preset: "gke" | "aks") =>
    knownNodes(() => nodes, NODE_CLASS_PRESETS[preset]).hostClass(host);
  assert.deepEqual([classOf("plain", "gke"), classOf("old", "gke")], [undefined, undefined]);
  // Where on-demand has no selector, nothing keeps its pods from any other node.
  assert.deepEqual([classOf("plain", "aks"), classOf("old", "aks")], ["on-demand", "on-demand"]);
});

test("knownNodes() knows pools whose nodes are all of one class", () => {
  const key = "eks.amazonaws.com/nodegroup";
  const node = (pool: string, type: string) => ({
    ...sampleNode(`${pool}-${type}`),
    labels: { [key]: pool, "eks.amazonaws.com/capacityType": type },
  });
  const nodes = [
    node("steady", "ON_DEMAND"),
    node("cheap", "SPOT"),
    node("cheap", "SPOT"),
    node("mixed", "SPOT"),
    node("mixed", "ON_DEMAND"),
  ];
  const known = knownNodes(() => nodes, NODE_CLASS_PRESETS.eks);
  assert.deepEqual(["steady", "cheap", "mixed", "empty"].map((one) => known.poolClass(key, one)), [
    "on-demand",
    "spot",
    undefined,
    undefined,
  ]);
});
