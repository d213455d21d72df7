import assert from "node:assert/strict";
import { sampleNode } from "../../tests/contract/sample_objects.ts";
import { NODE_CLASS_PRESETS } from "./node_class_presets.ts";
import { hostClasses, volumeBounds } from "./volume_bounds.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("volumeBounds() has those of volumes that there are, by the namespace's claims", () => {
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const nodes = [[{ key: "zone", operator: "In", values: ["a"] }]] as const;
  const volumes = [
    { metadata, claim: "shop/data", nodes },
    { metadata, claim: "shop/anywhere" },
    { metadata, claim: "bank/logs", nodes },
  ];
  const claims = ["data", "anywhere", "logs", "new"];
  const found = volumeBounds(
    { namespace: "shop", claims },
    (claim) => volumes.filter((one) => one.claim === claim),
  );
  assert.deepEqual(found, [{ what: "its volume data", terms: nodes }]);
});

test("hostClasses() knows nodes by their host's label and by their names", () => {
  const labels = {
    "karpenter.sh/capacity-type": "spot",
    "kubernetes.io/hostname": "ip-10-0-0-1",
  };
  const onDemand = { "karpenter.sh/capacity-type": "on-demand" };
  const nodes = [
    { ...sampleNode("plain"), labels: onDemand },
    { ...sampleNode("labelled"), labels },
  ];
  const hosts = hostClasses(() => nodes, NODE_CLASS_PRESETS.karpenter);
  assert.deepEqual(["ip-10-0-0-1", "labelled", "plain", "gone"].map((host) => hosts.get(host)), [
    "spot",
    "spot",
    "on-demand",
    undefined,
  ]);
});

test("hostClasses() has no class for nodes to which none of the selectors sends a pod", () => {
  const preemptible = { "cloud.google.com/gke-provisioning": "preemptible" };
  const nodes = [sampleNode("plain"), { ...sampleNode("old"), labels: preemptible }];
  const classOf = (host: string, preset: "gke" | "aks") =>
    hostClasses(() => nodes, NODE_CLASS_PRESETS[preset]).get(host);
  assert.deepEqual([classOf("plain", "gke"), classOf("old", "gke")], [undefined, undefined]);
  // Where on-demand has no selector, nothing keeps its pods from any other node.
  assert.deepEqual([classOf("plain", "aks"), classOf("old", "aks")], ["on-demand", "on-demand"]);
});
