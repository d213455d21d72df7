import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import { listedObjects } from "./listed_objects.ts";

Deno.test("listedObjects() finds each object as it is asked for, and nothing where there is nothing", () => {
  const volume = { metadata: { name: "pv", uid: "", resourceVersion: "" }, claim: "shop/data" };
  const pod = samplePod("web");
  const objects = listedObjects({ pods: [pod], nodes: [sampleNode("a")], volumes: [volume] });
  assert.equal(objects.node("a")?.metadata.name, "a");
  assert.equal(objects.node("b"), undefined);
  assert.deepEqual(objects.volumesOf("shop/data"), [volume]);
  assert.deepEqual(objects.volumesOf("shop/other"), []);
  // A pod that nobody controls is nobody's.
  assert.deepEqual(objects.podsOwnedBy(""), []);
  const none = listedObjects({});
  assert.deepEqual([none.budgetsIn("shop"), none.replicaSetsOwnedBy("d"), [...none.nodes()]], [
    [],
    [],
    [],
  ]);
  assert.equal(none.namespace("shop"), undefined);
});
