import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { refusalOf, valueOf } from "../config/kinds.ts";
import { settingOf } from "../config/setting.ts";
import {
  DEFAULT_DEPARTURE_SIGNS,
  DEPARTURE_PRESETS,
  departureOf,
  type DepartureSigns,
  departureSignsKind,
} from "./node_departure.ts";
import { PLACEMENT_SETTINGS } from "./settings.ts";

function tainted(key: string, { value = "", effect = "NoSchedule" } = {}) {
  return { taints: [{ key: "dedicated", value: "gpu", effect }, { key, value, effect }] };
}

pure("departureOf() has the signs of all presets by default", () => {
  const AWS = "aws-node-termination-handler";
  const signs: readonly (readonly [key: string, drained: boolean])[] = [
    [`${AWS}/spot-itn`, false],
    [`${AWS}/scheduled-maintenance`, false],
    [`${AWS}/asg-lifecycle-termination`, false],
    ["cloud.google.com/impending-node-termination", false],
    ["karpenter.sh/disrupted", true],
    ["ToBeDeletedByClusterAutoscaler", true],
    ["karpenter.sh/disruption", true],
  ];
  for (const [key, drained] of signs) {
    const value = key === "karpenter.sh/disruption" ? "disrupting" : "";
    const departure = departureOf(tainted(key, { value }), DEFAULT_DEPARTURE_SIGNS);
    assert.deepEqual(departure, { sign: `taint ${key}`, drained });
  }
  for (const alarm of ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"]) {
    const departure = departureOf({ alarms: ["Odd", alarm] }, DEFAULT_DEPARTURE_SIGNS);
    assert.deepEqual(departure, { sign: `condition ${alarm}`, drained: false });
  }
});

pure("departureOf() prefers the sign of a sudden end to that of a drain", () => {
  const { taints } = tainted("karpenter.sh/disrupted");
  const itn = tainted("aws-node-termination-handler/spot-itn").taints;
  const signOf = (node: Parameters<typeof departureOf>[0]) =>
    departureOf(node, DEFAULT_DEPARTURE_SIGNS)?.sign;
  assert.match(signOf({ taints: [...taints, ...itn] }) ?? "", /spot-itn$/);
  assert.equal(signOf({ taints, alarms: ["PreemptScheduled"] }), "condition PreemptScheduled");
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

pure("departureOf() compares value and effect if the sign has them", () => {
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

pure("departureSignsKind parses presets, by default all of them", () => {
  assert.deepEqual(
    valueOf(departureSignsKind, settingOf(PLACEMENT_SETTINGS.shape.departureSigns).default),
    DEFAULT_DEPARTURE_SIGNS,
  );
  assert.deepEqual(valueOf(departureSignsKind, "aks"), DEPARTURE_PRESETS.aks);
  assert.deepEqual(valueOf(departureSignsKind, ""), { taints: [], conditions: [] });
});

pure("departureSignsKind parses one's own signs, alone or beside presets", () => {
  const taints = [
    { key: "example.com/going", effect: "NoSchedule" },
    { key: "example.com/drained", drained: true },
  ];
  const own = { taints, conditions: ["Going"] };
  assert.deepEqual(valueOf(departureSignsKind, JSON.stringify(own)), own);
  assert.deepEqual(valueOf(departureSignsKind, JSON.stringify({ ...own, presets: ["aks"] })), {
    taints,
    conditions: [...DEPARTURE_PRESETS.aks.conditions, "Going"],
  });
});

pure("departureSignsKind explains faults", () => {
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
    assert.equal(valueOf(departureSignsKind, text), undefined);
    assert.match(refusalOf(departureSignsKind, text) ?? "", fault);
  }
});
