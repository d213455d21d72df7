import assert from "node:assert/strict";
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  ENABLED,
  MIN_ON_DEMAND,
  PAUSED,
  SPOT_PERCENTAGE,
} from "../api/placement_keys.ts";
import {
  caseText,
  WORDED_CASES,
  wordedWorkload,
} from "../../tests/fixtures/placement/worded_workloads.ts";
import {
  checkEligibility,
  type EligibilityInput,
  isPlacedKind,
  type PlacementFault,
  type PlacementScope,
  readPlacementSpec,
  type SpecReading,
  type Texts,
} from "./eligibility.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const CONFIGURED = { schedule: "0 1 * * *", durationMs: 3_600_000 } as const;

function read(annotations: Texts, labels: Texts = {}): SpecReading {
  return readPlacementSpec({ workload: { labels, annotations } });
}

/** Faults of an enabled workload. */
function faultsOf(annotations: Texts, namespace: Texts = {}): readonly PlacementFault[] {
  const reading = readPlacementSpec({
    workload: { labels: {}, annotations: { [ENABLED]: "true", ...annotations } },
    namespace: { labels: {}, annotations: namespace },
  });
  return reading.is === "invalid" ? reading.faults : [];
}

test("readPlacementSpec() gives the spec of the annotations, with its defaults", () => {
  const spec = { spotPercentage: 70, minOnDemand: 0, paused: false };
  for (const share of ["70", "70%"]) {
    assert.deepEqual(read({ [ENABLED]: "true", [SPOT_PERCENTAGE]: share }), { is: "valid", spec });
    assert.deepEqual(read({ [SPOT_PERCENTAGE]: share }, { [ENABLED]: "true" }), {
      is: "valid",
      spec,
    });
  }
  assert.deepEqual(
    read({
      [ENABLED]: "true",
      [SPOT_PERCENTAGE]: "0%",
      [MIN_ON_DEMAND]: "10000",
      [DISRUPTION_SCHEDULE]: "CRON_TZ=Asia/Tokyo 0 2 * * *",
      [DISRUPTION_DURATION]: "90m",
      [PAUSED]: "true",
    }),
    {
      is: "valid",
      spec: {
        spotPercentage: 0,
        minOnDemand: 10_000,
        window: { schedule: "CRON_TZ=Asia/Tokyo 0 2 * * *", durationMs: 5_400_000 },
        paused: true,
      },
    },
  );
});

test("readPlacementSpec() is off without enabled, whatever else is set", () => {
  const share = { [SPOT_PERCENTAGE]: "a lot" };
  assert.deepEqual(read({}), { is: "off" });
  assert.deepEqual(read(share), { is: "off" });
  assert.deepEqual(read({ ...share, [ENABLED]: "false" }), { is: "off" });
  assert.deepEqual(read({ ...share, [ENABLED]: "true" }, { [ENABLED]: "false" }), { is: "off" });
  assert.deepEqual(read({ ...share, [ENABLED]: "false" }, { [ENABLED]: "true" }), { is: "off" });
});

test("readPlacementSpec() is untuned if only enabled is set", () => {
  assert.deepEqual(read({ [ENABLED]: "true" }), { is: "untuned" });
  assert.deepEqual(read({ [ENABLED]: "true", [PAUSED]: "maybe" }), { is: "untuned" });
});

test("readPlacementSpec() heeds the namespace's label", () => {
  const of = (around: string, workload: Texts): SpecReading["is"] =>
    readPlacementSpec({
      workload: { labels: {}, annotations: workload },
      namespace: { labels: { [ENABLED]: around }, annotations: {} },
    }).is;
  const tuned = { [SPOT_PERCENTAGE]: "50" };
  assert.equal(of("false", { ...tuned, [ENABLED]: "true" }), "namespace-off");
  assert.equal(of("true", tuned), "valid");
  assert.equal(of("true", { ...tuned, [ENABLED]: "false" }), "off");
  assert.equal(of("true", {}), "untuned");
  assert.equal(of("yes", tuned), "invalid");
  assert.equal(of("yes", {}), "off");
});

