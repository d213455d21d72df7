import assert from "node:assert/strict";
import {
  DEFAULT_DEPARTURE_SIGNS,
  DEPARTURE_PRESETS,
  departureOf,
  type DepartureSigns,
  departureSignsKind,
} from "./node_departure.ts";
import { PLACEMENT_ROWS } from "./settings.ts";

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
      "aws-node-termination-handler/spot-itn",
      "aws-node-termination-handler/scheduled-maintenance",
      "aws-node-termination-handler/asg-lifecycle-termination",
      "cloud.google.com/impending-node-termination",
    ]
  ) {
    assert.deepEqual(departureOf(tainted(key), signs), { sign: `taint ${key}`, drained: false });
  }
  for (const key of ["karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"]) {
    assert.deepEqual(departureOf(tainted(key), signs), { sign: `taint ${key}`, drained: true });
  }
  const before = tainted("karpenter.sh/disruption", { value: "disrupting" });
  assert.deepEqual(departureOf(before, signs), {
    sign: "taint karpenter.sh/disruption",
    drained: true,
  });
  for (const alarm of ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"]) {
    assert.deepEqual(departureOf({ alarms: ["Odd", alarm] }, signs), {
      sign: `condition ${alarm}`,
      drained: false,
    });
  }
});

pure(
  "departureOf() takes the sign of a node that is gone in a moment before that of its drain",
  () => {
    const signs = DEFAULT_DEPARTURE_SIGNS;
    const { taints } = tainted("karpenter.sh/disrupted");
    const itn = tainted("aws-node-termination-handler/spot-itn").taints;
    assert.equal(
      departureOf({ taints: [...taints, ...itn] }, signs)?.sign,
      "taint aws-node-termination-handler/spot-itn",
    );
    assert.equal(
      departureOf({ taints, alarms: ["PreemptScheduled"] }, signs)?.sign,
      "condition PreemptScheduled",
    );
  },
);

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
    departureOf(tainted("own", { value, effect }), signs)?.sign;
  assert.equal(of("now", "NoExecute"), "taint own");
  assert.equal(of("now", "NoSchedule"), undefined);
  assert.equal(of("later", "NoExecute"), undefined);
  assert.equal(departureOf({ alarms: ["Dying"] }, signs)?.sign, "condition Dying");
  assert.equal(departureOf(tainted("karpenter.sh/disrupted"), signs), undefined);
});

Deno.test({
  name: "departureSignsKind reads names of those who take nodes away, by default all of them",
  permissions: "none",
  fn() {
    assert.deepEqual(
      departureSignsKind.parse(PLACEMENT_ROWS.departureSigns.default),
      DEFAULT_DEPARTURE_SIGNS,
    );
    assert.deepEqual(departureSignsKind.parse("aks"), DEPARTURE_PRESETS.aks);
    assert.deepEqual(departureSignsKind.parse(""), { taints: [], conditions: [] });
  },
});

Deno.test({
  name: "departureSignsKind reads signs of one's own, alone or beside those of presets",
  permissions: "none",
  fn() {
    const taints = [
      { key: "example.com/going", effect: "NoSchedule" },
      { key: "example.com/drained", drained: true },
    ];
    const own = { taints, conditions: ["Going"] };
    assert.deepEqual(departureSignsKind.parse(JSON.stringify(own)), own);
    assert.deepEqual(departureSignsKind.parse(JSON.stringify({ ...own, presets: ["aks"] })), {
      taints,
      conditions: [...DEPARTURE_PRESETS.aks.conditions, "Going"],
    });
  },
});

Deno.test({
  name: "departureSignsKind names what does not fit",
  permissions: "none",
  fn() {
    for (
      const [text, fault] of [
        ["karpentr", /^presets\[0\] is "karpentr": .*karpenter, /],
        ['{"taint": []}', /^taint /],
        ['{"taints": [{"value": "x"}]}', /^taints\[0\]\.key is missing: /],
        [
          '{"conditions": ["Going", "MemoryPressure"]}',
          /^conditions\[1\] is "MemoryPressure": .* Ready, /,
        ],
        ['{"conditions": ["Ready"]}', /^conditions\[0\] is "Ready": .* Ready, /],
        ['{"conditions": [""]}', /^conditions\[0\] is "": .*1 /],
      ] as const
    ) {
      assert.equal(departureSignsKind.parse(text), undefined);
      assert.match(departureSignsKind.explain?.(text) ?? "", fault);
    }
  },
});
