import fc from "fast-check";
import assert from "node:assert/strict";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { recordsOf } from "../../shared/rightsizing/reports.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { controllerPorts } from "../../tests/fixtures/controller_ports.ts";
import { recordOf } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { recommendation } from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import type { NewReport } from "../../shared/rightsizing/ports.ts";
import { RecordStore, writeAppliedRecords } from "./store.ts";

/** A server, and controllers that begin with what it has. */
function world() {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const table = api.store.tables.RecommendationReport;
  const applied: NewReport[] = [];
  const warnings: string[] = [];
  /** Writes after the first `accepted` are refused. */
  const state = { refusal: undefined as Error | undefined, accepted: 0 };
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const { list, apply, remove } = controllerPorts(api).reportStore;

  function leader() {
    const end = new AbortController();
    const records = new RecordStore({
      reports: table.all(),
      store: {
        list,
        remove,
        async apply(report) {
          applied.push(report);
          if (state.refusal !== undefined && applied.length > state.accepted) throw state.refusal;
          return await apply(report);
        },
      },
      clock,
      log,
      signal: end.signal,
    });
    const nameOf = (name: string) => recordOf(name).workload;
    return {
      records,
      depose: () => end.abort(),
      nameOf,
      /** Reconciles the workload, and applies values at that time, or none. */
      reconcile(
        name: string,
        appliedAtMs?: number,
        before: WorkloadRecord | undefined = records.get(nameOf(name)),
      ): void {
        const atMs = appliedAtMs ?? before?.appliedAtMs;
        const inForce = atMs === undefined ? [] : [{ container: "app", cpu: atMs }];
        records.set(recordOf(name, { inForce, ...(atMs !== undefined && { appliedAtMs: atMs }) }));
      },
      flush: () => done(records.flush()),
    };
  }

  async function done(promise: Promise<unknown>): Promise<void> {
    await clock.runUntil(clock.monotonic() + 1000);
    await promise;
  }
  /** When values were applied last, by workload, as it stands on record. */
  const onRecord = () =>
    Object.fromEntries(
      recordsOf(table.all(), "shop").map(({ workload, appliedAtMs, inForce }) => {
        assert.equal(inForce[0]?.cpu, appliedAtMs);
        return [workload.name, appliedAtMs];
      }),
    );
  return { leader, onRecord, done, table, state, applied, warnings, clock };
}

function test(name: string, fn: (at: ReturnType<typeof world>) => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn: () => fn(world()) });
}

test("RecordStore begins with the records of the reports, and flush() writes only what has changed", async ({ leader, applied }) => {
  const first = leader();
  first.reconcile("web", 5);
  await first.flush();
  const second = leader();
  assert.equal(second.records.get(second.nameOf("web"))?.appliedAtMs, 5);
  applied.length = 0;
  await second.flush();
  assert.equal(applied.length, 0);
  second.reconcile("db");
  await second.flush();
  const written = applied.map(({ workloads }) => workloads.map(({ name }) => name));
  assert.deepEqual(written, [["db", "web"]]);
});

test("flush() sends no second write of a namespace while one is on its way", async ({ leader, onRecord, done, applied }) => {
  const { records, reconcile } = leader();
  reconcile("web", 5);
  const flushes = [records.flush()];
  for (const cpu of [6, 7]) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    assert.equal(applied.length, 1);
    reconcile("web", cpu);
    flushes.push(records.flush());
  }
  await done(Promise.all(flushes));
  assert.equal(applied.length, 2);
  assert.deepEqual(onRecord(), { web: 7 });
});

