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
import type { Labels } from "../api/label_selector.ts";
import { checkEligibility, type EligibilityInput, type PlacementScope } from "./eligibility.ts";

const SPEC = { spotPercentage: 70, minOnDemand: 0, paused: false };

const SCOPE: PlacementScope = { ownNamespace: "coallocator" };

pure("checkEligibility() agrees with the admission policy", () => {
  for (const one of WORDED_CASES) {
    const answer = checkEligibility(wordedWorkload(one), SCOPE);
    assert.equal(answer.spec === undefined ? answer.reason : "valid", one.is, caseText(one));
    assert.equal(answer.faults?.[0]?.key, one.fault, caseText(one));
  }
});

pure("checkEligibility() gives the spec of the annotations", () => {
  const annotations = {
    [ENABLED]: "true",
    [SPOT_PERCENTAGE]: "0%",
    [MIN_ON_DEMAND]: "10000",
    [DISRUPTION_SCHEDULE]: "CRON_TZ=Asia/Tokyo 0 2 * * *",
    [DISRUPTION_DURATION]: "90m",
    [PAUSED]: "true",
  };
  const window = { schedule: "CRON_TZ=Asia/Tokyo 0 2 * * *", durationMs: 5_400_000 };
  assert.deepEqual(checkEligibility({ ...web("shop"), annotations }, SCOPE), {
    spec: { spotPercentage: 0, minOnDemand: 10_000, window, paused: true },
  });
});

function web(namespace: string, labels: Labels = {}): EligibilityInput {
  return {
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