test("readPlacementSpec() has key, value and remedy of each fault", () => {
  const annotations = {
    [SPOT_PERCENTAGE]: "101%",
    [MIN_ON_DEMAND]: "-1",
    [PAUSED]: "yes",
    [DISRUPTION_SCHEDULE]: "nightly",
    [DISRUPTION_DURATION]: "0s",
  };
  assert.deepEqual(
    faultsOf(annotations).map(({ remedy: _, ...fault }) => fault),
    Object.entries(annotations).map(([key, text]) => (
      { of: "workload", place: "annotation", key, value: `"${text}"` }
    )),
  );
  const [missing, ...others] = faultsOf({ [MIN_ON_DEMAND]: "2" });
  assert.deepEqual([missing?.key, missing?.value, others], [SPOT_PERCENTAGE, undefined, []]);
  for (const text of ["", "70 %", "70%%", "7.5", "+70", " 70", "1e1", "0x10", "٧٠", "٪"]) {
    assert.equal(faultsOf({ [SPOT_PERCENTAGE]: text }).length, 1, text);
  }
  for (const text of ["10001", "2.0", "two", ""]) {
    assert.equal(faultsOf({ [SPOT_PERCENTAGE]: "1", [MIN_ON_DEMAND]: text }).length, 1, text);
  }
  const enabled = faultsOf({ [ENABLED]: "True", [SPOT_PERCENTAGE]: "x" });
  assert.deepEqual(enabled.map(({ key, value }) => [key, value]), [[ENABLED, '"True"']]);
});

test("readPlacementSpec() takes the window of workload, namespace or configuration, and does not mix them", () => {
  const windowOf = (workload: Texts, namespace: Texts): string | undefined => {
    const reading = readPlacementSpec({
      workload: { labels: {}, annotations: { ...workload, [SPOT_PERCENTAGE]: "1" } },
      namespace: { labels: { [ENABLED]: "true" }, annotations: namespace },
    }, CONFIGURED);
    return reading.is === "valid" ? reading.spec.window?.schedule : reading.is;
  };
  const at = (hour: number): Texts => ({
    [DISRUPTION_SCHEDULE]: `0 ${hour} * * *`,
    [DISRUPTION_DURATION]: "1h",
  });
  assert.equal(windowOf(at(3), at(2)), "0 3 * * *");
  assert.equal(windowOf({}, at(2)), "0 2 * * *");
  assert.equal(windowOf({}, {}), "0 1 * * *");
  assert.equal(windowOf(at(3), { [DISRUPTION_DURATION]: "never" }), "0 3 * * *");
  assert.equal(windowOf({ [DISRUPTION_DURATION]: "1h" }, at(2)), "invalid");
  assert.equal(windowOf({}, { [DISRUPTION_SCHEDULE]: "0 2 * * *" }), "invalid");
  const [half] = faultsOf({ [SPOT_PERCENTAGE]: "1" }, { [DISRUPTION_SCHEDULE]: "0 2 * * *" });
  assert.deepEqual([half?.of, half?.key, half?.value], [
    "namespace",
    DISRUPTION_DURATION,
    undefined,
  ]);
});

test("readPlacementSpec() agrees with the admission policy", () => {
  for (const one of WORDED_CASES) {
    const reading = readPlacementSpec(wordedWorkload(one));
    assert.equal(reading.is, one.is, caseText(one));
    const [fault] = reading.is === "invalid" ? reading.faults : [];
    assert.equal(fault?.key, one.fault, caseText(one));
  }
});

const SCOPE: PlacementScope = { ownNamespace: "coallocator" };

const TEAM_A: PlacementScope = {
  ...SCOPE,
  namespaceSelector: {
    matchLabels: { team: "a" },
    matchExpressions: [{ key: "stage", operator: "NotIn", values: ["test"] }],
  },
};

