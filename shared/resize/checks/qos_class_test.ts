import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  cpuRanges,
  enforcedAllocation,
  enforcedContainer,
  enforcedPod,
  enforcementInput,
  guaranteedContainer,
  guaranteedPod,
  marketClaim,
} from "../../../tests/fixtures/market/enforcement_input.ts";
import { type Pod, type ResizeCondition, withResources } from "../../api/pod.ts";
import { decide, decideManually, MARKET_CHAIN, RESTORE_CHAIN } from "../chain.ts";
import { movesRequest, qosClassOf } from "../inputs/qos.ts";
import type { EnforcementInput } from "../inputs/resize_input.ts";
import { containersWanted, limitsWanted, marketSubject } from "../inputs/subject.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** The market chain's decision on a limit of 400 m for this pod. */
function decided(pod: Pod, fields: Partial<EnforcementInput> = {}) {
  return decide(MARKET_CHAIN, enforcementInput({ pod, ...fields }));
}

test("limitsWanted() moves the request of a Guaranteed pod with its limit, and no other", () => {
  const limits = [["app", 400]] as const;
  const two = guaranteedPod(guaranteedContainer(), guaranteedContainer({ name: "jvm" }));
  const after = (pod: Pod) =>
    containersWanted(marketSubject(pod), limitsWanted(pod, limits))
      .map(({ requests, limits }) => [requests.cpu, limits.cpu]);
  assert.deepEqual(after(two), [[400, 400], [200, 200]]);
  assert.deepEqual(after(enforcedPod()), [[100, 400]]);
  assert.deepEqual([movesRequest(two), movesRequest(enforcedPod())], [true, false]);
});

test("decide() changes the request of a Guaranteed pod with its limit", () => {
  const both = { name: "app", sidecar: false, requests: { cpu: 400 }, limits: { cpu: 400 } };
  assert.deepEqual(decided(guaranteedPod()), { changes: [both] });
  const back = [marketClaim(150)];
  assert.deepEqual(
    decide(RESTORE_CHAIN, enforcementInput({ pod: guaranteedPod(), claims: back })).changes,
    [{ ...both, requests: { ...both.requests, cpu: 150 }, limits: { ...both.limits, cpu: 150 } }],
  );
  assert.deepEqual(decideManually({ pod: guaranteedPod() }, new Map([["app", 400]])), {
    changes: [both],
  });
  assert.deepEqual(decided(enforcedPod()).changes, [{
    name: "app",
    sidecar: false,
    requests: {},
    limits: { cpu: 400 },
  }]);
});

test("decide() keeps a pod Guaranteed whatever limits are wanted", () => {
  const limit = fc.integer({ min: 10, max: 4000 });
  const container = fc.record({ own: limit, wanted: fc.option(limit) });
  fc.assert(
    fc.property(fc.array(container, { minLength: 1, maxLength: 5 }), (all) => {
      const pod = guaranteedPod(
        ...all.map(({ own }, index) =>
          guaranteedContainer({
            name: `c${index}`,
            requests: { cpu: own },
            limits: { cpu: own },
            applied: { requests: { cpu: own }, limits: { cpu: own } },
          })
        ),
      );
      const claims = all.flatMap(({ wanted }, index) =>
        wanted === null ? [] : [marketClaim(wanted, `c${index}`)]
      );
      const { changes } = decided(pod, { claims });
      const after = pod.containers.map((one) =>
        withResources(one, changes.find(({ name }) => name === one.name) ?? {})
      );
      assert.equal(qosClassOf(after), "Guaranteed");
      assert.equal(
        changes.length,
        all.filter(({ own, wanted }) => wanted !== null && wanted !== own).length,
      );
    }),
  );
});

test("decide() holds a pod that is Guaranteed by pod-level resources", () => {
  const odd = { ...guaranteedPod(), containers: [enforcedContainer()] };
  const other = enforcedContainer({ name: "jvm" });
  const { changes, reason } = decided({ ...odd, containers: [enforcedContainer(), other] });
  assert.deepEqual([changes, reason], [[], "QoSWouldChange"]);
});

