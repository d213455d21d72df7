/**
 * The contract of every `CgroupTree`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";

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

  test("read() distinguishes files of the same name", ({ tree, write }) => {
    write("a/cpu.max", "max 100000\n");
    write("b/cpu.max", "20000 100000\n");
    assert.equal(tree.read("a/cpu.max"), "max 100000\n");
    assert.equal(tree.read("b/cpu.max"), "20000 100000\n");
  });

  test("read() is undefined for what is not there", ({ tree, write }) => {
    write("a/cpu.stat", "");
    assert.equal(tree.read("a/cpu.max"), undefined);
    assert.equal(tree.read("b/cpu.max"), undefined);
    assert.equal(tree.read("a/cpu.stat/cpu.max"), undefined);
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
