import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { largeRecord, workloadRecords } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { recommendationReportSchema } from "../api/recommendation_report.ts";
import {
  isReportName,
  mergeRecords,
  recordsOf,
  type RecordVersions,
  reportParts,
} from "./reports.ts";
import type { WorkloadRecord } from "./workload_record.ts";

/** The objects as they go to the server, with their sizes. */
function objectsOf(records: readonly WorkloadRecord[]) {
  return reportParts(records).map(({ name, workloads }) => {
    const object = {
      apiVersion: "optipod.io/v1alpha1",
      kind: "RecommendationReport",
      metadata: { name, namespace: "shop", uid: "u", resourceVersion: "1" },
      workloads,
    };
    return { object, bytes: new TextEncoder().encode(JSON.stringify(object)).length };
  });
}

function sorted(records: readonly WorkloadRecord[]): readonly WorkloadRecord[] {
  const key = ({ workload }: WorkloadRecord): string => `${workload.kind}/${workload.name}`;
  return records.toSorted((a, b) => key(a) < key(b) ? -1 : 1);
}

pure("reportParts() keeps each object below a megabyte, however much there is to report", () => {
  assert.deepEqual(reportParts([]), []);
  const many = Array.from(
    { length: 2000 },
    (_, index) => largeRecord(`web-${index}`, { containers: 3, explanation: 400 }),
  );
  const giant = largeRecord("giant", { containers: 1000, explanation: 4000 });
  const template = giant.inForce.map(({ container }) => ({ container, values: { cpu: 100 } }));
  const one = [{ ...giant, template }];
  for (const records of [many, one, [...many, ...one]]) {
    const sizes = objectsOf(records).map(({ bytes }) => bytes);
    assert.ok(sizes.length > 3, `${sizes.length}`);
    assert.ok(Math.max(...sizes) < 1_000_000, `${Math.max(...sizes)}`);
    assert.deepEqual(recordsOf(reportParts(records), "shop"), sorted(records));
  }
  const names = reportParts(many).map(({ name }) => name);
  assert.deepEqual(names.slice(0, 2), ["recommendations-1", "recommendations-2"]);
  assert.ok(names.every(isReportName));
  const others = ["recommendations", "recommendations-0", "recommendations-1a", "mine-1"];
  assert.ok(!others.some(isReportName));
});

pure("reportParts() writes what the schema takes, and recordsOf() reads the same records", () => {
  fc.assert(
    fc.property(workloadRecords("shop", { mostContainers: 200 }), (records) => {
      for (const { object, bytes } of objectsOf(records)) {
        assert.deepEqual(recommendationReportSchema.parse(object), object);
        assert.ok(bytes < 1_000_000);
      }
      const read = recordsOf(reportParts(records), "shop");
      assert.equal(JSON.stringify(read), JSON.stringify(sorted(records)));
    }),
  );
});

pure("reportParts() writes quantities, bytes and times", () => {
  const figures = { samples: 9, min: 0, p50: 120, p90: 280, p95: 300, p99: 900, max: 2 ** 20 };
  const record = largeRecord("web", { containers: 1, explanation: 2 });
  const usage = [{ container: "app", cpu: figures }, { container: "side", memory: figures }];
  const [used, unused] = reportParts([{ ...record, usage, appliedAtMs: 1 }, record])
    .flatMap(({ workloads }) => workloads);
  assert.deepEqual(used?.recommendations, [
    { container: "container-0", cpu: "250m", memory: "88617123", explanation: "é" },
  ]);
  assert.equal(used?.lastApplied, "1970-01-01T00:00:00.001Z");
  const bytes = { min: "0", p50: "120", p90: "280", p95: "300", p99: "900", max: "1048576" };
  const cpu = { min: "0", p50: "120m", p90: "280m", p95: "300m", p99: "900m", max: "1048576m" };
  assert.deepEqual(used?.usage, [
    { container: "app", cpu: { samples: 9, ...cpu } },
    { container: "side", memory: { samples: 9, ...bytes } },
  ]);
  assert.ok(unused !== undefined && !("usage" in unused));
});

pure("reportParts() cuts an explanation that the schema would refuse", () => {
  const [part] = reportParts([largeRecord("web", { containers: 1, explanation: 20_000 })]);
  const text = part?.workloads[0]?.recommendations[0]?.explanation ?? "";
  assert.ok(new TextEncoder().encode(text).length <= 4096);
  assert.match(text, /^é+…$/);
});

pure("recordsOf() leaves out a spoiled entry, and keeps the others", () => {
  const records = ["a", "b"].map((name) => largeRecord(name, { containers: 1, explanation: 10 }));
  const [first = assert.fail(), second = assert.fail()] = reportParts(records)[0]?.workloads ??
    [];
  const spoiled = [{ lastApplied: "yesterday" }, { inForce: [{ container: "app", cpu: "much" }] }];
  for (const change of spoiled) {
    const workloads = [{ ...first, ...change }, second];
    assert.deepEqual(recordsOf([{ workloads }], "shop"), [records[1]]);
  }
});

/** `web 5 own`: of workload web, applied at 5, by which controller; `web own`: nothing was ever applied. */
function record(text: string): WorkloadRecord {
  const [name = "", second = "", third] = text.split(" ");
  return {
    workload: { kind: "Deployment", namespace: "shop", name },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [],
    ...(third === undefined ? {} : { appliedAtMs: Number(second) }),
    message: text,
  };
}

type Versions = Partial<Record<keyof RecordVersions, readonly string[]>>;

/** The records, `*` after those of the other controller; `ahead` at the end. */
function merged({ own = [], found = [], known = [] }: Versions, leads: boolean): string {
  const versions = { own: own.map(record), found: found.map(record), known: known.map(record) };
  const { records, taken, isAhead } = mergeRecords(versions, { leads });
  const names = records.map((one) => `${one.message}${taken.includes(one) ? "*" : ""}`).sort();
  return [...names, ...isAhead ? ["ahead"] : []].join(", ");
}

pure("mergeRecords() keeps what was applied later, else the leader's", () => {
  const before = ["web 3 before"];
  const tie: Versions = {
    own: ["web 3 own", "db own"],
    found: ["web 3 other", "db other"],
    known: before,
  };
  const rows: readonly (readonly [Versions, leads: string, otherwise: string])[] = [
    [
      { own: ["web 5 own"], found: ["web 4 other"], known: before },
      "web 5 own, ahead",
      "web 5 own, ahead",
    ],
    [{ own: ["web 4 own"], found: ["web 5 other"], known: before }, "web 5 other*", "web 5 other*"],
    [{ own: ["web 5 own"], found: ["web other"] }, "web 5 own, ahead", "web 5 own, ahead"],
    [{ found: ["web 5 other"], known: before }, "web 5 other*", "web 5 other*"],
    [tie, "db own, web 3 own", "db other*, web 3 other*"],
    // What the one that leads has dropped is gone, and what it can't know is not.
    [{ found: before, known: before }, "", "web 3 before*"],
    [{ own: before, known: before }, "web 3 before", ""],
    [{ own: ["web own"] }, "web own", ""],
    [{ found: ["web other"] }, "web other*", "web other*"],
    [{ own: ["web 5 own"], known: before }, "web 5 own, ahead", "web 5 own, ahead"],
  ];
  for (const [versions, leads, otherwise] of rows) {
    assert.deepEqual([merged(versions, true), merged(versions, false)], [leads, otherwise]);
  }
});
