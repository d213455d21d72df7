/**
 * The contract of every `Clock`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Clock } from "../../shared/clock.ts";

/** A clock under test. */
export interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets at least `ms` milliseconds of this clock pass. A real clock's own sleep will do. */
  pass(ms: number): Promise<void>;
}

/** Registers the suite for the clocks that `create` makes, one for each test. */
export function clockContract(name: string, create: () => ClockUnderTest): void {
  const test = (sentence: string, fn: (subject: ClockUnderTest) => Promise<void>): void =>
    Deno.test({
      name: `${name}: ${sentence}`,
      permissions: "none",
      sanitizeOps: true,
      sanitizeResources: true,
      fn: () => fn(create()),
    });

  test("wall() is a time in milliseconds since the epoch", ({ clock }) => {
    // Seconds or nanoseconds would lie outside of the years 2000 to 2200.
    assert.ok(clock.wall() >= Date.UTC(2000), String(clock.wall()));
    assert.ok(clock.wall() < Date.UTC(2200), String(clock.wall()));
    return Promise.resolve();
  });

  test("monotonic() never goes back and moves as time passes", async ({ clock, pass }) => {
    const first = clock.monotonic();
    const second = clock.monotonic();
    assert.ok(second >= first);
    await pass(5);
    // A timer may fire up to a millisecond before its time.
    assert.ok(clock.monotonic() - second >= 4, `${clock.monotonic() - second} ms passed`);
  });

  test("sleep() resolves once its time has passed", async ({ clock, pass }) => {
    const start = clock.monotonic();
    let woke = false;
    const sleeping = clock.sleep(5).then(() => woke = true);
    await Promise.resolve();
    assert.equal(woke, false);
    await pass(10);
    await sleeping;
    assert.ok(clock.monotonic() - start >= 4);
  });

  test("sleep() of nothing, or of less, resolves", async ({ clock, pass }) => {
    const sleeping = Promise.all([clock.sleep(0), clock.sleep(-1)]);
    await pass(1);
    await sleeping;
  });

  test("sleep() ends at once, without an error, when its signal is aborted", async ({ clock }) => {
    const controller = new AbortController();
    const sleeping = clock.sleep(3_600_000, controller.signal);
    controller.abort(new Error("stop"));
    await sleeping;
  });

  test("sleep() does not begin when its signal is aborted already", async ({ clock }) => {
    await clock.sleep(3_600_000, AbortSignal.abort());
  });

  test("sleep() leaves no listener on a signal that outlives it", async ({ clock, pass }) => {
    const { signal, listeners } = countingSignal();
    const sleeping = clock.sleep(1, signal);
    assert.equal(listeners(), 1);
    await pass(3);
    await sleeping;
    assert.equal(listeners(), 0);
  });

  test("sleep() is woken by a signal on which others have slept before", async ({ clock, pass }) => {
    const stop = new AbortController();
    const before = clock.sleep(1, stop.signal);
    await pass(3);
    await before;
    const sleeping = clock.sleep(3_600_000, stop.signal);
    stop.abort();
    await sleeping;
  });

  test("sleep() wakes all that sleep on a signal, and no other", async ({ clock, pass }) => {
    const [stopped, going] = [new AbortController(), new AbortController()];
    const woken: string[] = [];
    const sleep = (name: string, ms: number, { signal }: AbortController): Promise<unknown> =>
      clock.sleep(ms, signal).then(() => woken.push(name));
    const long = [sleep("first", 3_600_000, stopped), sleep("second", 3_600_000, stopped)];
    const short = sleep("short", 1, stopped);
    const other = sleep("other", 3_600_000, going);
    await pass(3);
    await short;
    assert.deepEqual(woken, ["short"]);
    stopped.abort();
    await Promise.all(long);
    assert.deepEqual(woken.toSorted(), ["first", "second", "short"]);
    going.abort();
    await other;
  });
}

/** A signal that counts its listeners. */
function countingSignal(): { signal: AbortSignal; listeners: () => number } {
  const { signal } = new AbortController();
  const present = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener) => {
    present.add(listener);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    present.delete(listener);
    remove(type, listener);
  };
  return { signal, listeners: () => present.size };
}
