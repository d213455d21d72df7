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
import { pure } from "../../tests/fixtures/pure.ts";
import {
  checkEligibility,
  type EligibilityInput,
  type PlacementScope,
  readPlacementSpec,
  type Texts,
} from "./eligibility.ts";

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

pure("readPlacementSpec() has key and value of each fault", () => {
  const annotations = {
    [SPOT_PERCENTAGE]: "101%",
    [MIN_ON_DEMAND]: "-1",
    [PAUSED]: "yes",
    [DISRUPTION_SCHEDULE]: "nightly",
    [DISRUPTION_DURATION]: "0s",
  };
  const labels = { [ENABLED]: "true" };
  const reading = readPlacementSpec({ workload: { labels, annotations } });
  assert.deepEqual(
    reading.is === "invalid" && reading.faults.map(({ remedy: _, ...fault }) => fault),
    Object.entries(annotations).map(([key, text]) => (
      { of: "workload", place: "annotation", key, value: `"${text}"` }
    )),
  );
});

pure("readPlacementSpec() takes one window of workload, namespace or settings", () => {
  const windowOf = (workload: Texts, namespace: Texts): string | undefined => {
    const reading = readPlacementSpec({
      workload: { labels: {}, annotations: { ...workload, [SPOT_PERCENTAGE]: "1" } },
      namespace: { labels: { [ENABLED]: "true" }, annotations: namespace },
    }, { schedule: "0 1 * * *", durationMs: 3_600_000 });
    if (reading.is === "valid") return reading.spec.window?.schedule;
    return reading.is === "invalid" ? `${reading.faults[0]?.of} ${reading.faults[0]?.key}` : "";
  };
  const at = (hour: number): Texts => ({
    [DISRUPTION_SCHEDULE]: `0 ${hour} * * *`,
    [DISRUPTION_DURATION]: "1h",
  });
  assert.equal(windowOf(at(3), at(2)), "0 3 * * *");
  assert.equal(windowOf({}, at(2)), "0 2 * * *");
  assert.equal(windowOf({}, {}), "0 1 * * *");
  assert.equal(windowOf(at(3), { [DISRUPTION_DURATION]: "never" }), "0 3 * * *");
  const [schedule, duration] = [{ [DISRUPTION_SCHEDULE]: "0 2 * * *" }, {
    [DISRUPTION_DURATION]: "1h",
  }];
  assert.equal(windowOf(duration, at(2)), `workload ${DISRUPTION_SCHEDULE}`);
  assert.equal(windowOf({}, schedule), `namespace ${DISRUPTION_DURATION}`);
});

const SCOPE: PlacementScope = { ownNamespace: "coallocator" };
const NOT_TEST = { key: "stage", operator: "NotIn" as const, values: ["test"] };
const TEAM_A = {
  ...SCOPE,
  namespaceSelector: { matchLabels: { team: "a" }, matchExpressions: [NOT_TEST] },
};

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

pure("checkEligibility() has a reason for each workload that takes no part", () => {
  const misspelt = { annotations: { [SPOT_PERCENTAGE]: "all" } };
  const notTest = {
    ...SCOPE,
    namespaceSelector: { matchLabels: {}, matchExpressions: [NOT_TEST] },
  };
  const unknown = { ...web("shop"), namespace: { name: "shop" } };
  const rows: readonly (readonly [string, EligibilityInput, PlacementScope?])[] = [
    ["takes part", { ...web("shop"), kind: "StatefulSet" }],
    ...["DaemonSet", "Job", "ReplicaSet", "Pod", "", "constructor"].map((kind) =>
      ["KindNotPlaced", { ...web("shop"), ...misspelt, kind }] as const
    ),
    ...["kube-system", "kube-public", "kube-node-lease", "coallocator"].map((name) =>
      ["NamespaceProtected", { ...web(name, { [ENABLED]: "true" }), ...misspelt }] as const
    ),
    ["takes part", web("kube-system-2")],
    ["takes part", web("shop", { team: "a" }), TEAM_A],
    ["takes part", web("shop"), notTest],
    ["NamespaceNotSelected", unknown, notTest],
    ...[{}, { team: "b" }, { team: "a", stage: "test" }].map((labels) =>
      ["NamespaceNotSelected", { ...web("shop", labels), ...misspelt }, TEAM_A] as const
    ),
    ["NamespaceOptedOut", web("shop", { [ENABLED]: "false" })],
    ["PlacementOff", { ...web("shop"), labels: {} }],
    ["PlacementUntuned", { ...web("shop"), annotations: {} }],
    ["ConfigurationError", { ...web("shop"), ...misspelt }],
  ];
  for (const [expected, input, scope = SCOPE] of rows) {
    const answer = checkEligibility(input, scope);
    const reason = answer.spec === undefined ? answer.reason : "takes part";
    assert.equal(reason, expected, JSON.stringify(input));
  }
  const annotations = { [SPOT_PERCENTAGE]: "all", [PAUSED]: "yes" };
  const answer = checkEligibility({ ...web("shop"), annotations }, SCOPE);
  assert.ok(answer.spec === undefined);
  assert.equal(answer.message, answer.faults?.join("; "));
  assert.equal(answer.faults?.length, 2);
});
