import fc from "fast-check";
import assert from "node:assert/strict";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../api/api_error.ts";
import type { Lease } from "../api/lease.ts";
import type { Clock } from "../clock.ts";
import { silentLog } from "../log.ts";
import { type Random, seededRandom } from "../random.ts";
import { electionStep } from "./election_step.ts";
import { inParallel } from "./in_parallel.ts";
import { type ElectionEnd, type LeaseStore, runLeaderElection } from "./leader_election.ts";
import { createSupervisor } from "./supervisor.ts";
import { untilAborted, within } from "./time_limit.ts";

/** A server with one Lease; requests take 5 to 45 ms there and as long back. */
function createServer(clock: Clock, random: Random) {
  let lease: Lease | undefined;
  let version = 0;
  const trip = (): Promise<void> => clock.sleep(5 + 40 * random.next());

  function store(reachable: () => boolean): LeaseStore {
    async function send<T>(answer: () => T): Promise<T> {
      if (!reachable()) {
        await trip();
        throw new ApiError(0, "", "no route");
      }
      await trip();
      const result = answer();
      await trip();
      // The link may break while the answer is on its way: written, but not confirmed.
      if (!reachable()) throw new ApiError(0, "", "no answer");
      return result;
    }
    const put = (next: Lease): Lease => {
      version++;
      const metadata = { name: "l", namespace: "n", uid: "u", resourceVersion: `${version}` };
      return lease = { ...next, metadata };
    };
    return {
      read: () => send(() => lease),
      create: (next) =>
        send(() => {
          if (lease !== undefined) throw new ApiError(409, "AlreadyExists", "exists");
          return put(next);
        }),
      update: (next) =>
        send(() => {
          if (lease?.metadata.resourceVersion !== next.metadata.resourceVersion) {
            throw new ApiError(409, "Conflict", "changed");
          }
          return put(next);
        }),
    };
  }
  return { store, lease: () => lease };
}

/** A machine's own clock: it runs at another rate than the truth, and began elsewhere. */
function skewed(base: VirtualClock, { rate, startMs }: { rate: number; startMs: number }): Clock {
  return {
    wall: () => startMs + base.monotonic() * rate,
    monotonic: () => startMs + base.monotonic() * rate,
    sleep: (ms, signal) => base.sleep(ms / rate, signal),
  };
}

interface Process {
  readonly stop: () => void;
  /** From now on it is cut off, and at once gone. */
  readonly kill: () => void;
  readonly link: { up: boolean };
  readonly alive: () => boolean;
  readonly works: () => boolean;
  readonly ended: Promise<ElectionEnd>;
}

function world(seed: number) {
  const clock = createVirtualClock({ wallStart: 0 });
  const random = seededRandom(seed);
  const server = createServer(clock, random);
  const processes: Process[] = [];
  let overlap: string | undefined;

  function start(rate = 1, finishMs = 0): Process {
    const identity = `p${processes.length}`;
    const own = skewed(clock, { rate, startMs: 1e6 * random.next() });
    const stop = new AbortController();
    let alive = true;
    let working = false;
    const link = { up: true };
    const process: Process = {
      link,
      stop: () => stop.abort(),
      kill() {
        alive = false;
        link.up = false;
        stop.abort();
      },
      alive: () => alive,
      works: () => alive && working,
      ended: runLeaderElection({
        store: server.store(() => link.up),
        ...{ clock: own, random, log: silentLog, identity },
        async lead(signal) {
          const other = processes.findIndex(({ works }) => works());
          if (alive && other >= 0) overlap = `${identity} leads while p${other} works`;
          working = true;
          while (!signal.aborted) await own.sleep(60_000, signal);
          await own.sleep(finishMs);
          working = false;
        },
      }, stop.signal),
    };
    processes.push(process);
    return process;
  }

  return {
    clock,
    server,
    processes,
    start,
    overlap: () => overlap,
    pass: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    async end() {
      for (const process of processes) {
        process.link.up = true;
        process.stop();
      }
      await clock.runUntil(clock.monotonic() + 60_000);
      return await Promise.all(processes.map(({ ended }) => ended));
    },
  };
}

