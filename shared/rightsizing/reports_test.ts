import fc from "fast-check";
import assert from "node:assert/strict";
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

pure("reportParts() keeps each object below a megabyte, however much there is to report", () => {
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

pure("reportParts() writes what was used in quantities, and nothing where it is not kept", () => {
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

pure(
  "recordsOf() leaves out an entry that another client has spoiled, and keeps the others",
  () => {
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
  },
);

pure("isReportName() knows the names that reportParts() gives", () => {
  for (const name of ["recommendations-1", "recommendations-12"]) assert.ok(isReportName(name));
  for (const name of ["recommendations", "recommendations-0", "recommendations-1a", "mine-1"]) {
    assert.equal(isReportName(name), false, name);
  }
});

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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

function merged({ own = [], found = [], known = [] }: Versions, leads: boolean): unknown {
  const versions = { own: own.map(record), found: found.map(record), known: known.map(record) };
  const { records, taken, isAhead } = mergeRecords(versions, { leads });
  const messages = (all: readonly WorkloadRecord[]) => all.map(({ message }) => message).sort();
  return { records: messages(records), taken: messages(taken), isAhead };
}

test("mergeRecords() keeps what was applied later, by either leader", () => {
  for (const leads of [true, false]) {
    const known = ["web 3 before"];
    assert.deepEqual(merged({ own: ["web 5 own"], found: ["web 4 other"], known }, leads), {
      records: ["web 5 own"],
      taken: [],
      isAhead: true,
    });
    assert.deepEqual(merged({ own: ["web 4 own"], found: ["web 5 other"], known }, leads), {
      records: ["web 5 other"],
      taken: ["web 5 other"],
      isAhead: false,
    });
    assert.deepEqual(merged({ own: ["web 5 own"], found: ["web other"] }, leads), {
      records: ["web 5 own"],
      taken: [],
      isAhead: true,
    });
    assert.deepEqual(merged({ found: ["web 5 other"], known: ["web 3 before"] }, leads), {
      records: ["web 5 other"],
      taken: ["web 5 other"],
      isAhead: false,
    });
  }
});

test("mergeRecords() believes the one that leads in all else", () => {
  const versions = {
    own: ["web 3 own", "db own"],
    found: ["web 3 other", "db other"],
    known: ["web 3 before"],
  };
  assert.deepEqual(merged(versions, true), {
    records: ["db own", "web 3 own"],
    taken: [],
    isAhead: false,
  });
  assert.deepEqual(merged(versions, false), {
    records: ["db other", "web 3 other"],
    taken: ["db other", "web 3 other"],
    isAhead: false,
  });
});

test("mergeRecords() keeps workloads that the one that leads has, and those that it can't know", () => {
  const nothing = { records: [], taken: [], isAhead: false };
  const gone = "web 3 before";
  assert.deepEqual(merged({ found: [gone], known: [gone] }, true), nothing, "it has dropped it");
  assert.deepEqual(merged({ own: [gone], known: [gone] }, false), nothing, "the next one has");
  assert.deepEqual(merged({ own: ["web own"] }, false), nothing);
  assert.deepEqual(merged({ found: ["web other"] }, true), {
    records: ["web other"],
    taken: ["web other"],
    isAhead: false,
  });
  assert.deepEqual(merged({ own: ["web own"] }, true), {
    records: ["web own"],
    taken: [],
    isAhead: false,
  });
  assert.deepEqual(merged({ own: ["web 5 own"], known: [gone] }, false), {
    records: ["web 5 own"],
    taken: [],
    isAhead: true,
  });
});
