import assert from "node:assert/strict";
import { AGENT_SETTINGS, OTHER_SECTIONS } from "../../agent/settings.ts";
import { CONTROLLER_SETTINGS, type ControllerSettings } from "../../controller/settings.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { effectiveSettings, type SettingSources } from "../config/load.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";
import { isReadOnly, placementScope } from "./settings.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: PURE, fn });
}

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

/** The settings that placement reads as they are. */
function placedValues(
  { nodeClassifier, departureSigns, resyncPeriod, placementWorkers, ...others }: ControllerSettings,
) {
  const { placementCooldown, evictionsPerSecond, evictionBurst } = others;
  const { scheduleTimeout, fallbackDuration, maxFallbackDuration } = others;
  return {
    ...{ nodeClassifier, departureSigns, resyncPeriod, placementWorkers, placementCooldown },
    ...{ evictionsPerSecond, evictionBurst },
    ...{ scheduleTimeout, fallbackDuration, maxFallbackDuration },
  };
}

test("PLACEMENT_SETTINGS are off by default, and have the documented defaults", () => {
  const values = valuesOf({});
  assert.deepEqual([values.placement, isReadOnly(values)], [false, false]);
  assert.deepEqual(placementScope(values), { ownNamespace: "mbcas-system" });
  assert.deepEqual(placedValues(values), {
    nodeClassifier: NODE_CLASS_PRESETS.karpenter,
    departureSigns: DEFAULT_DEPARTURE_SIGNS,
    resyncPeriod: 30_000,
    placementWorkers: 5,
    placementCooldown: 10_000,
    evictionsPerSecond: 1,
    evictionBurst: 5,
    scheduleTimeout: 60_000,
    fallbackDuration: 120_000,
    maxFallbackDuration: 1_800_000,
  });
});

test("PLACEMENT_SETTINGS read what a file has", () => {
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
  const { departureSigns, ...rest } = placedValues(values);
  assert.deepEqual(rest, {
    nodeClassifier: NODE_CLASS_PRESETS.gke,
    resyncPeriod: 5000,
    placementWorkers: 2,
    placementCooldown: 60_000,
    evictionsPerSecond: 0.5,
    evictionBurst: 2,
    scheduleTimeout: 30_000,
    fallbackDuration: 60_000,
    maxFallbackDuration: 60_000,
  });
  assert.deepEqual(departureSigns.taints, []);
});

test("isReadOnly() follows either setting", () => {
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

test("CONTROLLER_SETTINGS take the file of Spotalis as it is, and the agent passes over it", () => {
  const values = valuesOf(file(SPOTALIS));
  const { logLevel, logFormat, listen, webhookListen, webhookFolder } = values;
  assert.deepEqual([logLevel, logFormat, listen, webhookListen, webhookFolder], [
    "debug",
    "json",
    ":8081",
    ":9443",
    "/tmp/k8s-webhook-server/serving-certs",
  ]);
  const { nodeClassifier: classes, resyncPeriod, placementWorkers } = values;
  assert.deepEqual([resyncPeriod, placementWorkers], [45_000, 7]);
  assert.deepEqual(placementScope(values).namespaceSelector, {
    matchLabels: { "spotalis.io/enabled": "true" },
    matchExpressions: [{ key: "environment", operator: "In", values: ["production", "staging"] }],
  });
  assert.deepEqual(
    [classes.spot, classes["on-demand"]].map(({ selectors }) => selectors[0]?.matchLabels),
    [{ "example.com/capacity": "spot" }, { "example.com/capacity": "on-demand" }],
  );
  const agent = effectiveSettings(AGENT_SETTINGS, {
    ...file(SPOTALIS),
    otherSections: OTHER_SECTIONS,
  });
  assert.ok("values" in agent);
  assert.equal(agent.values.logLevel, "debug");
});

test("CONTROLLER_SETTINGS name each setting of Spotalis that can't be read or honored", () => {
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

test("CONTROLLER_PROGRAM checks what settings of placement must fulfil together", () => {
  assertMatches(faultsOf({ env: { SPOTALIS_WORKER: "3" } }), [/WORKER .* SPOTALIS_WORKERS\?$/]);
  assertMatches(faultsOf({ env: { SPOTALIS_DISRUPTION_WINDOW_SCHEDULE: "0 2 * * *" } }), [
    /^placement\.disruptionWindow\.schedule .* placement\.disruptionWindow\.duration is not/,
  ]);
});