const WEB: EligibilityInput = {
  kind: "Deployment",
  labels: { [ENABLED]: "true" },
  annotations: { [SPOT_PERCENTAGE]: "70%" },
  namespace: { name: "shop", metadata: { labels: {}, annotations: {} } },
};

function reasonOf(changes: Partial<EligibilityInput>, scope = SCOPE): string {
  const answer = checkEligibility({ ...WEB, ...changes }, scope);
  return answer.spec === undefined ? answer.reason : "takes part";
}

function inNamespace(
  name: string,
  labels: Readonly<Record<string, string>> = {},
): EligibilityInput {
  return { ...WEB, namespace: { name, metadata: { labels, annotations: {} } } };
}

test("checkEligibility() gives the spec of a workload that takes part", () => {
  const spec = { spotPercentage: 70, minOnDemand: 0, paused: false };
  assert.deepEqual(checkEligibility(WEB, SCOPE), { spec });
  const window = { schedule: "0 2 * * *", durationMs: 1000 };
  assert.deepEqual(checkEligibility(WEB, { ...SCOPE, window }), { spec: { ...spec, window } });
});

test("checkEligibility() takes Deployments and StatefulSets", () => {
  assert.equal(reasonOf({ kind: "StatefulSet" }), "takes part");
  for (const kind of ["DaemonSet", "Job", "ReplicaSet", "Pod", "", "constructor"]) {
    assert.equal(reasonOf({ kind }), "KindNotPlaced", kind);
    assert.equal(isPlacedKind(kind), false);
  }
});

test("checkEligibility() protects the system's namespaces, whatever their labels", () => {
  for (const name of ["kube-system", "kube-public", "kube-node-lease", "coallocator"]) {
    assert.equal(reasonOf(inNamespace(name, { [ENABLED]: "true" })), "NamespaceProtected", name);
  }
  assert.equal(reasonOf(inNamespace("kube-system-2")), "takes part");
});

test("checkEligibility() applies the configured selector", () => {
  assert.equal(reasonOf(inNamespace("shop", { team: "a" }), TEAM_A), "takes part");
  const left = [{}, { team: "b" }, { team: "a", stage: "test" }];
  for (const labels of left) {
    assert.equal(reasonOf(inNamespace("shop", labels), TEAM_A), "NamespaceNotSelected");
  }
  const { matchExpressions } = TEAM_A.namespaceSelector ?? { matchExpressions: [] };
  const notTest = { ...SCOPE, namespaceSelector: { matchLabels: {}, matchExpressions } };
  assert.equal(reasonOf(inNamespace("shop"), notTest), "takes part");
  assert.equal(reasonOf({ namespace: { name: "shop" } }, notTest), "NamespaceNotSelected");
});

test("checkEligibility() distinguishes opted out, not enabled, not tuned and invalid", () => {
  assert.equal(reasonOf(inNamespace("shop", { [ENABLED]: "false" })), "NamespaceOptedOut");
  assert.equal(reasonOf({ labels: {} }), "PlacementOff");
  assert.equal(reasonOf({ annotations: {} }), "PlacementUntuned");
  const annotations = { [SPOT_PERCENTAGE]: "all", [PAUSED]: "yes" };
  const answer = checkEligibility({ ...WEB, annotations }, SCOPE);
  assert.ok(answer.spec === undefined);
  const { reason, message, faults = [] } = answer;
  assert.deepEqual([reason, message, faults.length], ["ConfigurationError", faults.join("; "), 2]);
  assert.match(message, /spot-percentage .*"all".*; .*paused .*"yes"/);
});

test("checkEligibility() reports annotations only where they count", () => {
  const misspelt = { annotations: { [SPOT_PERCENTAGE]: "all" } };
  assert.equal(reasonOf({ ...misspelt, kind: "Job" }), "KindNotPlaced");
  assert.equal(reasonOf({ ...inNamespace("kube-public"), ...misspelt }), "NamespaceProtected");
  assert.equal(reasonOf(misspelt, TEAM_A), "NamespaceNotSelected");
});
