import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { findLayout } from "./layout.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";

const trees = (...directories: string[]) =>
  createMemoryTree(Object.fromEntries(directories.map((path) => [`${path}/cpu.stat`, ""])));

pure("findLayout() distinguishes the versions by what is there", () => {
  const cases: readonly (readonly [string[], 1 | 2, string, string])[] = [
    [["kubepods.slice", "system.slice"], 2, "", ""],
    [["cpu/kubepods", "cpuacct/kubepods", "memory/kubepods"], 1, "cpu", "cpuacct"],
    [["cpu,cpuacct/kubepods", "cpu", "cpuacct"], 1, "cpu,cpuacct", "cpu,cpuacct"],
    [["cpuacct,cpu/kubepods"], 1, "cpuacct,cpu", "cpuacct,cpu"],
    // Hybrid: systemd keeps the same directories in version 2, without the cpu controller.
    [["cpu/kubepods", "cpuacct/kubepods", "unified/kubepods"], 1, "cpu", "cpuacct"],
    [["unified/kubepods.slice", "memory/x"], 2, "unified", "unified"],
  ];
  for (const [directories, version, cpu, cpuacct] of cases) {
    const layout = findLayout(trees(...directories));
    assert.deepEqual([layout.version, layout.cpu, layout.cpuacct], [version, cpu, cpuacct]);
  }
});

pure("findLayout() does not take another controller's mount for version 2", () => {
  assert.throws(() => findLayout(trees("memory/kubepods", "cpuset/kubepods")), /Cannot find/);
});

pure("findLayout() takes the nearest root, not those of nodes nested in this one", () => {
  const nested = "system.slice/docker-a.scope/kubelet.slice/kubelet-kubepods.slice";
  assert.deepEqual(findLayout(trees("kubepods.slice", nested)).roots, ["kubepods.slice"]);
  assert.deepEqual(findLayout(trees(nested)).roots, [nested]);
});

pure("findLayout() lists what it tried when there is none", () => {
  assert.throws(() => findLayout(trees("cpu/docker/x", "cpuacct/docker/x", "system.slice")), {
    name: "Error",
    message: /joined \(not mounted\).*apart \(.*: 3\).*cgroup v2 \(.*: 2\).*\/sys\/fs\/cgroup/,
  });
});
