/**
 * The contracts of `AllocationStore`, `DesiredWriter`, `PolicyStatusWriter` and `ReportStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AllocationStore, DesiredWriter } from "../../shared/api/ports.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  EXISTS,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
  OTHER_UID,
} from "./support/contract_harness.ts";
import { sampleAllocation, sampleDesired } from "./support/sample_objects.ts";
import type { NewReport, PolicyStatusWriter, ReportStore } from "../../shared/rightsizing/ports.ts";
import type { PolicyStatus } from "../../shared/api/policy_status.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import type {
  RecommendationReport,
  ReportedWorkload,
} from "../../shared/api/recommendation_report.ts";

/** A server with a pod to allocate for. */
export interface AllocationStoreHarness extends ContractHarness {
  readonly subject: AllocationStore;
  readonly pod: Pod;
  /** The stored object. */
  read(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

const STATUS: PodAllocationStatus = {
  bounds: {
    revision: 1,
    reason: "",
    containers: [{
      name: "app",
      containerID: "containerd://ab",
      floor: 100,
      ceiling: 800,
      weight: 100,
    }],
  },
  originalLimits: [{ name: "app", cpu: "200m" }],
  phase: "Pending",
  reason: "Waiting",
};

/** Registers the suite. */
export function allocationStoreContract(open: OpenHarness<AllocationStoreHarness>): void {
  const contract = contractTests(open);
  const create = ({ subject, pod }: AllocationStoreHarness): Promise<PodAllocation> =>
    subject.create(sampleAllocation(pod));

  contract("create() gives UID and version and stores no status", async (harness) => {
    const written = { ...sampleAllocation(harness.pod), status: STATUS };
    const created = await harness.subject.create(written);
    assert.ok(created.metadata.uid !== "" && created.metadata.resourceVersion !== "");
    assert.equal(created.status?.phase, undefined);
    assert.deepEqual(created.spec, written.spec);
    assert.deepEqual(created.metadata.ownerReferences?.[0]?.uid, harness.pod.metadata.uid);
    assert.deepEqual(await harness.read(created), created);
  });

  contract("create() is refused with 409 when the object exists", async (harness) => {
    await create(harness);
    await assertRefused(harness.subject.create(sampleAllocation(harness.pod)), EXISTS);
  });

  contract("create() is refused with 422 when a field is malformed", async (harness) => {
    const plain = sampleAllocation(harness.pod);
    const written = { ...plain, spec: { ...plain.spec, desiredCPULimit: "plenty" } };
    await assertRefused(harness.subject.create(written), INVALID);
    assert.equal(await harness.read(plain), undefined);
  });

  contract("writeStatus() replaces the status and nothing else", async (harness) => {
    const created = await create(harness);
    const spec = { ...created.spec, desiredCPULimit: "900m" };
    const first = await harness.subject.writeStatus({ ...created, spec, status: STATUS });
    assert.deepEqual([first.spec, first.status], [created.spec, STATUS]);
    assert.equal(first.metadata.generation, created.metadata.generation);
    assert.notEqual(first.metadata.resourceVersion, created.metadata.resourceVersion);
    const second = await harness.subject.writeStatus({ ...first, status: { phase: "Applied" } });
    assert.deepEqual(second.status, { phase: "Applied" });
    assert.deepEqual(await harness.read(created), second);
  });

  contract("writeStatus() is refused with 409 for an old version", async (harness) => {
    const created = await create(harness);
    await harness.subject.writeStatus({ ...created, status: STATUS });
    const late = { ...created, status: { phase: "Failed" as const } };
    await assertRefused(harness.subject.writeStatus(late), CONFLICT);
    assert.deepEqual((await harness.read(created))?.status, STATUS);
  });

  contract("writeStatus() is refused with 422 when a field is malformed", async (harness) => {
    const created = await create(harness);
    const status = { ...STATUS, appliedCPULimit: "much" };
    await assertRefused(harness.subject.writeStatus({ ...created, status }), INVALID);
  });

  contract("writeStatus() with what is there already writes nothing", async (harness) => {
    const created = await create(harness);
    const first = await harness.subject.writeStatus({ ...created, status: STATUS });
    const again = await harness.subject.writeStatus(first);
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
  });

  contract("remove() deletes once and then answers 404", async (harness) => {
    const created = await create(harness);
    await harness.subject.remove(created);
    assert.equal(await harness.read(created), undefined);
    await assertRefused(harness.subject.remove(created), NOT_FOUND);
    await assertRefused(harness.subject.writeStatus(created), NOT_FOUND);
  });

  contract("remove() leaves an object alone that has another UID", async (harness) => {
    const created = await create(harness);
    const other = { ...created, metadata: { ...created.metadata, uid: OTHER_UID } };
    await assertRefused(harness.subject.remove(other), { status: 409 });
    assert.deepEqual(await harness.read(created), created);
  });
}

/** A server with two allocations, written to with the rights of one node's agent. */
export interface DesiredWriterHarness extends ContractHarness {
  readonly subject: DesiredWriter;
  /** An allocation of the agent's node, with a status. */
  readonly own: PodAllocation;
  /** An allocation of another node. */
  readonly foreign: PodAllocation;
  /** The stored object. */
  read(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

/** Registers the suite. */
export function desiredWriterContract(open: OpenHarness<DesiredWriterHarness>): void {
  const contract = contractTests(open);
  contract("writeDesired() merges into the spec and leaves the rest", async (harness) => {
    const { own, subject } = harness;
    const desired = sampleDesired("350m");
    const version = await subject.writeDesired(own.metadata, desired);
    const stored = await harness.read(own);
    assert.equal(version, stored?.metadata.resourceVersion);
    assert.notEqual(version, own.metadata.resourceVersion);
    assert.deepEqual(stored?.spec, { ...own.spec, ...desired });
    assert.deepEqual(stored?.status, own.status);
    assert.deepEqual(stored?.metadata.ownerReferences, own.metadata.ownerReferences);
    assert.equal(stored?.metadata.generation, (own.metadata.generation ?? 0) + 1);
  });

  contract("writeDesired() leaves no price of an earlier clearing behind", async (harness) => {
    const { own, subject } = harness;
    await subject.writeDesired(own.metadata, sampleDesired("350m"));
    const { price: _price, ...market } = sampleDesired("100m").market ?? assert.fail();
    const infinite = {
      ...sampleDesired("100m"),
      market: { ...market, mode: "overloaded" as const },
    };
    await subject.writeDesired(own.metadata, infinite);
    const stored = await harness.read(own);
    assert.deepEqual(stored?.spec, { ...own.spec, ...infinite });
  });

  contract("writeDesired() keeps the fields that are not given", async (harness) => {
    const { own, subject } = harness;
    const desired = sampleDesired("350m");
    const { market, ...limits } = sampleDesired("500m", 0.02);
    await subject.writeDesired(own.metadata, desired);
    await subject.writeDesired(own.metadata, limits);
    assert.deepEqual((await harness.read(own))?.spec, {
      ...own.spec,
      ...limits,
      market: desired.market,
    });
    assert.notDeepEqual(market, desired.market);
  });

  contract("writeDesired() is refused with 422 when a field is malformed", async (harness) => {
    const { own, subject } = harness;
    const malformed = { desiredCPULimit: "-5m" };
    await assertRefused(subject.writeDesired(own.metadata, malformed), INVALID);
    assert.deepEqual(await harness.read(own), own);
  });

  contract("writeDesired() is refused with 404 when the object is gone", async (harness) => {
    const gone = { namespace: harness.own.metadata.namespace, name: "gone" };
    await assertRefused(harness.subject.writeDesired(gone, sampleDesired("1")), NOT_FOUND);
  });

  contract("writeDesired() is refused with 422 when the object was made anew", async (harness) => {
    const { own, subject } = harness;
    const before = { ...own.metadata, uid: OTHER_UID };
    await assertRefused(subject.writeDesired(before, sampleDesired("350m")), INVALID);
    assert.deepEqual(await harness.read(own), own);
  });

  contract("writeDesired() is refused for another node's allocation", async (harness) => {
    const { foreign, subject } = harness;
    await assertRefused(subject.writeDesired(foreign.metadata, sampleDesired("1")), {
      status: 403,
    });
    assert.deepEqual(await harness.read(foreign), foreign);
  });
}

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

  contract("apply() makes the report, which list() then has", async (harness) => {
    const { subject, namespace } = harness;
    assert.deepEqual(await subject.list(namespace), []);
    const made = await subject.apply(reportOf(harness, "db", "web"));
    assert.ok(made.metadata.uid !== "" && made.metadata.resourceVersion !== "");
    assert.deepEqual(made.workloads, [workload("db"), workload("web")]);
    assert.deepEqual(await harness.read(NAME), made);
    assert.deepEqual(await subject.list(namespace), [made]);
    assert.deepEqual(await subject.list("kube-node-lease"), []);
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
    const other = { metadata: { ...made.metadata, uid: OTHER_UID } };
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