test("flush() tries again what has failed, and logs refusals once", async ({ leader, state, table, warnings, applied }) => {
  const { records, reconcile, flush } = leader();
  reconcile("web");
  const rows = [
    [new ApiError(503, "ServiceUnavailable", "busy"), 1, 1],
    [new ApiError(503, "ServiceUnavailable", "busy"), 1, 1],
    // Once more with what there is now.
    [new ApiError(409, "Conflict", "modified"), 2, 1],
  ] as const;
  for (const [refusal, tries, logged] of rows) {
    applied.length = 0;
    state.refusal = refusal;
    await flush();
    assert.deepEqual([applied.length, warnings.length], [tries, logged]);
  }
  state.refusal = new TypeError("Cannot read it");
  await assert.rejects(() => records.flush(), TypeError);
  state.refusal = undefined;
  await flush();
  assert.equal(table.all().length, 1);
  state.refusal = new ApiError(503, "ServiceUnavailable", "busy");
  reconcile("web", 1);
  await flush();
  assert.equal(warnings.length, 2);
});

test("flush() leaves a deleted namespace alone", async ({ leader, state, applied }) => {
  const { records, reconcile, flush } = leader();
  state.refusal = new ApiError(404, "NotFound", "no such namespace");
  reconcile("web");
  await flush();
  await flush();
  assert.equal(applied.length, 1);
  assert.equal(records.unwritten("shop"), undefined);
});

test("flush() loses no record between two writes, whichever way workloads move", async ({ leader, onRecord, state, applied, table }) => {
  const inForce = [{ container: "app", cpu: 5 }];
  const recommendations = Array.from(
    { length: 40 },
    (_, i) => ({ ...recommendation(), container: `c${i}`, explanation: "because ".repeat(120) }),
  );
  const names = (prefix: string) => Array.from({ length: 15 }, (_, i) => `${prefix}${i + 10}`);
  // New workloads come first and last, and go again: the old ones move up and down by reports.
  for (const next of [["b", "d"], ["a", "b", "d"], ["d"], ["b", "c", "d", "e"], ["b", "d"]]) {
    const all = next.flatMap(names);
    for (let accepted = 0; accepted < 5; accepted++) {
      const { records, flush } = leader();
      const kept = Object.keys(onRecord()).filter((name) => all.includes(name));
      records.keepOnly(({ workload: { name } }) => all.includes(name));
      for (const name of all) {
        records.set(recordOf(name, { recommendations, inForce, appliedAtMs: 5 }));
      }
      applied.length = 0;
      const refusal = new ApiError(503, "ServiceUnavailable", "busy");
      Object.assign(state, { refusal: accepted === 4 ? undefined : refusal, accepted });
      await flush();
      const found = onRecord();
      assert.deepEqual(kept.filter((name) => found[name] === undefined), []);
    }
    assert.deepEqual(Object.keys(onRecord()).toSorted(), all.toSorted());
  }
  assert.ok(table.all().length > 1);
});

test("flushApplied() writes namespaces in which something was applied, and leaves the rest to flush()", async ({ leader, done, applied }) => {
  const { records } = leader();
  const rows = [
    [{ inForce: [] }, 0, 1],
    [{ appliedAtMs: 1, inForce: [] }, 1, 1],
    [{ appliedAtMs: 1, inForce: [], reason: "Cooldown" }, 0, 1],
    [{ appliedAtMs: 1, inForce: [{ container: "app", cpu: 300 }] }, 1, 1],
  ] as const;
  for (const [fields, byApplied, byAll] of rows) {
    records.set(recordOf("web", fields));
    applied.length = 0;
    for (let turn = 0; turn < 2; turn++) await done(records.flushApplied());
    assert.equal(applied.length, byApplied);
    await done(records.flush());
    assert.equal(applied.length, byAll);
  }
});

test("flushApplied() tries again what a flush has failed to write, and writes it once", async ({ leader, onRecord, done, state, applied }) => {
  const { records, reconcile } = leader();
  reconcile("web", 5);
  state.refusal = new ApiError(503, "ServiceUnavailable", "busy");
  await done(records.flush());
  await done(records.flushApplied());
  state.refusal = new TypeError("Cannot read it");
  await assert.rejects(() => records.flushApplied(), TypeError);
  state.refusal = undefined;
  for (let turn = 0; turn < 2; turn++) await done(records.flushApplied());
  assert.deepEqual([applied.length, onRecord()], [4, { web: 5 }]);
});

