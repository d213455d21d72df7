import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { podAllocationSchema } from "./pod_allocation.ts";
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
      conditions: [condition, { ...condition, type: "Watched", status: "Unknown" }],
    },
  };
}

pure("podAllocationSchema reads the reasons and conditions of a later version", () => {
  const later = laterAllocation();
  const { spec, status } = podAllocationSchema.parse(later);
  assert.equal(spec.market?.reason, "Reserved");
  assert.equal(spec.desiredCPULimit, "300m");
  assert.deepEqual(status, later.status);
});

pure("podAllocationSchema refuses what is no allocation", () => {
  const later = laterAllocation();
  const { podName: _none, ...spec } = later.spec;
  const refuses = (change: object): boolean =>
    !podAllocationSchema.safeParse({ ...later, ...change }).success;
  assert.ok(refuses({ spec }));
  for (const member of ["name", "namespace", "uid", "resourceVersion"]) {
    assert.ok(refuses({ metadata: { ...later.metadata, [member]: undefined } }), member);
  }
  assert.ok(refuses({ status: { conditions: "none" } }));
});

pure("knownMarketReason() passes over reasons that this version does not know", () => {
  assert.equal(knownMarketReason("Throttled"), "Throttled");
  for (const other of ["Reserved", "constructor", undefined]) {
    assert.equal(knownMarketReason(other), undefined);
  }
});
