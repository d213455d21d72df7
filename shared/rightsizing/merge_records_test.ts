import assert from "node:assert/strict";
import { mergeRecords, type RecordVersions } from "./merge_records.ts";
import type { WorkloadRecord } from "./workload_record.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** `web 5 own`: of workload web, applied at 5, and who says so; `web own`: nothing was ever applied. */
function record(words: string): WorkloadRecord {
  const [name = "", second = "", third] = words.split(" ");
  return {
    workload: { kind: "Deployment", namespace: "shop", name },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [],
    ...(third === undefined ? {} : { appliedAtMs: Number(second) }),
    message: words,
  };
}

type Words = Partial<Record<keyof RecordVersions, readonly string[]>>;

function merged({ own = [], found = [], known = [] }: Words, leads: boolean): unknown {
  const versions = { own: own.map(record), found: found.map(record), known: known.map(record) };
  const { records, taken, hasNews } = mergeRecords(versions, { leads });
  const words = (all: readonly WorkloadRecord[]) => all.map(({ message }) => message).sort();
  return { records: words(records), taken: words(taken), hasNews };
}

test("mergeRecords() keeps what was applied later, whoever leads", () => {
  for (const leads of [true, false]) {
    const known = ["web 3 before"];
    assert.deepEqual(merged({ own: ["web 5 own"], found: ["web 4 other"], known }, leads), {
      records: ["web 5 own"],
      taken: [],
      hasNews: true,
    });
    assert.deepEqual(merged({ own: ["web 4 own"], found: ["web 5 other"], known }, leads), {
      records: ["web 5 other"],
      taken: ["web 5 other"],
      hasNews: false,
    });
    assert.deepEqual(merged({ own: ["web 5 own"], found: ["web other"] }, leads), {
      records: ["web 5 own"],
      taken: [],
      hasNews: true,
    });
    assert.deepEqual(merged({ found: ["web 5 other"], known: ["web 3 before"] }, leads), {
      records: ["web 5 other"],
      taken: ["web 5 other"],
      hasNews: false,
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
    hasNews: false,
  });
  assert.deepEqual(merged(versions, false), {
    records: ["db other", "web 3 other"],
    taken: ["db other", "web 3 other"],
    hasNews: false,
  });
});

test("mergeRecords() keeps workloads that the one that leads has, and those that it can't know", () => {
  const nothing = { records: [], taken: [], hasNews: false };
  const gone = "web 3 before";
  assert.deepEqual(merged({ found: [gone], known: [gone] }, true), nothing, "it has dropped it");
  assert.deepEqual(merged({ own: [gone], known: [gone] }, false), nothing, "the next one has");
  assert.deepEqual(merged({ own: ["web own"] }, false), nothing);
  assert.deepEqual(merged({ found: ["web other"] }, true), {
    records: ["web other"],
    taken: ["web other"],
    hasNews: false,
  });
  assert.deepEqual(merged({ own: ["web own"] }, true), {
    records: ["web own"],
    taken: [],
    hasNews: false,
  });
  assert.deepEqual(merged({ own: ["web 5 own"], known: [gone] }, false), {
    records: ["web 5 own"],
    taken: [],
    hasNews: true,
  });
});
