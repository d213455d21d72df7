import assert from "node:assert/strict";
import { quotaCounts, type ScopedPod } from "./resource_quota.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const plain: ScopedPod = { qosClass: "Burstable" };
const job: ScopedPod = { ...plain, hasDeadline: true };
const idle: ScopedPod = { qosClass: "BestEffort" };
const high: ScopedPod = { ...plain, priorityClassName: "high" };
const low: ScopedPod = { ...plain, priorityClassName: "low" };

function counted(
  name: string,
  operator = "Exists",
  values: readonly string[] = [],
): readonly string[] {
  const quota = { scopes: [{ name, operator, values }] };
  return Object.entries({ plain, job, idle, high, low })
    .filter(([, pod]) => quotaCounts(quota, pod)).map(([label]) => label);
}

test("quotaCounts() counts all pods where no scope is", () => {
  for (const pod of [plain, job, idle, high]) assert.ok(quotaCounts({ scopes: [] }, pod));
});

test("quotaCounts() distinguishes pods with a deadline", () => {
  assert.deepEqual(counted("Terminating"), ["job"]);
  assert.deepEqual(counted("NotTerminating"), ["plain", "idle", "high", "low"]);
});

test("quotaCounts() distinguishes BestEffort pods", () => {
  assert.deepEqual(counted("BestEffort"), ["idle"]);
  assert.deepEqual(counted("NotBestEffort"), ["plain", "job", "high", "low"]);
});

test("quotaCounts() goes by the PriorityClass as a label selector does", () => {
  const of = (operator: string, ...values: readonly string[]) =>
    counted("PriorityClass", operator, values);
  assert.deepEqual(of("Exists"), ["high", "low"]);
  assert.deepEqual(of("DoesNotExist"), ["plain", "job", "idle"]);
  assert.deepEqual(of("In", "high", "top"), ["high"]);
  assert.deepEqual(of("NotIn", "high", "top"), ["plain", "job", "idle", "low"]);
});

test("quotaCounts() asks for all scopes together", () => {
  const exists = { operator: "Exists", values: [] };
  const scopes = [
    { name: "NotTerminating", ...exists },
    { name: "PriorityClass", operator: "In", values: ["high"] },
  ];
  assert.ok(quotaCounts({ scopes }, high));
  for (const pod of [plain, low, { ...high, hasDeadline: true as const }]) {
    assert.ok(!quotaCounts({ scopes }, pod));
  }
});

test("quotaCounts() counts every pod for what it can't judge", () => {
  const all = ["plain", "job", "idle", "high", "low"];
  assert.deepEqual(counted("CrossNamespacePodAffinity"), all);
  assert.deepEqual(counted("Tomorrow"), all);
  assert.deepEqual(counted("PriorityClass", "Gt", ["5"]), all);
  assert.deepEqual(counted("PriorityClass", "In"), all);
  assert.deepEqual(counted("PriorityClass", "NotIn"), all);
});