test("unwritten() has the failure of a minute, however many attempts, until a write succeeds", async ({ leader, state, clock }) => {
  const { records, reconcile } = leader();
  state.refusal = new ApiError(403, "Forbidden", "cannot patch");
  reconcile("web");
  const rows = [[0, undefined], [59_999, undefined], [60_000, "cannot patch"]] as const;
  for (const [atMs, expected] of rows) {
    await clock.runUntil(atMs);
    for (let policy = 0; policy < 3; policy++) await records.flush();
    assert.deepEqual([records.unwritten("shop"), records.unwritten("bank")], [expected, undefined]);
  }
  state.refusal = undefined;
  const flushed = records.flush();
  await clock.runUntil(61_000);
  await flushed;
  assert.equal(records.unwritten("shop"), undefined);
});
test("a reconcile under way does not undo a record that is taken from another leader, until the workload is created anew", async ({ leader, onRecord }) => {
  const first = leader();
  first.reconcile("web", 1000);
  first.reconcile("db");
  await first.flush();
  const [old, next] = [leader(), leader()];
  const before = next.records.get(next.nameOf("web"));
  old.reconcile("web", 5000);
  old.depose();
  await old.flush();
  next.reconcile("db");
  await next.flush();
  next.reconcile("web", undefined, before);
  await next.flush();
  assert.deepEqual(onRecord(), { db: undefined, web: 5000 });
  next.records.keepOnly(({ workload }) => workload.name !== "web");
  next.records.set(recordOf("web"));
  await next.flush();
  assert.deepEqual(onRecord(), { db: undefined, web: undefined });
});

test("a controller that leads no more leaves reports alone that it has not read, and deletes none of the next leader", async ({ leader, onRecord, table }) => {
  const [unread, next] = [leader(), leader()];
  unread.reconcile("web");
  unread.depose();
  next.reconcile("web", 5000);
  await next.flush();
  await unread.flush();
  assert.deepEqual(onRecord(), { web: 5000 });
  const old = leader();
  old.records.keepOnly(() => false);
  old.depose();
  next.reconcile("web", 6000);
  await next.flush();
  await old.flush();
  assert.deepEqual(onRecord(), { web: 6000 });
  next.records.keepOnly(() => false);
  await next.flush();
  assert.equal(table.all().length, 0);
});

test("nothing that was applied is ever lost between two controllers, in any order", async () => {
  const step = fc.record({
    leader: fc.constantFrom("old" as const, "next" as const),
    name: fc.constantFrom("web", "db", "job"),
    act: fc.constantFrom("reconcile" as const, "apply" as const, "flush" as const),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.nat(20),
      fc.boolean(),
      async (steps, deposedAt, begun) => {
        const { leader, onRecord } = world();
        if (begun) {
          const first = leader();
          first.reconcile("web", 1);
          first.reconcile("db");
          await first.flush();
        }
        const all = { old: leader(), next: leader() };
        const last = new Map(begun ? [["web", 1]] : []);
        for (const [index, { leader, name, act }] of steps.entries()) {
          if (index === deposedAt) all.old.depose();
          if (act === "flush") await all[leader].flush();
          else if (act === "reconcile") all[leader].reconcile(name);
          else {
            all[leader].reconcile(name, 1000 + index);
            last.set(name, 1000 + index);
          }
        }
        all.old.depose();
        await all.old.flush();
        all.next.reconcile("web");
        await all.next.flush();
        const found = onRecord();
        for (const name of ["web", "db", "job"]) assert.equal(found[name], last.get(name), name);
      },
    ),
  );
});

test("writeAppliedRecords() writes every five seconds until the end, whatever the store throws", async ({ clock }) => {
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
});
