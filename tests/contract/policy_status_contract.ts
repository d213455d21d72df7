/**
 * The contract of `PolicyStatusWriter`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { PolicyStatusWriter } from "../../shared/rightsizing/ports.ts";
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server with a policy that was just made. */
export interface PolicyStatusHarness extends ContractHarness {
  readonly subject: PolicyStatusWriter;
  readonly policy: StoredPolicy;
  /** The stored policy. */
  read(): Promise<StoredPolicy | undefined>;
  /** Deletes it. */
  remove(): Promise<void>;
}

const TIME = "2026-01-02T03:04:05.678Z";
const FULL: PolicyStatus = {
  conditions: [{
    type: "Ready",
    status: "True",
    reason: "PolicyValid",
    message: "each field of the policy is valid",
    lastTransitionTime: TIME,
    observedGeneration: 1,
  }],
  workloadsDiscovered: 1,
  workloadsProcessed: 1,
  workloadsByType: { deployments: 1, statefulSets: 0, daemonSets: 0 },
  lastReconciliation: TIME,
  observedGeneration: 1,
  workloads: [{
    namespace: "shop",
    kind: "Deployment",
    name: "web",
    status: "Recommended",
    lastRecommendation: TIME,
    recommendations: [{ container: "app", cpu: "250m", memory: "88617123", explanation: "P90" }],
  }],
};

/** Registers the suite. */
export function policyStatusContract(open: OpenHarness<PolicyStatusHarness>): void {
  const contract = contractTests(open);
  contract("writeStatus() replaces the status and nothing else", async (harness) => {
    const { subject, policy } = harness;
    const version = await subject.writeStatus(policy, FULL);
    const first = await harness.read();
    assert.notEqual(version, policy.metadata.resourceVersion);
    assert.deepEqual(first?.status, FULL);
    assert.deepEqual(first?.spec, policy.spec);
    assert.deepEqual(first?.metadata, { ...policy.metadata, resourceVersion: version });
    assert.ok(first !== undefined);
    const less = { observedGeneration: 2 };
    await subject.writeStatus(first, less);
    assert.deepEqual((await harness.read())?.status, less);
  });

  contract("writeStatus() is refused with 409 for an old version", async (harness) => {
    const { subject, policy } = harness;
    await subject.writeStatus(policy, FULL);
    await assertRefused(subject.writeStatus(policy, {}), CONFLICT);
    assert.deepEqual((await harness.read())?.status, FULL);
  });

  contract("writeStatus() is refused with 422 for a malformed field", async (harness) => {
    const { subject, policy } = harness;
    const status = { ...FULL, workloadsDiscovered: -1 };
    await assertRefused(subject.writeStatus(policy, status), INVALID);
    assert.deepEqual((await harness.read())?.status, {});
  });

  contract("writeStatus() of a policy that is gone is refused", async (harness) => {
    const { subject, policy } = harness;
    await harness.remove();
    await assertRefused(subject.writeStatus(policy, FULL), NOT_FOUND);
    assert.equal(await harness.read(), undefined);
  });
}
