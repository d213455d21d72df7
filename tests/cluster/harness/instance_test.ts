import assert from "node:assert/strict";
import { DEFAULT_NAME, instanceNamed } from "./instance.ts";

Deno.test({
  name: "instanceNamed() gives the default instance the cgroup root that any node has",
  permissions: "none",
  fn() {
    assert.equal(instanceNamed(DEFAULT_NAME).cgroupRoot, "/");
    assert.equal(instanceNamed("second").cgroupRoot, "/coallocator-second");
  },
});

Deno.test({
  name: "instanceNamed() keeps two instances apart in all that the machine shares",
  permissions: "none",
  fn() {
    const [one, two] = [instanceNamed("one"), instanceNamed("two")];
    for (
      const key of [
        "namespace",
        "directory",
        "nodeName",
        "cgroupRoot",
        "kubeconfig",
        "containerdSocket",
      ] as const
    ) assert.notEqual(one[key], two[key], key);
  },
});

Deno.test({
  name: "instanceNamed() keeps sockets within the 107 bytes that the kernel allows",
  permissions: "none",
  fn() {
    const { containerdSocket } = instanceNamed("a".repeat(40));
    assert.ok(`${containerdSocket}.ttrpc`.length <= 107, containerdSocket);
  },
});

Deno.test({
  name: "instanceNamed() refuses what is no name of a folder, a namespace and a node",
  permissions: "none",
  fn() {
    for (const name of ["", "A", "a_b", "../x", "a/b", "-a", "a-", "1a", "a".repeat(41)]) {
      assert.throws(() => instanceNamed(name), RangeError, name);
    }
  },
});
