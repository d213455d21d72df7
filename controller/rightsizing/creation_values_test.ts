import assert from "node:assert/strict";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { PolicySpec } from "../../shared/rightsizing/policy_spec.ts";
import { reportParts } from "../../shared/rightsizing/report_parts.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { ValuesInForce } from "../../shared/rightsizing/workload_record.ts";
import { autoPolicy, MI } from "../../tests/fixtures/rightsizing_facts.ts";
import { createCreationValues } from "./creation_values.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const WEB = { kind: "Deployment", name: "web" } as const;
const IN_FORCE = [{ container: "app", cpu: 180, memory: 96 * MI }];

function report(inForce: readonly ValuesInForce[], resourceVersion = "1"): RecommendationReport {
  const [part] = reportParts([{
    workload: { ...WEB, namespace: "shop" },
    policy: { namespace: "ops", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce,
  }]);
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "RecommendationReport",
    metadata: { name: part?.name ?? "", namespace: "shop", uid: "u", resourceVersion },
    workloads: [...part?.workloads ?? []],
  };
}

function valuesWith(spec: PolicySpec | undefined, { dryRun = false } = {}) {
  const reports = [report(IN_FORCE)];
  const policy = spec && ({ spec } as StoredPolicy);
  const values = createCreationValues({
    reports: { byIndex: (namespace) => namespace === "shop" ? reports : [] },
    policies: { get: (key) => key === "ops/all" ? policy : undefined },
    dryRun: () => dryRun,
  });
  return { reports, values };
}

test("createCreationValues() tells what is in force, and follows the reports", () => {
  const { reports, values } = valuesWith(autoPolicy());
  const app = { requestCPU: 180, requestMemory: 96 * MI };
  assert.deepEqual(values("shop", WEB), new Map([["app", app]]));
  assert.equal(values("shop", { kind: "StatefulSet", name: "web" }), undefined);
  assert.equal(values("bank", WEB), undefined);
  reports[0] = report([{ container: "app", cpu: 250 }], "2");
  assert.deepEqual(values("shop", WEB), new Map([["app", { requestCPU: 250 }]]));
  reports[0] = report([], "3");
  assert.equal(values("shop", WEB), undefined);
});

test("createCreationValues() leaves pods to their template where nobody wants them changed", () => {
  for (
    const spec of [
      undefined,
      autoPolicy({}, { mode: "Recommend" }),
      autoPolicy({}, { mode: "Disabled" }),
      autoPolicy({ allowInPlaceResize: false, allowRecreate: true }),
    ]
  ) {
    assert.equal(valuesWith(spec).values("shop", WEB), undefined);
  }
  assert.equal(valuesWith(autoPolicy(), { dryRun: true }).values("shop", WEB), undefined);
  assert.notEqual(valuesWith(autoPolicy()).values("shop", WEB), undefined);
});
