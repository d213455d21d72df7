import assert from "node:assert/strict";
import { AGENT_SETTINGS, IGNORED_SECTIONS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "../../controller/settings.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { effectiveSettings, type SettingSources } from "../config/load.ts";
import {
  NODE_CLASS_PRESETS,
  type NodeClasses,
  nodeClassesFaults,
  nodeClassifierKind,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";
import { isReadOnly, placementScope } from "./settings.ts";
import { pure, pureYAML } from "../../tests/fixtures/pure.ts";
import { refusalOf, valueOf } from "../config/kinds.ts";
import { parseCronSchedule, parseWindowDuration } from "./disruption_window.ts";

const file = (text: string) => ({ file: { path: "config.yaml", text } });

function readWith(sources: SettingSources) {
  return effectiveSettings(CONTROLLER_SETTINGS, sources);
}

function valuesOf(sources: SettingSources): ControllerSettings {
  const read = readWith(sources);
  assert.ok("values" in read, "faults" in read ? read.faults.join("\n") : "");
  return read.values;
}

function faultsOf(sources: SettingSources): readonly string[] {
  const read = readWith(sources);
  return "faults" in read ? read.faults : [];
}

pureYAML("PLACEMENT_SETTINGS are off by default, and have the documented defaults", () => {
  const values = valuesOf({});
  assert.deepEqual([values.placement, isReadOnly(values)], [false, false]);
  assert.deepEqual(placementScope(values), { ownNamespace: "mbcas-system" });
  assert.partialDeepStrictEqual(values, {
    ...{ nodeClassifier: NODE_CLASS_PRESETS.karpenter, departureSigns: DEFAULT_DEPARTURE_SIGNS },
    ...{ resyncPeriod: 30_000, placementWorkers: 5, placementCooldown: 10_000 },
    ...{ evictionsPerSecond: 1, evictionBurst: 5, scheduleTimeout: 60_000 },
    ...{ fallbackDuration: 120_000, maxFallbackDuration: 1_800_000 },
  });
});

pureYAML("PLACEMENT_SETTINGS read what a file has", () => {
  const values = valuesOf(file(
    "placement:\n  resyncPeriod: 5s\n  workers: 2\n  nodeClassifier: gke\n" +
      "  namespaceSelector: {matchLabels: {team: shop}}\n  departureSigns: [aks]\n" +
      "  disruptionWindow: {schedule: 0 2 * * *, duration: 1h30m}\n  cooldown: 1m\n" +
      "  evictionsPerSecond: 0.5\n  evictionBurst: 2\n  scheduleTimeout: 30s\n" +
      "  fallbackDuration: 1m\n  maxFallbackDuration: 1m\n",
  ));
  assert.deepEqual(placementScope(values), {
    ownNamespace: "mbcas-system",
    namespaceSelector: { matchLabels: { team: "shop" }, matchExpressions: [] },
    window: { schedule: "0 2 * * *", durationMs: 5_400_000 },
  });
  assert.partialDeepStrictEqual(values, {
    ...{ nodeClassifier: NODE_CLASS_PRESETS.gke, resyncPeriod: 5000, placementWorkers: 2 },
    ...{ placementCooldown: 60_000, evictionsPerSecond: 0.5, evictionBurst: 2 },
    ...{ scheduleTimeout: 30_000, fallbackDuration: 60_000, maxFallbackDuration: 60_000 },
  });
  assert.deepEqual(values.departureSigns.taints, []);
});

pureYAML("isReadOnly() follows either setting", () => {
  for (const text of ["placement: {readOnlyMode: true}", "controller: {dryRun: true}"]) {
    const values = valuesOf(file(text));
    assert.equal(isReadOnly(values), true, text);
    // That of placement leaves the others alone.
    assert.equal(values.dryRun, text.startsWith("controller"));
  }
});

/** As Spotalis had it, with all that it could say. */
const SPOTALIS = `
controller:
  resyncPeriod: 45s
  workers: 7
  leaderElection:
    enabled: true
    namespace: spotalis-system
    leaseName: spotalis-leader
  namespaceSelector:
    matchLabels:
      spotalis.io/enabled: "true"
    matchExpressions:
      - key: environment
        operator: In
        values: ["production", "staging"]

webhook:
  port: 9443
  certDir: /tmp/k8s-webhook-server/serving-certs

nodeLabels:
  spot: "example.com/capacity=spot"
  onDemand: "example.com/capacity=on-demand"

logging:
  level: "debug"
  format: "json"

metrics:
  enabled: true
  port: 8081
`;

pureYAML("CONTROLLER_SETTINGS take the file of Spotalis, as does the agent", () => {
  const values = valuesOf(file(SPOTALIS));
  const { logLevel, logFormat, listen, webhookListen, webhookFolder } = values;
  const folder = "/tmp/k8s-webhook-server/serving-certs";
  assert.deepEqual([logLevel, logFormat, listen, webhookListen, webhookFolder], [
    ...["debug", "json", ":8081", ":9443", folder],
  ]);
  const { nodeClassifier: classes, resyncPeriod, placementWorkers } = values;
  assert.deepEqual([resyncPeriod, placementWorkers], [45_000, 7]);
  assert.deepEqual(placementScope(values).namespaceSelector, {
    matchLabels: { "spotalis.io/enabled": "true" },
    matchExpressions: [{ key: "environment", operator: "In", values: ["production", "staging"] }],
  });
  const labels = [classes.spot, classes["on-demand"]].map((one) => one.selectors[0]?.matchLabels);
  const capacities = ["spot", "on-demand"].map((one) => ({ "example.com/capacity": one }));
  assert.deepEqual(labels, capacities);
  const agent = effectiveSettings(AGENT_SETTINGS, {
    ...file(SPOTALIS),
    ignoredSections: IGNORED_SECTIONS,
  });
  assert.ok("values" in agent);
  assert.equal(agent.values.logLevel, "debug");
});

pureYAML("CONTROLLER_SETTINGS name each setting of Spotalis that is refused", () => {
  assertMatches(faultsOf({ env: { SPOTALIS_WORKER: "3" } }), [/WORKER .* SPOTALIS_WORKERS\?$/]);
  const half = { env: { SPOTALIS_DISRUPTION_WINDOW_SCHEDULE: "0 2 * * *" } };
  assertMatches(faultsOf(half), [/^placement\.disruptionWindow\.schedule .*\.duration is not/]);
  const text = "controller: {leaderElection: {enabled: false, leaseNam: x}}\n" +
    "metrics: {enabled: false, port: 0}\nlogging: {level: loud, levels: on}\n" +
    "placement: {resyncPeriod: 40s, disruptionWindow: daily}\nwebhook: {port: https}\n" +
    "nodeLabels: {spot: a=b, onDemand: a=c, other: a=d}\n";
  assertMatches(faultsOf(file(text)), [
    /: controller\.leaderElection\.leaseNam .* controller\.leaderElection\.leaseName\?$/,
    /: logging\.levels .* logging\.level\?$/,
    /: placement\.disruptionWindow is "daily", .* map /,
    /: logging\.level is "loud", .* warn, error$/,
    /: controller\.leaderElection\.enabled is "false", expected true: /,
    /: webhook\.port is "https", .* :8080 /,
    /: nodeLabels: other /,
    /: metrics\.enabled is "false", expected true: /,
    /: metrics\.port is "0", .* :8080 /,
  ]);
  assertMatches(faultsOf(file("controller: {workers: 3}\nplacement: {workers: 4}\n")), [
    /: placement\.workers is "4" and .*: controller\.workers is "3", .* placement\.workers: /,
  ]);
});

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;

pure("nodeClassOf() takes one of several selectors, and unknown nodes for on-demand", () => {
  const rows: readonly (readonly [NodeClasses, label: string, spot: string, ...string[]])[] = [
    [karpenter, "karpenter.sh/capacity-type", "spot", "on-demand", "reserved", "Spot", ""],
    [gke, "cloud.google.com/gke-spot", "true"],
    [gke, "cloud.google.com/gke-provisioning", "spot", "standard"],
    [gke, "cloud.google.com/gke-preemptible", "true"],
    [aks, "kubernetes.azure.com/scalesetpriority", "spot"],
  ];
  for (const [classes, label, spot, ...others] of rows) {
    assert.equal(nodeClassOf({ [label]: spot }, classes), "spot");
    for (const other of others) assert.equal(nodeClassOf({ [label]: other }, classes), "on-demand");
  }
  assert.equal(nodeClassOf({}, karpenter), "on-demand");
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
  const found = [{ lifecycle: "spot" }, { pool: "cheap" }, { lifecycle: "normal" }]
    .map((labels) => nodeClassOf(labels, classes));
  assert.deepEqual(found, ["spot", "spot", "on-demand"]);
  const key = "karpenter.sh/capacity-type";
  const two = read({ spot: `${key}=spot`, onDemand: `${key}=on-demand` });
  assert.deepEqual(two, NODE_CLASS_PRESETS.karpenter);
});

pure("nodeClassifierKind explains faults by the keys of the setting", () => {
  const spotLabels = [{ matchLabels: { a: "b" } }];
  const faultOf = (value: unknown) => refusalOf(nodeClassifierKind, JSON.stringify(value)) ?? "";
  assert.match(faultOf({ spotLabels }), /^must .* preset, .* spotLabels and onDemandLabels$/);
  const anyOperator = { preset: "eks", spotTolerations: [{ operator: "Any" }] };
  assert.match(faultOf(anyOperator), /^spotTolerations\[0\]\.operator is "Any": .*Exists, Equal$/);
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
