import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import type { Pod } from "../api/pod.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";
import {
  classifyPod,
  countByClass,
  type PodInput,
  revisionOf,
  runningByClass,
  waitingByClass,
} from "./placed_pod.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const TYPE = "karpenter.sh/capacity-type";
const SPOT = { ...sampleNode("node-1"), labels: { [TYPE]: "spot" } };

function tainted(key: string) {
  return { ...SPOT, taints: [{ key, value: "", effect: "NoSchedule" }] };
}

function classified(change: Partial<Pod> = {}, input: Partial<PodInput> = {}) {
  return classifyPod({ ...samplePod("web"), ...change }, {
    classes: NODE_CLASS_PRESETS.karpenter,
    departures: DEFAULT_DEPARTURE_SIGNS,
    node: SPOT,
    evicted: false,
    ...input,
  });
}

test("classifyPod() takes the class from the node, then from the selector, then from the label", () => {
  const { metadata } = samplePod("web");
  const classOf = (type?: string, label?: string, input: Partial<PodInput> = {}): string =>
    classified({
      ...(type === undefined ? {} : { nodeSelector: { [TYPE]: type } }),
      ...(label === undefined
        ? {}
        : { metadata: { ...metadata, labels: { "spotalis.io/capacity": label } } }),
    }, { node: undefined, ...input }).class;
  assert.equal(classOf(undefined, undefined, { node: SPOT }), "spot");
  assert.equal(classOf("spot", "spot", { node: sampleNode("node-1") }), "on-demand");
  assert.equal(classOf("spot", "on-demand"), "spot");
  assert.equal(classOf("on-demand", "spot"), "on-demand");
  assert.equal(classOf(undefined, "spot"), "spot");
  assert.equal(classOf(undefined, "none"), "on-demand");
  assert.equal(classOf(), "on-demand");
  const aks = { classes: NODE_CLASS_PRESETS.aks };
  assert.equal(classOf(undefined, "on-demand", aks), "on-demand");
  assert.equal(classOf(undefined, "spot", aks), "spot");
});

test("classifyPod() counts no pod that ends or loses its node, and only the latter departs", () => {
  const { metadata } = samplePod("web");
  const going = { node: tainted("karpenter.sh/disrupted") };
  const terminating = { metadata: { ...metadata, terminating: true } };
  const departs = "taint karpenter.sh/disrupted";
  for (
    const [pod, expected] of [
      [classified(), [false, undefined, undefined]],
      [classified({ phase: "Succeeded" }), [true, undefined, undefined]],
      [classified({ phase: "Failed" }), [true, undefined, undefined]],
      [classified(terminating, going), [true, undefined, undefined]],
      [classified({}, { evicted: true, ...going }), [true, undefined, undefined]],
      [classified({}, going), [true, departs, true]],
    ] as const
  ) assert.deepEqual([pod.gone, pod.departs, pod.drained], expected);
  const interrupted = { node: tainted("aws-node-termination-handler/spot-itn") };
  assert.equal(classified({}, interrupted).drained, undefined);
});

test("revisionOf() is a ReplicaSet's hash or a StatefulSet's revision", () => {
  assert.equal(revisionOf({ "pod-template-hash": "7d9f" }), "7d9f");
  assert.equal(revisionOf({ "controller-revision-hash": "db-5c6" }), "db-5c6");
  assert.equal(revisionOf({}), "");
});

test("runningByClass(), waitingByClass() and countByClass() count pods", () => {
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }, { ready: false }),
    ...placedPods({ spot: 1, "on-demand": 4 }, { scheduled: false }),
    ...placedPods({ spot: 4 }, { gone: true }),
    ...placedPods({ spot: 4 }, { gone: true, departs: "taint spot-itn" }),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 3, "on-demand": 2 });
  assert.deepEqual(waitingByClass(pods), { spot: 1, "on-demand": 4 });
  assert.deepEqual(countByClass(pods), { spot: 4, "on-demand": 6 });
  // A pod on a drained node still runs.
  const drained = placedPods({ "on-demand": 3 }, { gone: true, departs: "taint", drained: true });
  assert.deepEqual(runningByClass([...pods, ...drained]), { spot: 3, "on-demand": 5 });
  assert.deepEqual(countByClass(drained), { spot: 0, "on-demand": 0 });
});
