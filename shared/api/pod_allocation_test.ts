import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { podAllocationSchema, storedAllocationSchema } from "./pod_allocation.ts";
import { knownMarketReason } from "./reasons/reasons.ts";

/** As a later version may have written it. */
function laterAllocation() {
  const web = samplePod("web");
  const allocation = sampleAllocation({ ...web, metadata: { ...web.metadata, uid: "u1" } });
  const { market, ...desired } = sampleDesired("300m");
  const condition = {
    type: "Applied",
    status: "False",
    reason: "HPACapped",
    message: "the autoscaler needs the present limit",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  return {
    ...allocation,
    metadata: { ...allocation.metadata, uid: "a1", resourceVersion: "8" },
    spec: { ...allocation.spec, ...desired, market: { ...market, reason: "Reserved" } },
    status: {
      phase: "Pending",
      bounds: {
        revision: 1,
        reason: "Moonlight",
        rules: [{ reason: "Moonlight", message: "it is full" }],
        containers: [],
      },
      reason: "HPACapped",
      conditions: [condition, { ...condition, type: "Watched" }],
    },
  };
}

pure("storedAllocationSchema reads the reasons and conditions of a later version", () => {
  const later = laterAllocation();
  const { spec, status } = storedAllocationSchema.parse(later);
  assert.equal(spec.market?.reason, "Reserved");
  assert.equal(spec.desiredCPULimit, "300m");
  assert.equal(status?.reason, "HPACapped");
  assert.deepEqual(status?.bounds, later.status.bounds);
  assert.deepEqual(status?.conditions, later.status.conditions.slice(0, 1));
});

pure("storedAllocationSchema refuses what is no allocation", () => {
  const later = laterAllocation();
  const { podName: _none, ...spec } = later.spec;
  assert.equal(storedAllocationSchema.safeParse({ ...later, spec }).success, false);
  for (const member of ["name", "namespace", "uid", "resourceVersion"]) {
    const metadata = { ...later.metadata, [member]: "" };
    assert.equal(storedAllocationSchema.safeParse({ ...later, metadata }).success, false, member);
  }
  const odd = { ...later, status: { conditions: "none" } };
  assert.equal(storedAllocationSchema.safeParse(odd).success, false);
});

pure("podAllocationSchema lets only reasons of this version be written", () => {
  const { error } = podAllocationSchema.safeParse(laterAllocation());
  assert.deepEqual(error?.issues.map(({ path }) => path.join(".")), [
    "spec.market.reason",
    "status.bounds.rules.0.reason",
    "status.reason",
    "status.conditions.0.reason",
    "status.conditions.1.type",
    "status.conditions.1.reason",
  ]);
});

pure("knownMarketReason() passes over reasons that this version does not know", () => {
  assert.equal(knownMarketReason("Throttled"), "Throttled");
  assert.equal(knownMarketReason("Reserved"), undefined);
  assert.equal(knownMarketReason(undefined), undefined);
});
