import assert from "node:assert/strict";
import { placedPods } from "../../tests/fixtures/placed_pods.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import {
  classifyPod,
  countByClass,
  podClassOf,
  type PodInput,
  revisionOf,
  runningByClass,
  waitingByClass,
} from "./placed_pod.ts";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import type { Pod } from "../api/pod.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { karpenter, aks } = NODE_CLASS_PRESETS;
const TYPE = "karpenter.sh/capacity-type";
const LABEL = "spotalis.io/capacity";

test("podClassOf() believes the node more than the pod", () => {
  const pod = { labels: { [LABEL]: "spot" }, nodeSelector: { [TYPE]: "spot" } };
  assert.equal(podClassOf({ ...pod, nodeLabels: {} }, karpenter), "on-demand");
  const bare = { labels: {}, nodeSelector: {}, nodeLabels: { [TYPE]: "spot" } };
  assert.equal(podClassOf(bare, karpenter), "spot");
});

test("podClassOf() takes what an unscheduled pod was made for", () => {
  const classOf = (label: string, type?: string): string =>
    podClassOf(
      { labels: { [LABEL]: label }, nodeSelector: type === undefined ? {} : { [TYPE]: type } },
      karpenter,
    );
  assert.equal(classOf("on-demand", "spot"), "spot");
  assert.equal(classOf("spot", "on-demand"), "on-demand");
  assert.equal(classOf("spot"), "spot");
  assert.equal(classOf("none"), "on-demand");
  const pod = { labels: { [LABEL]: "on-demand" }, nodeSelector: {} };
  assert.equal(podClassOf(pod, aks), "on-demand");
  assert.equal(podClassOf({ ...pod, labels: { [LABEL]: "spot" } }, aks), "spot");
});

test("revisionOf() is a ReplicaSet's hash or a StatefulSet's revision", () => {
  assert.equal(revisionOf({ "pod-template-hash": "7d9f" }), "7d9f");
  assert.equal(revisionOf({ "controller-revision-hash": "db-5c6" }), "db-5c6");
  assert.equal(revisionOf({}), "");
});

test("countByClass() leaves out what is gone", () => {
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }),
    ...placedPods({ spot: 4 }, { gone: true }),
  ];
  assert.deepEqual(countByClass(pods), { spot: 3, "on-demand": 2 });
});

test("runningByClass() and waitingByClass() part pods by whether they have a node", () => {
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }, { ready: false }),
    ...placedPods({ spot: 1, "on-demand": 4 }, { scheduled: false }),
    ...placedPods({ spot: 4 }, { gone: true }),
    ...placedPods({ spot: 4 }, { gone: true, departs: "taint spot-itn" }),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 3, "on-demand": 2 });
  assert.deepEqual(waitingByClass(pods), { spot: 1, "on-demand": 4 });
});

test("runningByClass() counts who is on a node that is drained, where countByClass() does not", () => {
  const pods = [
    ...placedPods({ spot: 2 }),
    ...placedPods({ "on-demand": 3 }, { gone: true, departs: "taint disrupted", drained: true }),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 2, "on-demand": 3 });
  assert.deepEqual(countByClass(pods), { spot: 2, "on-demand": 0 });
});

const SPOT = { ...sampleNode("node-1"), labels: { "karpenter.sh/capacity-type": "spot" } };
const GOING = {
  ...SPOT,
  taints: [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }],
};

function standing(change: Partial<Pod> = {}, facts: Partial<PodInput> = {}) {
  return classifyPod({ ...samplePod("web"), ...change }, {
    classes: NODE_CLASS_PRESETS.karpenter,
    departures: DEFAULT_DEPARTURE_SIGNS,
    node: SPOT,
    evicted: false,
    ...facts,
  });
}

Deno.test("podStanding() goes by the node, and by what the pod asks for while none is known", () => {
  const asks = { nodeSelector: { "karpenter.sh/capacity-type": "spot" } };
  assert.deepEqual(
    [
      standing().class,
      standing(asks, { node: sampleNode("node-1") }).class,
      standing(asks, { node: undefined }).class,
      standing({}, { node: undefined }).class,
    ],
    ["spot", "on-demand", "spot", "on-demand"],
  );
});

Deno.test("podStanding() counts nobody who goes, and says why only of who stays otherwise", () => {
  const { metadata } = samplePod("web");
  const terminating = { metadata: { ...metadata, terminating: true } };
  for (
    const [given, gone, departs] of [
      [standing(), false, undefined],
      [standing({ phase: "Succeeded" }), true, undefined],
      [standing({ phase: "Failed" }), true, undefined],
      [standing(terminating, { node: GOING }), true, undefined],
      [standing({}, { evicted: true, node: GOING }), true, undefined],
      [standing({}, { node: GOING }), true, "taint karpenter.sh/disrupted"],
    ] as const
  ) {
    assert.deepEqual([given.gone, given.departs], [gone, departs]);
  }
  const taints = [{
    key: "aws-node-termination-handler/spot-itn",
    value: "",
    effect: "NoSchedule",
  }];
  const interrupted = standing({}, { node: { ...SPOT, taints } });
  assert.deepEqual([standing({}, { node: GOING }).drained, interrupted.drained], [true, undefined]);
});