pure("runLeaderElection() gives leadership up within 3 s of a clean exit", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { start, pass, end } = world(seed);
    const first = start(1, 500);
    await pass(3000);
    assert.ok(first.works());
    const second = start();
    await pass(10_000 + seed * 97);
    first.stop();
    await pass(500);
    assert.equal(second.works(), false);
    await pass(2500);
    assert.ok(second.works(), `seed ${seed}`);
    assert.deepEqual(await end(), ["stopped", "stopped"]);
  }
});

pure("runLeaderElection() takes over within 20 s of a crash, not too early", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { start, pass, end } = world(seed);
    const first = start();
    await pass(3000);
    const second = start();
    await pass(20_000 + seed * 97);
    first.kill();
    await pass(12_000);
    assert.equal(second.works(), false);
    await pass(8000);
    assert.ok(second.works(), `seed ${seed}`);
    await end();
  }
});

pure("runLeaderElection() ends with lost when it can't renew for 10 s", async () => {
  const { start, pass, end } = world(5);
  const first = start();
  await pass(3000);
  first.link.up = false;
  await pass(7000);
  assert.ok(first.works());
  await pass(3500);
  assert.equal(first.works(), false);
  assert.deepEqual(await end(), ["lost"]);
});

pure("runLeaderElection() stops at once when another has taken the lease", async () => {
  const { start, pass, server, end, clock } = world(6);
  const first = start();
  await pass(3000);
  const store = server.store(() => true);
  const lease = server.lease();
  assert.ok(lease);
  const theft = store.update({ ...lease, holder: "thief" });
  await clock.runUntil(clock.monotonic() + 2500);
  await theft;
  assert.equal(first.works(), false);
  assert.deepEqual(await end(), ["lost"]);
  assert.equal(server.lease()?.holder, "thief");
});

pure("runLeaderElection() passes on what the work throws, with the lease released", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const server = createServer(clock, seededRandom(1));
  const run = runLeaderElection({
    store: server.store(() => true),
    clock,
    random: seededRandom(2),
    log: silentLog,
    identity: "p",
    async lead() {
      await clock.sleep(10);
      throw new TypeError("a fault");
    },
  }, new AbortController().signal);
  const outcome = assert.rejects(run, { name: "TypeError", message: "a fault" });
  await clock.runUntil(5000);
  await outcome;
  assert.equal(server.lease()?.holder, "");
});

/** A fault of one of the processes, and how long the others then go on. */
const blow = fc.record({
  kind: fc.constantFrom("cut", "mend", "kill", "stop", "start"),
  target: fc.nat(5),
  passMs: fc.integer({ min: 10, max: 25_000 }),
  // Clocks of machines differ by parts in a million; here by up to 10 %.
  rate: fc.double({ min: 0.95, max: 1.05, noNaN: true }),
});

pure("runLeaderElection() never has two leaders, and always one again within 20 s", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.array(blow, { maxLength: 14 }), async (seed, blows) => {
      const { start, processes, pass, overlap, end } = world(seed);
      start(0.95);
      start(1.05, 1000);
      await pass(4000);
      for (const { kind, target, passMs, rate } of blows) {
        const process = processes[target % processes.length];
        if (kind === "start" && processes.length < 6) start(rate, 1000);
        else if (kind === "cut" && process !== undefined) process.link.up = false;
        else if (kind === "mend" && process?.alive()) process.link.up = true;
        else if (kind === "kill") process?.kill();
        else if (kind === "stop") process?.stop();
        await pass(passMs);
        assert.equal(overlap(), undefined);
      }
      // A process that can reach the server takes over from whatever there was.
      const last = start();
      await pass(20_000);
      assert.equal(overlap(), undefined);
      assert.equal(processes.filter(({ works }) => works()).length, 1);
      last.stop();
      await end();
      assert.equal(overlap(), undefined);
    }),
  );
});

const LEASE: Lease = {
  metadata: { name: "l", namespace: "n", uid: "u", resourceVersion: "7" },
  ...{ holder: "a", durationSeconds: 20, acquireTimeMs: 1, renewTimeMs: 2, transitions: 3 },
};

