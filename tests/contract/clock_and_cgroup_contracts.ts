/**
 * The contracts of every `Clock` and every `CgroupTree`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Clock } from "../../shared/clock.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";

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

  test("sleep() ends at once, without an error, when its signal is or was aborted", async ({ clock }) => {
    const controller = new AbortController();
    const sleeping = clock.sleep(3_600_000, controller.signal);
    controller.abort(new Error("stop"));
    await sleeping;
    await clock.sleep(3_600_000, controller.signal);
  });

  test("sleep() leaves no listener on a signal that outlives it", async ({ clock, pass }) => {
    const { signal, listeners } = countingSignal();
    const sleeping = clock.sleep(1, signal);
    assert.equal(listeners(), 1);
    await pass(3);
    await sleeping;
    assert.equal(listeners(), 0);
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

/** A tree under test, empty at first, and the world that it shows. */
export interface CgroupTreeUnderTest extends Disposable {
  readonly tree: CgroupTree;
  /** Sets a file's text; makes the directories above it. */
  write(file: string, text: string): void;
  /** Removes a directory with all below it. */
  remove(directory: string): void;
}

/** Registers the suite for the trees that `create` makes, one for each test. */
export function cgroupTreeContract(name: string, create: () => CgroupTreeUnderTest): void {
  const test = (sentence: string, fn: (subject: CgroupTreeUnderTest) => void): void =>
    Deno.test(`${name}: ${sentence}`, () => {
      using subject = create();
      fn(subject);
    });

  test("children() names the directories of a directory and no files", ({ tree, write }) => {
    write("kubepods/burstable/cpu.stat", "a 1\n");
    write("kubepods/besteffort/pod1/cpu.stat", "a 1\n");
    write("kubepods/cpu.stat", "a 1\n");
    assert.deepEqual(sorted(tree.children("")), ["kubepods"]);
    assert.deepEqual(sorted(tree.children("kubepods")), ["besteffort", "burstable"]);
    assert.deepEqual(sorted(tree.children("kubepods/besteffort/pod1")), []);
  });

  test("children() is undefined for what is not there, and empty for an empty root", (subject) => {
    assert.deepEqual(sorted(subject.tree.children("")), []);
    assert.equal(subject.tree.children("kubepods"), undefined);
  });

  test("read() gives the text as it is now, longer or shorter than before", ({ tree, write }) => {
    for (const text of ["nr_periods 9\n", "nr_periods 10\nnr_throttled 1\n", "", "x 1\n"]) {
      write("a/cpu.stat", text);
      assert.equal(tree.read("a/cpu.stat"), text);
      assert.equal(tree.read("a/cpu.stat"), text);
    }
  });

  test("read() distinguishes files of the same name, and is undefined for what is not there", (subject) => {
    const { tree, write } = subject;
    write("a/cpu.max", "max 100000\n");
    write("b/cpu.max", "20000 100000\n");
    assert.equal(tree.read("a/cpu.max"), "max 100000\n");
    assert.equal(tree.read("b/cpu.max"), "20000 100000\n");
    for (const path of ["a/cpu.stat", "c/cpu.max", "a/cpu.max/cpu.max"]) {
      assert.equal(tree.read(path), undefined);
    }
  });

  test("a directory that is removed is gone, and one made in its place is seen", (subject) => {
    const { tree, write, remove } = subject;
    write("kubepods/pod1/cpu.stat", "a 1\n");
    assert.equal(tree.read("kubepods/pod1/cpu.stat"), "a 1\n");
    remove("kubepods/pod1");
    tree.release("kubepods/pod1");
    assert.equal(tree.children("kubepods/pod1"), undefined);
    assert.deepEqual(sorted(tree.children("kubepods")), []);
    assert.equal(tree.read("kubepods/pod1/cpu.stat"), undefined);
    write("kubepods/pod1/cpu.stat", "a 2\n");
    assert.deepEqual(sorted(tree.children("kubepods")), ["pod1"]);
    assert.equal(tree.read("kubepods/pod1/cpu.stat"), "a 2\n");
  });

  test("release() of any directory changes nothing that can be read", ({ tree, write }) => {
    write("a/cpu.stat", "1\n");
    write("ab/cpu.stat", "2\n");
    for (const directory of ["a", "", "not/there"]) {
      assert.equal(tree.read("a/cpu.stat"), "1\n");
      tree.release(directory);
      assert.equal(tree.read("a/cpu.stat"), "1\n");
      assert.equal(tree.read("ab/cpu.stat"), "2\n");
    }
  });
}

function sorted(names: readonly string[] | undefined): readonly string[] | undefined {
  return names === undefined ? undefined : [...names].sort();
}
