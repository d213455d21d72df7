import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { OPTIPOD_GROUP_VERSION } from "../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { NewReport } from "./ports.ts";
import { RecordStore, writeAppliedRecords } from "./store.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

function recordOf(name: string, fields: Partial<WorkloadRecord> = {}): WorkloadRecord {
  return {
    workload: { kind: "Deployment", namespace: "shop", name },
    policy: { namespace: "shop", name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: [{ container: "app", cpu: 150 }],
    ...fields,
  };
}

/** A store; with `held.on`, each write waits for its gate. */
function stage(
  { reports = [], log = silentLog }: {
    readonly reports?: readonly RecommendationReport[];
    readonly log?: Log;
  } = {},
) {
  const stored = new Map(reports.map((one) => [key(one.metadata), one]));
  const state = { applied: [] as NewReport[], refusal: undefined as Error | undefined, nowMs: 0 };
  const end = new AbortController();
  const gates: PromiseWithResolvers<void>[] = [];
  const held = { on: false };
  const records: RecordStore = new RecordStore({
    reports,
    log,
    clock: { monotonic: () => state.nowMs },
    signal: end.signal,
    store: {
      list: (namespace) =>
        Promise.resolve([...stored.values()].filter((one) => one.metadata.namespace === namespace)),
      async apply(report) {
        state.applied.push(report);
        if (held.on) {
          const gate = Promise.withResolvers<void>();
          gates.push(gate);
          await gate.promise;
        }
        if (state.refusal !== undefined) throw state.refusal;
        const before = stored.get(key(report))?.metadata.resourceVersion;
        if (report.resourceVersion !== before) throw new ApiError(409, "Conflict", "modified");
        const made = reportOf(report, `${Number(before ?? 0) + 1}`);
        stored.set(key(report), made);
        return made;
      },
      remove({ metadata }) {
        if (!stored.delete(key(metadata))) {
          return Promise.reject(new ApiError(404, "NotFound", "not found"));
        }
        return Promise.resolve();
      },
    },
  });
  return { records, stored, state, gates, held, end };
}

function key({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function reportOf(
  { namespace, name, workloads }: NewReport,
  resourceVersion: string,
): RecommendationReport {
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: { namespace, name, uid: "u", resourceVersion, labels: {} },
    workloads: [...workloads],
  };
}

const web = recordOf("web");

/** Lets all promises settle that do not wait for the store. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

test("RecordStore begins with the records of the reports, and flush() writes only what has changed", async () => {
  const first = stage();
  first.records.set(web);
  await first.records.flush();
  const second = stage({ reports: [...first.stored.values()] });
  assert.deepEqual(second.records.get(web.workload)?.inForce, web.inForce);
  await second.records.flush();
  assert.equal(second.state.applied.length, 0);
  second.records.set(recordOf("db"));
  await second.records.flush();
  assert.deepEqual(
    second.state.applied.map(({ workloads }) => workloads.map(({ name }) => name)),
    [["db", "web"]],
  );
});

test("flush() sends no second write of a namespace while one is on its way", async () => {
  const { records, state, gates, held, stored } = stage();
  held.on = true;
  records.set(web);
  const first = records.flush();
  await settled();
  records.set(recordOf("web", { inForce: [{ container: "app", cpu: 300 }] }));
  const second = records.flush();
  await settled();
  assert.equal(state.applied.length, 1);
  gates[0]?.resolve();
  await first;
  await settled();
  assert.equal(state.applied.length, 2);
  gates[1]?.resolve();
  await second;
  const [{ workloads } = { workloads: [] }] = stored.values();
  assert.equal(workloads[0]?.inForce?.[0]?.cpu, "300m");
});

test("flush() tries again what the server has refused, and logs it once", async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const { records, state, stored } = stage({ log });
  state.refusal = new ApiError(503, "ServiceUnavailable", "busy");
  records.set(web);
  await records.flush();
  await records.flush();
  assert.deepEqual([stored.size, warnings.length], [0, 1]);
  state.refusal = undefined;
  await records.flush();
  assert.equal(stored.size, 1);
});

test("flush() tries again what failed by a defect", async () => {
  const { records, state, stored } = stage();
  state.refusal = new TypeError("Cannot read it");
  records.set(web);
  await assert.rejects(() => records.flush(), TypeError);
  state.refusal = undefined;
  await records.flush();
  assert.equal(stored.size, 1);
});

test("flush() leaves a deleted namespace alone", async () => {
  const { records, state } = stage();
  state.refusal = new ApiError(404, "NotFound", "no such namespace");
  records.set(web);
  await records.flush();
  await records.flush();
  assert.equal(state.applied.length, 1);
  assert.equal(records.unwritten("shop"), undefined);
});

test("keepOnly() deletes the other records, and their reports", async () => {
  const { records, stored } = stage();
  records.set(web);
  records.set(recordOf("db", { policy: { namespace: "shop", name: "other" } }));
  await records.flush();
  records.keepOnly(({ policy }) => policy.name === "all");
  await records.flush();
  assert.equal(records.get(recordOf("db").workload), undefined);
  assert.deepEqual([...stored.values()].flatMap(({ workloads }) => workloads.map((w) => w.name)), [
    "web",
  ]);
  records.keepOnly(() => false);
  await records.flush();
  assert.deepEqual([...stored.keys()], []);
});

test("flushApplied() writes namespaces in which something was applied, and leaves the rest to flush()", async () => {
  const { records, state } = stage();
  const recordWith = (fields: Partial<WorkloadRecord>): WorkloadRecord => recordOf("web", fields);
  records.set(recordWith({ inForce: [], status: "Recommended" }));
  await records.flushApplied();
  assert.equal(state.applied.length, 0);
  records.set(recordWith({ appliedAtMs: 1 }));
  await records.flushApplied();
  await records.flushApplied();
  assert.equal(state.applied.length, 1);
  records.set(recordWith({ appliedAtMs: 1, reason: "Cooldown", status: "Skipped" }));
  await records.flushApplied();
  assert.equal(state.applied.length, 1);
  await records.flush();
  assert.equal(state.applied.length, 2);
  records.set(recordWith({ appliedAtMs: 1, inForce: [{ container: "app", cpu: 300 }] }));
  await records.flushApplied();
  await records.flush();
  assert.equal(state.applied.length, 3);
});

test("flush() writes over the version that it knows, and after a conflict over what there is now", async () => {
  const { records, state, stored } = stage();
  const versions = (): unknown[] => state.applied.map(({ resourceVersion }) => resourceVersion);
  records.set(web);
  await records.flush();
  const [report] = stored.values();
  const other = report && { ...report, metadata: { ...report.metadata, resourceVersion: "7" } };
  if (other !== undefined) stored.set("shop/recommendations-1", other);
  records.set(recordOf("db"));
  await records.flush();
  stored.clear();
  records.set(recordOf("job"));
  await records.flush();
  assert.deepEqual(versions(), [undefined, "1", "7", "8", undefined]);
  const [{ workloads } = { workloads: [] }] = stored.values();
  assert.deepEqual(workloads.map(({ name }) => name), ["db", "job", "web"]);
});

test("flush() keeps a conflict that does not end for the next one", async () => {
  const { records, state, stored } = stage();
  state.refusal = new ApiError(409, "Conflict", "modified");
  records.set(web);
  await records.flush();
  assert.equal(state.applied.length, 2);
  state.nowMs = 60_000;
  await records.flush();
  assert.equal(records.unwritten("shop"), "modified");
  state.refusal = undefined;
  await records.flush();
  assert.equal(stored.size, 1);
});

test("unwritten() has the failure of a minute, however many attempts, until a write succeeds", async () => {
  const { records, state } = stage();
  state.refusal = new ApiError(403, "Forbidden", "cannot patch");
  records.set(web);
  for (let policy = 0; policy < 10; policy++) await records.flush();
  state.nowMs = 59_999;
  await records.flush();
  assert.equal(records.unwritten("shop"), undefined);
  state.nowMs = 60_000;
  assert.deepEqual([records.unwritten("shop"), records.unwritten("bank")], [
    "cannot patch",
    undefined,
  ]);
  state.refusal = undefined;
  await records.flush();
  assert.equal(records.unwritten("shop"), undefined);
});

Deno.test({
  name: "writeAppliedRecords() writes every five seconds until the end, whatever the store throws",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const end = new AbortController();
    let writes = 0;
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (_message, fields) => void warnings.push(fields) };
    const records = {
      flushApplied() {
        writes++;
        return writes === 2 ? Promise.reject(new SyntaxError("no JSON")) : Promise.resolve();
      },
    };
    const running = writeAppliedRecords({ records, clock, log }, end.signal);
    await clock.runUntil(16_000);
    assert.deepEqual([writes, warnings], [3, [{ error: "SyntaxError: no JSON" }]]);
    end.abort();
    await clock.runUntil(60_000);
    await running;
    assert.equal(writes, 3);
  },
});
