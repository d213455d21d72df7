import assert from "node:assert/strict";
import { cgroupTreeContract } from "../tests/contract/cgroup_tree_contract.ts";
import { type CgroupTreeOptions, type OpenCgroupTree, openCgroupTree } from "./cgroup_files.ts";

interface Folder extends Disposable {
  readonly root: string;
  readonly tree: OpenCgroupTree;
  write(file: string, text: string): void;
  remove(directory: string): void;
}

function folder(options: CgroupTreeOptions = {}): Folder {
  const root = Deno.makeTempDirSync({ prefix: "cgroup-files-" });
  const tree = openCgroupTree(root, options);
  return {
    root,
    tree,
    write(file, text) {
      Deno.mkdirSync(`${root}/${file.slice(0, Math.max(0, file.lastIndexOf("/")))}`, {
        recursive: true,
      });
      Deno.writeTextFileSync(`${root}/${file}`, text);
    },
    remove: (directory) => Deno.removeSync(`${root}/${directory}`, { recursive: true }),
    [Symbol.dispose]() {
      tree[Symbol.dispose]();
      Deno.removeSync(root, { recursive: true });
    },
  };
}

cgroupTreeContract("openCgroupTree()", folder);
// The smallest limit takes the path that closes a file at each read.
cgroupTreeContract("openCgroupTree() with one open file", () => folder({ maxOpenFiles: 1 }));

Deno.test("openCgroupTree() refuses paths that leave the root", () => {
  using subject = folder();
  for (const path of ["../secret", "a/../../secret", "/etc/passwd", "a/..", "a\0b"]) {
    assert.throws(() => subject.tree.read(path), { name: "RangeError", message: /leaves/ });
    assert.throws(() => subject.tree.children(path), { name: "RangeError", message: /leaves/ });
  }
});

Deno.test("read() refuses a file that is longer than any of the kernel's", () => {
  using subject = folder();
  subject.write("a/long", "x".repeat(16 * 1024));
  assert.throws(() => subject.tree.read("a/long"), { name: "RangeError", message: /a\/long/ });
  subject.write("a/longest", "x".repeat(16 * 1024 - 1));
  assert.equal(subject.tree.read("a/longest")?.length, 16 * 1024 - 1);
});

Deno.test({
  name: "read() and children() name the missing permission",
  permissions: { read: false },
  fn() {
    using tree = openCgroupTree("/host/cgroup");
    const expected = { name: "NotCapable", message: /read access to.*mount the host's/s };
    assert.throws(() => tree.read("cpu.stat"), expected);
    assert.throws(() => tree.children(""), expected);
  },
});

Deno.test("release() closes what is open below a directory, and nothing beside it", () => {
  using subject = folder();
  for (const file of ["a/one", "a/b/two", "ab/three"]) {
    subject.write(file, file);
    subject.tree.read(file);
  }
  // A removed file can be read on for as long as it is held open: that is how it shows.
  subject.remove("a");
  subject.remove("ab");
  subject.tree.release("a");
  assert.equal(subject.tree.read("a/one"), undefined);
  assert.equal(subject.tree.read("a/b/two"), undefined);
  assert.equal(subject.tree.read("ab/three"), "ab/three");
});