test("decide() waits until the kubelet reports limit and request of a Guaranteed pod", () => {
  const with400 = { requests: { cpu: 400 }, limits: { cpu: 400 } };
  const reasonOf = (fields: ContainerFields) =>
    decided(guaranteedPod(guaranteedContainer({ ...with400, ...fields }))).reason;
  assert.equal(reasonOf({}), "ResizeInProgress");
  assert.equal(reasonOf({ applied: { limits: { cpu: 400 } } }), "ResizeInProgress");
  assert.equal(reasonOf({ applied: { requests: { cpu: 400 } } }), "ResizeInProgress");
  assert.equal(reasonOf({ applied: { requests: { cpu: 400 }, limits: { cpu: 400 } } }), "Applied");
  // Read back from cpu.weight, which has steps of 26 m.
  assert.equal(reasonOf({ applied: { requests: { cpu: 380 }, limits: { cpu: 400 } } }), "Applied");
  // Its own request is no business of a Burstable pod's limits.
  const burstable = enforcedContainer({
    ...with400,
    requests: { ...with400.requests, cpu: 100 },
    applied: { limits: { cpu: 400 } },
  });
  const pod = enforcedPod({
    containers: [{
      ...burstable,
      applied: {
        requests: { ...burstable.applied.requests, cpu: 50 },
        limits: { ...burstable.applied.limits },
      },
    }],
  });
  assert.equal(decided(pod).reason, "Applied");
});

test("decide() reports that the kubelet has deferred the raise of a request", () => {
  const condition: ResizeCondition = {
    type: "PodResizePending",
    reason: "Deferred",
    message: "Node didn't have enough resource: cpu, requested: 400, used: 3800, capacity: 4000",
  };
  const raised = guaranteedPod(
    guaranteedContainer({ requests: { cpu: 400 }, limits: { cpu: 400 } }),
  );
  const pod = { ...raised, resizeConditions: [condition] };
  const { changes, reason, message } = decided(pod);
  assert.deepEqual([changes, reason, message], [[], "ResizeDeferred", condition.message]);
  // It does not lock the pod: a smaller limit is sent.
  assert.equal(decided(pod, { claims: [marketClaim(250)] }).changes.length, 1);
});

test("decide() heeds max of a LimitRange for limit and request, and no ratio between them", () => {
  const at = (container: Parameters<typeof cpuRanges>[0], ofPod = {}) =>
    decided(guaranteedPod(), { limitRange: cpuRanges(container, ofPod) }).changes
      .map(({ limits, requests }) => [limits.cpu, requests.cpu]);
  assert.deepEqual(at({ max: 300 }), [[300, 300]]);
  assert.deepEqual(at({ ratio: 1 }), [[400, 400]]);
  assert.deepEqual(at({}, { max: 350, ratio: 1 }), [[350, 350]]);
  const lowered = decided(guaranteedPod(), {
    limitRange: cpuRanges({ min: 150 }),
    claims: [marketClaim(50)],
  });
  assert.deepEqual(lowered.changes.map(({ requests }) => requests.cpu), [150]);
});

test("decide() cuts limit and request of a Guaranteed pod to what quotas leave", () => {
  const cut = decided(guaranteedPod(), { quotaHeadroom: 55 });
  assert.equal(cut.reason, "QuotaExceeded");
  assert.deepEqual(
    cut.changes.map(({ limits, requests }) => [limits.cpu, requests.cpu]),
    [
      [250, 250],
    ],
  );
  const none = decided(guaranteedPod(), { quotaHeadroom: 5 });
  assert.deepEqual([none.changes, none.reason], [[], "QuotaExceeded"]);
});

test("decide() clamps limit and request of a Guaranteed pod into its bounds", () => {
  const { status } = enforcedAllocation;
  const wide = { containerID: "containerd://aa", floor: 200, ceiling: 300, weight: 200 };
  const bounds = { revision: 3, reason: "", containers: [{ name: "app", ...wide }] };
  const { changes, reason } = decided(guaranteedPod(), {
    allocation: { ...enforcedAllocation, status: { ...status, bounds } },
  });
  assert.deepEqual([changes.map(({ requests }) => requests.cpu), reason], [
    [300],
    "OutsideBounds",
  ]);
});
