/**
 * The records of two controllers, one that ends and the next one, in each order of their writes.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { RecordStore } from "../../controller/rightsizing/store.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { recordsOf } from "../../shared/rightsizing/reports.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";

const NAMESPACE = "shop";

interface Leader {
  readonly book: RecordStore;
  /** From now on it leads no more. */
  depose(): void;
  /** Looks at the workload, and applies something at that time, or nothing. */
  look(name: string, appliedAtMs?: number): void;
  flush(): Promise<void>;
}

function nameOf(name: string): WorkloadRecord["workload"] {
  return { kind: "Deployment", namespace: NAMESPACE, name };
}

/** A look that began with `before`. */
function lookedAt(
  name: string,
  { before, appliedAtMs = before?.appliedAtMs }: {
    readonly before: WorkloadRecord | undefined;
    readonly appliedAtMs?: number | undefined;
  },
): WorkloadRecord {
  return {
    workload: nameOf(name),
    policy: { namespace: NAMESPACE, name: "all" },
    status: "Applied",
    recommendations: [],
    inForce: appliedAtMs === undefined ? [] : [{ container: "app", cpu: appliedAtMs }],
    ...(appliedAtMs === undefined ? {} : { appliedAtMs, method: "InPlace" }),
  };
}

/** A server, and controllers that begin with what it has. */
function world() {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const table = api.store.tables.RecommendationReport;
  async function done(promise: Promise<unknown>): Promise<void> {
    await clock.runUntil(clock.monotonic() + 1000);
    await promise;
  }
  function leader(): Leader {
    const end = new AbortController();
    const book = new RecordStore({
      reports: table.all(),
      store: api.reportStore,
      clock,
      log: silentLog,
      signal: end.signal,
    });
    return {
      book,
      depose: () => end.abort(),
      look(name, appliedAtMs) {
        book.set(lookedAt(name, { before: book.get(nameOf(name)), appliedAtMs }));
      },
      flush: () => done(book.flush()),
    };
  }
  /** When something was applied last, by workload, as it stands on record. */
  function onRecord(): Readonly<Record<string, number | undefined>> {
    return Object.fromEntries(
      recordsOf(table.all(), NAMESPACE).map(({ workload, appliedAtMs, inForce }) => {
        assert.equal(inForce[0]?.cpu, appliedAtMs);
        return [workload.name, appliedAtMs];
      }),
    );
  }
  return { leader, onRecord, done, table };
}

type World = ReturnType<typeof world>;

function test(name: string, fn: (world: World) => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn: () => fn(world()) });
}

test("a controller that leads no more leaves a report alone that it has never read", async ({ leader, onRecord }) => {
  const [old, next] = [leader(), leader()];
  old.look("web");
  old.depose();
  next.look("web", 5000);
  await next.flush();
  await old.flush();
  await old.flush();
  assert.deepEqual(onRecord(), { web: 5000 });
});

test("what a controller has applied at its end is on record beside what the next one has", async ({ leader, onRecord }) => {
  const [old, next] = [leader(), leader()];
  old.look("web", 5000);
  old.look("db");
  old.depose();
  next.look("db", 4000);
  next.look("web");
  await next.flush();
  await old.flush();
  assert.deepEqual(onRecord(), { db: 4000, web: 5000 });
  next.look("db");
  await next.flush();
  assert.deepEqual(onRecord(), { db: 4000, web: 5000 });
  next.look("web");
  await next.flush();
  assert.deepEqual(onRecord(), { db: 4000, web: 5000 });
});

test("the next controller keeps what was written late, before its own first write", async ({ leader, onRecord }) => {
  const first = leader();
  first.look("web");
  await first.flush();
  const [old, next] = [leader(), leader()];
  old.look("web", 5000);
  old.depose();
  await old.flush();
  next.look("web");
  await next.flush();
  assert.deepEqual(onRecord(), { web: 5000 });
  next.look("web", 6000);
  await next.flush();
  assert.deepEqual(onRecord(), { web: 6000 });
});

test("of two applications to one workload the later is recorded, whichever leader writes first", async () => {
  for (const [olds, nexts] of [[5000, 6000], [6000, 5000]]) {
    for (const oldFirst of [true, false]) {
      const { leader, onRecord } = world();
      const first = leader();
      first.look("web", 1000);
      await first.flush();
      const [old, next] = [leader(), leader()];
      old.look("web", olds);
      old.depose();
      next.look("web", nexts);
      for (const one of oldFirst ? [old, next] : [next, old]) await one.flush();
      next.look("web");
      await next.flush();
      assert.deepEqual(onRecord(), { web: 6000 });
    }
  }
});

test("a look that is under way when the other's record is taken over does not undo it", async ({ leader, onRecord }) => {
  const first = leader();
  first.look("web", 1000);
  first.look("db");
  await first.flush();
  const [old, next] = [leader(), leader()];
  const before = next.book.get(nameOf("web"));
  old.look("web", 5000);
  old.depose();
  await old.flush();
  next.look("db");
  await next.flush();
  next.book.set(lookedAt("web", { before }));
  await next.flush();
  assert.deepEqual(onRecord(), { db: undefined, web: 5000 });
  next.book.set(lookedAt("web", { before, appliedAtMs: 6000 }));
  await next.flush();
  assert.deepEqual(onRecord(), { db: undefined, web: 6000 });
});

test("a workload that is made anew after a taking over is known anew", async ({ leader, onRecord }) => {
  const first = leader();
  first.look("web");
  first.look("db");
  await first.flush();
  const [old, next] = [leader(), leader()];
  old.look("web", 5000);
  await old.flush();
  next.look("db");
  await next.flush();
  next.book.keepOnly(({ workload }) => workload.name !== "web");
  next.look("web");
  await next.flush();
  assert.deepEqual(onRecord(), { db: undefined, web: undefined });
});

test("a controller that leads no more deletes no report that the next one has written", async ({ leader, onRecord, table }) => {
  const first = leader();
  first.look("web", 1000);
  await first.flush();
  const [old, next] = [leader(), leader()];
  old.book.keepOnly(() => false);
  old.depose();
  next.look("web", 5000);
  await next.flush();
  await old.flush();
  assert.deepEqual(onRecord(), { web: 5000 });
  // What it knows to be gone, and no other client has touched, is removed as ever.
  next.book.keepOnly(() => false);
  await next.flush();
  assert.equal(table.all().length, 0);
});

test("nothing that was applied is ever lost between two controllers, in any order", async () => {
  const step = fc.record({
    leader: fc.constantFrom("old" as const, "next" as const),
    name: fc.constantFrom("web", "db", "job"),
    act: fc.constantFrom("look" as const, "apply" as const, "flush" as const),
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
          first.look("web", 1);
          first.look("db");
          await first.flush();
        }
        const all = { old: leader(), next: leader() };
        const last = new Map(begun ? [["web", 1]] : []);
        for (const [index, { leader, name, act }] of steps.entries()) {
          if (index === deposedAt) all.old.depose();
          if (act === "flush") await all[leader].flush();
          else if (act === "look") all[leader].look(name);
          else {
            all[leader].look(name, 1000 + index);
            last.set(name, 1000 + index);
          }
        }
        all.old.depose();
        await all.old.flush();
        all.next.look("web");
        await all.next.flush();
        const found = onRecord();
        for (const name of ["web", "db", "job"]) assert.equal(found[name], last.get(name), name);
      },
    ),
  );
});