pure("electionStep() creates, renews or takes a record, whatever its times are", () => {
  const moment = { identity: "b", nowMs: 20_000, wallMs: 99, leaseMs: 15_000 };
  const step = (change: Partial<Lease>, seenMs = 20_000) =>
    electionStep({ lease: { ...LEASE, ...change }, seenMs }, moment);
  assert.deepEqual(step({}, 12_000), { do: "wait", ms: 12_000 });
  const own = { ...LEASE, holder: "b", durationSeconds: 15, renewTimeMs: 99 };
  assert.deepEqual(step({ holder: "b" }), { do: "update", lease: own });
  const taken = { do: "update", lease: { ...own, acquireTimeMs: 99, transitions: 4 } };
  assert.deepEqual([step({ holder: "" }), step({}, 0)], [taken, taken]);
  const created = electionStep({ lease: undefined, seenMs: 0 }, moment);
  assert.ok(created.do === "create");
  assert.deepEqual([created.lease.transitions, created.lease.acquireTimeMs], [0, 99]);
});

pure("createSupervisor() aborts all loops on the first failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const boom = new TypeError("boom");
  let ended = false;
  supervisor.supervise("steady", untilAborted(supervisor.signal).then(() => void (ended = true)));
  supervisor.supervise("broken", clock.sleep(10).then(() => Promise.reject(boom)));
  supervisor.supervise(
    "late",
    untilAborted(supervisor.signal).then(() => Promise.reject(new Error("second"))),
  );
  const done = assert.rejects(supervisor.done(), (error: Error) => {
    assert.match(error.message, /"broken" failed: TypeError: boom/);
    assert.equal(error.cause, boom);
    return true;
  });
  await clock.runUntil(20);
  await done;
  assert.ok(ended);
});

pure("createSupervisor() waits on stop for every loop, those added meanwhile too", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  const ended: string[] = [];
  const lasting = (name: string, ms: number) => clock.sleep(ms).then(() => void ended.push(name));
  supervisor.supervise("short", lasting("short", 10));
  supervisor.supervise(
    "parent",
    clock.sleep(20).then(() => supervisor.supervise("child", lasting("child", 30))),
  );
  supervisor.stop();
  const done = supervisor.done();
  await clock.runUntil(100);
  await done;
  assert.deepEqual(ended, ["short", "child"]);
});

pure("createSupervisor() names the loops that do not end within the grace", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog, graceMs: 500 });
  supervisor.supervise("deaf", new Promise(() => {}));
  const done = assert.rejects(supervisor.done(), /still running after 500 ms: deaf/);
  await clock.runUntil(10_000);
  supervisor.stop();
  await clock.runUntil(10_600);
  await done;
});

pure("createSupervisor() is done when every loop ended of its own", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const supervisor = createSupervisor({ clock, log: silentLog });
  await supervisor.done();
  supervisor.supervise("once", Promise.resolve());
  await supervisor.done();
  assert.equal(supervisor.signal.aborted, false);
});

pure("within() ends its wait with the work, whether that succeeds or fails", async () => {
  const waits: AbortSignal[] = [];
  const sleep = (_ms: number, signal = new AbortController().signal) => {
    waits.push(signal);
    return new Promise<void>(() => {});
  };
  const limit = { clock: { sleep }, ms: 1000, onTimeout: () => "late" };
  assert.equal(await within(() => Promise.resolve("done"), limit), "done");
  await assert.rejects(within(() => Promise.reject(new TypeError("broken")), limit), TypeError);
  assert.deepEqual(waits.map((wait) => wait.aborted), [true, true]);
});

pure("within() aborts late work, and ignores its failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const work = async (signal: AbortSignal): Promise<string> => {
    await untilAborted(signal);
    throw new TypeError("too late");
  };
  const result = within(work, { clock, ms: 1000, onTimeout: () => "late" });
  await clock.runUntil(1000);
  assert.equal(await result, "late");
});

pure("untilAborted() resolves at once for a signal that is aborted already", async () => {
  await untilAborted(AbortSignal.abort());
});

pure("inParallel() keeps the order of the items and runs at most 8 at once", async () => {
  let running = 0;
  let most = 0;
  const items = Array.from({ length: 30 }, (_, index) => index);
  const results = await inParallel(items, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 30 - item; turn++) await Promise.resolve();
    running--;
    return item * 2;
  });
  assert.deepEqual(results, items.map((item) => item * 2));
  assert.equal(most, 8);
});

pure("inParallel() rejects with the first error after the others have settled", async () => {
  const done: number[] = [];
  await assert.rejects(
    inParallel([1, 2, 3], async (item) => {
      await Promise.resolve();
      if (item === 2) throw new RangeError("Cannot do 2: no");
      done.push(item);
      return item;
    }),
    /Cannot do 2/,
  );
  assert.deepEqual(done, [1, 3]);
});
