import assert from "node:assert/strict";
import fc from "fast-check";
import { largeRecord, workloadRecords } from "../../tests/fixtures/workload_records.ts";
import { recommendationReportSchema } from "../api/recommendation_report.ts";
import { isReportName, recordsOf, reportParts } from "./report_parts.ts";
import type { WorkloadRecord } from "./workload_record.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MEGABYTE = 1_000_000;

/** The object as it goes to the server. */
function objectsOf(records: readonly WorkloadRecord[]): readonly unknown[] {
  return reportParts(records).map(({ name, workloads }) => ({
    apiVersion: "optipod.io/v1alpha1",
    kind: "RecommendationReport",
    metadata: { name, namespace: "shop", uid: "u", resourceVersion: "1" },
    workloads,
  }));
}

function sizes(records: readonly WorkloadRecord[]): readonly number[] {
  return objectsOf(records).map((object) =>
    new TextEncoder().encode(JSON.stringify(object)).length
  );
}

function sorted(records: readonly WorkloadRecord[]): readonly WorkloadRecord[] {
  const key = ({ workload }: WorkloadRecord): string => `${workload.kind}/${workload.name}`;
  return records.toSorted((a, b) => key(a) < key(b) ? -1 : 1);
}

pure("reportParts() makes no report of nothing, and one of a few workloads", () => {
  assert.deepEqual(reportParts([]), []);
  const few = [largeRecord("web", { containers: 2, explanation: 300 })];
  assert.deepEqual(reportParts(few).map(({ name }) => name), ["recommendations-1"]);
});

pure("reportParts() keeps each object below a megabyte, however much there is to tell", () => {
  const many = Array.from(
    { length: 2000 },
    (_, index) => largeRecord(`web-${index}`, { containers: 3, explanation: 400 }),
  );
  const one = [largeRecord("giant", { containers: 1000, explanation: 4000 })];
  for (const records of [many, one, [...many, ...one]]) {
    const found = sizes(records);
    assert.ok(found.length > 3, `${found.length}`);
    assert.ok(Math.max(...found) < MEGABYTE, `${Math.max(...found)}`);
    assert.deepEqual(recordsOf(reportParts(records), "shop"), sorted(records));
  }
  assert.deepEqual(
    reportParts(many).map(({ name }) => name).slice(0, 3),
    ["recommendations-1", "recommendations-2", "recommendations-3"],
  );
});

pure("reportParts() writes what the schema takes, and recordsOf() reads the same records", () => {
  fc.assert(
    fc.property(workloadRecords("shop", { mostContainers: 200 }), (records) => {
      for (const object of objectsOf(records)) {
        assert.deepEqual(recommendationReportSchema.parse(object), object);
      }
      assert.ok(sizes(records).every((size) => size < MEGABYTE));
      assert.deepEqual(
        JSON.stringify(recordsOf(reportParts(records), "shop")),
        JSON.stringify(sorted(records)),
      );
    }),
  );
});

pure("reportParts() writes memory in bytes, and quantities that are read again", () => {
  const [part] = reportParts([largeRecord("web", { containers: 1, explanation: 2 })]);
  assert.deepEqual(part?.workloads[0]?.recommendations, [
    { container: "container-0", cpu: "250m", memory: "88617123", explanation: "é" },
  ]);
});

pure("reportParts() writes what was used in quantities, and nothing where nobody keeps it", () => {
  const figures = { samples: 9, min: 0, p50: 120, p90: 280, p95: 300, p99: 900, max: 2000 };
  const record = largeRecord("web", { containers: 1, explanation: 2 });
  const usage = [{ container: "app", cpu: figures }, { container: "side", memory: figures }];
  const [used, unused] = reportParts([{ ...record, usage }, record])
    .flatMap(({ workloads }) => workloads);
  assert.deepEqual(used?.usage, [
    {
      container: "app",
      cpu: { ...figures, min: "0", p50: "120m", p90: "280m", p95: "300m", p99: "900m", max: "2" },
    },
    {
      container: "side",
      memory: { samples: 9, min: "0", p50: "120", p90: "280", p95: "300", p99: "900", max: "2000" },
    },
  ]);
  assert.ok(unused !== undefined && !("usage" in unused));
});

pure("reportParts() cuts an explanation that the schema would refuse", () => {
  const [part] = reportParts([largeRecord("web", { containers: 1, explanation: 20_000 })]);
  const text = part?.workloads[0]?.recommendations[0]?.explanation ?? "";
  assert.equal(new TextEncoder().encode(text).length <= 4096, true);
  assert.match(text, /^é+…$/);
});

pure("recordsOf() leaves out an entry that somebody else has spoiled, and keeps the others", () => {
  const records = ["a", "b"].map((name) => largeRecord(name, { containers: 1, explanation: 10 }));
  const [part] = reportParts(records);
  const [first, second] = part?.workloads ?? [];
  assert.ok(first !== undefined && second !== undefined);
  for (
    const spoiled of [
      { ...first, lastApplied: "yesterday" },
      { ...first, inForce: [{ container: "app", cpu: "much" }] },
    ]
  ) {
    assert.deepEqual(recordsOf([{ workloads: [spoiled, second] }], "shop"), [records[1]]);
  }
});

pure("isReportName() knows the names that reportParts() gives", () => {
  for (const name of ["recommendations-1", "recommendations-12"]) assert.ok(isReportName(name));
  for (const name of ["recommendations", "recommendations-0", "recommendations-1a", "mine-1"]) {
    assert.equal(isReportName(name), false, name);
  }
});
