import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import type { Pod } from "../api/pod.ts";
import { NODE_CLASS_PRESETS } from "./node_class_presets.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";
import { podStanding, type StandingFacts } from "./pod_standing.ts";

const SPOT = { ...sampleNode("node-1"), labels: { "karpenter.sh/capacity-type": "spot" } };
const GOING = {
  ...SPOT,
  taints: [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }],
};

function standing(change: Partial<Pod> = {}, facts: Partial<StandingFacts> = {}) {
  return podStanding({ ...samplePod("web"), ...change }, {
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
