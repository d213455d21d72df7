/**
 * The contracts of `PolicyStatusWriter` and `ReportStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { NewReport, PolicyStatusWriter, ReportStore } from "../../shared/rightsizing/ports.ts";
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  EXISTS,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";
import type {
  RecommendationReport,
  ReportedWorkload,
} from "../../shared/api/recommendation_report.ts";

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

/** A server without reports. */
export interface ReportStoreHarness extends ContractHarness {
  readonly subject: ReportStore;
  readonly namespace: string;
  /** The stored report of that name. */
  read(name: string): Promise<RecommendationReport | undefined>;
}

const NAME = "recommendations-1";

function workload(name: string): ReportedWorkload {
  return {
    kind: "Deployment",
    name,
    status: "Applied",
    lastApplied: "2026-01-02T03:04:05.678Z",
    lastApplyMethod: "InPlace",
    policy: { namespace: "policies", name: "all" },
    recommendations: [{ container: "app", cpu: "250m", memory: "88617123", explanation: "P90" }],
    inForce: [{ container: "app", cpu: "200m" }],
  };
}

/** Registers the suite. */
export function reportStoreContract(open: OpenHarness<ReportStoreHarness>): void {
  const contract = contractTests(open);
  const reportOf = ({ namespace }: ReportStoreHarness, ...names: string[]): NewReport => ({
    namespace,
    name: NAME,
    workloads: names.map(workload),
  });

  contract("apply() makes the report", async (harness) => {
    const made = await harness.subject.apply(reportOf(harness, "db", "web"));
    assert.ok(made.metadata.uid !== "" && made.metadata.resourceVersion !== "");
    assert.deepEqual(made.workloads, [workload("db"), workload("web")]);
    assert.deepEqual(await harness.read(NAME), made);
  });

  contract("apply() replaces all that the report had", async (harness) => {
    const made = await harness.subject.apply(reportOf(harness, "db", "web"));
    const { resourceVersion } = made.metadata;
    const anew = { ...reportOf(harness, "job"), resourceVersion };
    const other = await harness.subject.apply(anew);
    assert.equal(other.metadata.uid, made.metadata.uid);
    assert.notEqual(other.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.deepEqual((await harness.read(NAME))?.workloads, [workload("job")]);
  });

  contract("apply() of what is there already writes nothing", async (harness) => {
    const { subject } = harness;
    let stored = await subject.apply(reportOf(harness, "db"));
    const again = async (): Promise<string> => {
      const { resourceVersion } = stored.metadata;
      stored = await subject.apply({ ...reportOf(harness, "db"), resourceVersion });
      return stored.metadata.resourceVersion;
    };
    // The first one over what was made may still note its writer.
    const version = await again();
    assert.equal(await again(), version);
  });

  contract("apply() makes none where there is one already", async (harness) => {
    const { subject } = harness;
    await subject.apply(reportOf(harness, "db"));
    const late = reportOf(harness, "job");
    await assertRefused(subject.apply(late), EXISTS);
    assert.deepEqual((await harness.read(NAME))?.workloads, [workload("db")]);
  });

  contract("list() has the namespace's as they are now", async (harness) => {
    const { subject, namespace } = harness;
    assert.deepEqual(await subject.list(namespace), []);
    const made = await subject.apply(reportOf(harness, "db"));
    assert.deepEqual(await subject.list(namespace), [made]);
    assert.deepEqual(await subject.list("kube-node-lease"), []);
  });

  contract("apply() is refused with 409 for an old version", async (harness) => {
    const { subject } = harness;
    const { metadata: { resourceVersion } } = await subject.apply(reportOf(harness, "db"));
    await subject.apply({ ...reportOf(harness, "web"), resourceVersion });
    const late = { ...reportOf(harness, "job"), resourceVersion };
    await assertRefused(subject.apply(late), CONFLICT);
    assert.deepEqual((await harness.read(NAME))?.workloads, [workload("web")]);
  });

  contract("apply() is refused with 422 for a malformed workload", async (harness) => {
    const malformed = { ...workload("db"), name: "" };
    const report = { ...reportOf(harness), workloads: [malformed] };
    await assertRefused(harness.subject.apply(report), INVALID);
    assert.equal(await harness.read(NAME), undefined);
  });

  contract("remove() deletes once and then answers 404", async (harness) => {
    const made = await harness.subject.apply(reportOf(harness, "db"));
    await harness.subject.remove(made);
    assert.equal(await harness.read(NAME), undefined);
    await assertRefused(harness.subject.remove(made), NOT_FOUND);
  });

  contract("remove() leaves a report alone that has another UID", async (harness) => {
    const made = await harness.subject.apply(reportOf(harness, "db"));
    const uid = "00000000-0000-4000-8000-000000000000";
    const other = { metadata: { ...made.metadata, uid } };
    await assertRefused(harness.subject.remove(other), { status: 409 });
    assert.deepEqual(await harness.read(NAME), made);
  });

  contract("remove() leaves a report alone that has another version", async (harness) => {
    const { subject } = harness;
    const made = await subject.apply(reportOf(harness, "db"));
    const { resourceVersion } = made.metadata;
    const now = await subject.apply({ ...reportOf(harness, "web"), resourceVersion });
    await assertRefused(subject.remove(made), { status: 409 });
    assert.deepEqual(await harness.read(NAME), now);
  });
}
