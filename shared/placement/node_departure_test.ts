import assert from "node:assert/strict";
import { DEFAULT_DEPARTURE_SIGNS, departureOf, type DepartureSigns } from "./node_departure.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function tainted(key: string, { value = "", effect = "NoSchedule" } = {}) {
  return { taints: [{ key: "dedicated", value: "gpu", effect }, { key, value, effect }] };
}

pure("departureOf() knows those who take nodes away by default", () => {
  const signs = DEFAULT_DEPARTURE_SIGNS;
  for (
    const key of [
      "karpenter.sh/disrupted",
      "ToBeDeletedByClusterAutoscaler",
      "aws-node-termination-handler/spot-itn",
      "aws-node-termination-handler/scheduled-maintenance",
      "aws-node-termination-handler/asg-lifecycle-termination",
      "cloud.google.com/impending-node-termination",
    ]
  ) {
    assert.equal(departureOf(tainted(key), signs), `taint ${key}`);
  }
  const before = tainted("karpenter.sh/disruption", { value: "disrupting" });
  assert.equal(departureOf(before, signs), "taint karpenter.sh/disruption");
  for (const alarm of ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"]) {
    assert.equal(departureOf({ alarms: ["Odd", alarm] }, signs), `condition ${alarm}`);
  }
});

pure("departureOf() leaves nodes that stay", () => {
  for (
    const node of [
      {},
      tainted("DeletionCandidateOfClusterAutoscaler"),
      tainted("node.kubernetes.io/unschedulable"),
      tainted("karpenter.sh/disruption", { value: "candidate" }),
      tainted("aws-node-termination-handler/rebalance-recommendation"),
      { alarms: ["FreezeScheduled"] },
    ]
  ) {
    assert.equal(departureOf(node, DEFAULT_DEPARTURE_SIGNS), undefined, JSON.stringify(node));
  }
});

pure("departureOf() asks for value and effect where the sign has them", () => {
  const signs: DepartureSigns = {
    taints: [{ key: "own", value: "now", effect: "NoExecute" }],
    conditions: ["Dying"],
  };
  const of = (value: string, effect: string) =>
    departureOf(tainted("own", { value, effect }), signs);
  assert.equal(of("now", "NoExecute"), "taint own");
  assert.equal(of("now", "NoSchedule"), undefined);
  assert.equal(of("later", "NoExecute"), undefined);
  assert.equal(departureOf({ alarms: ["Dying"] }, signs), "condition Dying");
  assert.equal(departureOf(tainted("karpenter.sh/disrupted"), signs), undefined);
});
