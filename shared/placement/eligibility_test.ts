import assert from "node:assert/strict";
import {
  caseText,
  WORDED_CASES,
  wordedWorkload,
} from "../../tests/fixtures/placement/worded_workloads.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  ENABLED,
  MIN_ON_DEMAND,
  PAUSED,
  SPOT_PERCENTAGE,
} from "../api/placement_keys.ts";
import { refusalOf, valueOf } from "../config/kinds.ts";
import { parseCronSchedule, parseWindowDuration } from "./disruption_window.ts";
import {
  checkEligibility,
  type EligibilityInput,
  type PlacementScope,
  readPlacementSpec,
  type Texts,
} from "./eligibility.ts";
import {
  NODE_CLASS_PRESETS,
  type NodeClasses,
  nodeClassesFaults,
  nodeClassifierKind,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";

const SPEC = { spotPercentage: 70, minOnDemand: 0, paused: false };

pure("readPlacementSpec() agrees with the admission policy", () => {
  for (const one of WORDED_CASES) {
    const reading = readPlacementSpec(wordedWorkload(one));
    assert.equal(reading.is, one.is, caseText(one));
    const [fault] = reading.is === "invalid" ? reading.faults : [];
    assert.equal(fault?.key, one.fault, caseText(one));
  }
});

pure("readPlacementSpec() gives the spec of the annotations", () => {
  const annotations = {
    [ENABLED]: "true",
    [SPOT_PERCENTAGE]: "0%",
    [MIN_ON_DEMAND]: "10000",
    [DISRUPTION_SCHEDULE]: "CRON_TZ=Asia/Tokyo 0 2 * * *",
    [DISRUPTION_DURATION]: "90m",
    [PAUSED]: "true",
  };
  const window = { schedule: "CRON_TZ=Asia/Tokyo 0 2 * * *", durationMs: 5_400_000 };
  assert.deepEqual(readPlacementSpec({ workload: { labels: {}, annotations } }), {
    is: "valid",
    spec: { spotPercentage: 0, minOnDemand: 10_000, window, paused: true },
  });
});
const SCOPE: PlacementScope = { ownNamespace: "coallocator" };

function web(namespace: string, labels: Texts = {}): EligibilityInput {
  return {
    kind: "Deployment",
    labels: { [ENABLED]: "true" },
    annotations: { [SPOT_PERCENTAGE]: "70%" },
    namespace: { name: namespace, metadata: { labels, annotations: {} } },
  };
}

pure("checkEligibility() gives the spec of a workload that takes part", () => {
  assert.deepEqual(checkEligibility(web("shop"), SCOPE), { spec: SPEC });
  const window = { schedule: "0 2 * * *", durationMs: 1000 };
  assert.deepEqual(checkEligibility(web("shop"), { ...SCOPE, window }), {
    spec: { ...SPEC, window },
  });
});
pure("parseWindowDuration() takes what is longer than 0", () => {
  assert.equal(parseWindowDuration("1h30m"), 5_400_000);
  for (const text of ["0", "0s", "-1h", "2", "soon", ""]) {
    assert.throws(() => parseWindowDuration(text), { name: "SyntaxError" }, text);
  }
});

pure("parseCronSchedule() finds the next time, in UTC or in the zone that is named", () => {
  const berlin = "CRON_TZ=Europe/Berlin 30 2 * * *";
  const rows: readonly (readonly [schedule: string, after: string, next: string])[] = [
    ["0 2 * * *", "2026-01-01T01:59:59.999Z", "2026-01-01T02:00"],
    ["0 2 * * *", "2026-01-01T02:00:00Z", "2026-01-02T02:00"],
    ["CRON_TZ=Asia/Kolkata 0 2 * * *", "2026-01-01T00:00:00Z", "2026-01-01T20:30"],
    ["  0,30 8-9 ? JAN-mar mon ", "2026-01-05T08:00:00Z", "2026-01-05T08:30"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00"],
    // Steps go on from a value to the end of its field.
    ["5/20 2 * * *", "2026-01-01T02:05:00Z", "2026-01-01T02:25"],
    ["5/20 2 * * *", "2026-01-01T02:45:00Z", "2026-01-02T02:05"],
    ["0 1,20/2 * * *", "2026-01-01T20:00:00Z", "2026-01-01T22:00"],
    ["0 2 * * mon/3", "2026-01-05T02:00:00Z", "2026-01-08T02:00"],
    ["0 2 1 nov/1 *", "2026-01-05T02:00:00Z", "2026-11-01T02:00"],
    // Once on the days when clocks change.
    [berlin, "2026-03-28T12:00:00Z", "2026-03-29T01:00"],
    [berlin, "2026-03-29T01:00:00Z", "2026-03-30T00:30"],
    [berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30"],
    [berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:30"],
    // Either of day and weekday is enough.
    ["0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00"],
    ["0 0 13 * 5", "2026-01-10T00:00:00Z", "2026-01-13T00:00"],
    ["0 0 31 2 1", "2026-01-01T00:00:00Z", "2026-02-02T00:00"],
    ["0 0 31 2,4,6,7 *", "2026-01-01T00:00:00Z", "2026-07-31T00:00"],
  ];
  for (const [schedule, after, expected] of rows) {
    const next = parseCronSchedule(schedule).next(Date.parse(after)) ?? NaN;
    assert.equal(new Date(next).toISOString().slice(0, 16), expected, schedule);
  }
});

pure("parseCronSchedule() refuses with the text in the message, each time", () => {
  const refused = [
    ...["", "@daily", "0 2 * *", "0 0 2 * * *", "60 2 * * *", "0 2 * * xyz", "9-3 2 * * *"],
    ...["*/0 2 * * *", "0 0 L * *", "0 0 * * MON#1", "2026-01-01T00:00:00Z", "* ".repeat(500)],
    ...["CRON_TZ=Nowhere/Land 0 2 * * *", "CRON_TZ= 0 2 * * *", "TZ=UTC 0 2 * * *"],
    ...["0 0 32 2 *", "0 0 40/2 1 *", "0 0 * 13 *", "0 0 * */40 *"],
  ];
  const never = ["30 2 *", "30 FEB ?", "31 2,4,6,9,11 *", "30-31 2 *", "31 4/7 *", "30/1 2 *"]
    .map((days) => `CRON_TZ=Europe/Berlin 0 0 ${days}`);
  for (const text of [...refused, ...never, ...never]) {
    const message = never.includes(text) ? /".*" .* day that never comes/ : /schedule: ".*" /;
    assert.throws(() => parseCronSchedule(text), { name: "SyntaxError", message }, text);
  }
});

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;

pure("nodeClassOf() takes one of several selectors, and unknown nodes for on-demand", () => {
  assert.equal(nodeClassOf({ "karpenter.sh/capacity-type": "spot" }, karpenter), "spot");
  for (const type of ["on-demand", "reserved", "Spot", ""]) {
    assert.equal(nodeClassOf({ "karpenter.sh/capacity-type": type }, karpenter), "on-demand");
  }
  assert.equal(nodeClassOf({}, karpenter), "on-demand");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-spot": "true" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-provisioning": "spot" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-preemptible": "true" }, gke), "spot");
  assert.equal(nodeClassOf({ "cloud.google.com/gke-provisioning": "standard" }, gke), "on-demand");
  assert.equal(nodeClassOf({ "kubernetes.azure.com/scalesetpriority": "spot" }, aks), "spot");
});

pure("nodeClassesFaults() accepts the presets, with pods that go to nodes of their class", () => {
  for (const [name, preset] of Object.entries(NODE_CLASS_PRESETS)) {
    assert.deepEqual(nodeClassesFaults(preset), [], name);
    for (const one of ["spot", "on-demand"] as const) {
      assert.equal(nodeClassOf(selectorOf(one, preset), preset), one, name);
    }
  }
});

pure("nodeClassesFaults() has faults of selectors that select the same nodes", () => {
  const nodes = (matchLabels: Readonly<Record<string, string>>, key?: string) => ({
    selectors: [{ matchLabels, matchExpressions: [] }],
    tolerations: key === undefined ? [] : [{ key }],
  });
  const faultsOf = (spot: NodeClasses["spot"], onDemand: NodeClasses["spot"]) =>
    nodeClassesFaults({ spot, "on-demand": onDemand }).length;
  const steady = nodes({ pool: "steady" });
  assert.equal(faultsOf(nodes({ pool: "spot" }), steady), 0);
  assert.equal(faultsOf(nodes({ pool: "spot" }), nodes({ pool: "spot", zone: "a" })), 1);
  // Spot nodes have all labels of steady ones, so only a taint keeps other pods off.
  const labels = { pool: "steady", spot: "true" };
  assert.equal(faultsOf(nodes(labels), steady), 1);
  assert.equal(faultsOf(nodes(labels, "spot"), steady), 0);
  const [first] = nodes({ pool: "spot" }).selectors;
  const exists = {
    matchLabels: {},
    matchExpressions: [{ key: "a", operator: "Exists", values: [] }],
  };
  const spot = { selectors: [first, exists], tolerations: [] } as NodeClasses["spot"];
  assert.equal(faultsOf(spot, steady), 0);
  assert.equal(faultsOf({ ...spot, selectors: spot.selectors.toReversed() }, steady), 1);
});

function read(value: unknown) {
  const text = JSON.stringify(value);
  const found = valueOf(nodeClassifierKind, text);
  assert.ok(found, refusalOf(nodeClassifierKind, text));
  return found;
}

pure("nodeClassifierKind parses presets, and overrides of them", () => {
  for (const preset of ["karpenter", "eks", "gke", "aks"] as const) {
    assert.deepEqual(valueOf(nodeClassifierKind, preset), NODE_CLASS_PRESETS[preset]);
    assert.deepEqual(read({ preset }), NODE_CLASS_PRESETS[preset]);
  }
  const spotTolerations = [{ key: "spot", operator: "Exists" as const }];
  const { spot, "on-demand": onDemand } = read({ preset: "eks", spotTolerations });
  assert.deepEqual(spot, { ...NODE_CLASS_PRESETS.eks.spot, tolerations: spotTolerations });
  assert.deepEqual(onDemand, NODE_CLASS_PRESETS.eks["on-demand"]);
  assert.equal(valueOf(nodeClassifierKind, "azure"), undefined);
});

pure("nodeClassifierKind parses Spotalis' lists, and its two texts", () => {
  const classes = read({
    spotLabels: [
      { matchLabels: { lifecycle: "spot" } },
      { matchExpressions: [{ key: "pool", operator: "In", values: ["cheap"] }] },
    ],
    onDemandLabels: [{ matchLabels: { lifecycle: "normal" } }],
  });
  const classesOf = [{ lifecycle: "spot" }, { pool: "cheap" }, { lifecycle: "normal" }].map(
    (labels) => nodeClassOf(labels, classes),
  );
  assert.deepEqual(classesOf, ["spot", "spot", "on-demand"]);
  assert.deepEqual(
    read({
      spot: "karpenter.sh/capacity-type=spot",
      onDemand: "karpenter.sh/capacity-type=on-demand",
    }),
    NODE_CLASS_PRESETS.karpenter,
  );
});

pure("nodeClassifierKind explains faults by the keys of the setting", () => {
  const spotLabels = [{ matchLabels: { a: "b" } }];
  const faults: readonly (readonly [value: unknown, fault: RegExp])[] = [
    [{ spotLabels }, /^must .* preset, .* spotLabels and onDemandLabels$/],
    [{}, /^must .* preset, .* spotLabels and onDemandLabels$/],
    [
      { spotLabels, onDemandLabels: spotLabels },
      /^onDemandLabels\[0\] .* not select .*spotLabels select$/,
    ],
    [
      { preset: "eks", spotTolerations: [{ operator: "Any" }] },
      /^spotTolerations\[0\]\.operator is "Any": .*Exists, Equal$/,
    ],
  ];
  for (const [value, fault] of faults) {
    const text = JSON.stringify(value);
    assert.equal(valueOf(nodeClassifierKind, text), undefined, text);
    assert.match(refusalOf(nodeClassifierKind, text) ?? "", fault);
  }
});
