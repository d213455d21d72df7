import assert from "node:assert/strict";
import {
  enableControllers,
  foreignPodProcesses,
  instanceCgroups,
  ownPodCgroups,
  removeCgroups,
  restoreControllers,
} from "./cgroups.ts";
import { isSame, parseStat } from "./daemon.ts";
import { DEFAULT_NAME, type Instance, instanceNamed } from "./instance.ts";

/** The harness leaves others' pods, cgroups and processes on the machine alone. */

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const OWN = ["ec1c-01", "ec1c-02"];
const FOREIGN = "ffff-01";

/** Two hierarchies with two pods of the instance's kubelet and one of another under one root. */
function withPods(
  name: string,
  test: (instance: Instance, hierarchies: readonly string[]) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    const instance = instanceNamed(name, { stateRoot: folder });
    const hierarchies = [`${folder}/cpu`, `${folder}/memory`];
    for (const uid of OWN) {
      await Deno.mkdir(`${instance.directory}/kubelet/pods/${uid}`, { recursive: true });
    }
    for (const directory of instanceCgroups(instance, hierarchies).kubepods) {
      for (const pod of [`pod${OWN[0]}`, `burstable/pod${OWN[1]}`, `burstable/pod${FOREIGN}`]) {
        await Deno.mkdir(`${directory}/${pod}/container`, { recursive: true });
      }
      await Deno.mkdir(`${directory}/besteffort`);
    }
    await test(instance, hierarchies);
  });
}

/** The paths below a folder, without the part before `kubepods`. */
async function left(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    found.push(path.slice(path.indexOf("kubepods")), ...await left(path));
  }
  return found.sort();
}

Deno.test("removeCgroups() under the machine's root leaves another kubelet's pods", async () => {
  await withPods(DEFAULT_NAME, async (instance, hierarchies) => {
    const [cpu = "", memory = ""] = hierarchies;
    assert.deepEqual(
      await ownPodCgroups(instance, [cpu]),
      [`${cpu}/kubepods/burstable/pod${OWN[1]}`, `${cpu}/kubepods/pod${OWN[0]}`],
    );
    const put = (path: string, pids: string): Promise<void> =>
      Deno.writeTextFile(`${path}/cgroup.procs`, pids);
    await put(`${cpu}/kubepods/pod${OWN[0]}/container`, "11\n12\n");
    await put(`${memory}/kubepods/burstable/pod${FOREIGN}/container`, "21\n0\n");
    await put(`${memory}/kubepods/besteffort`, "22\n");
    const foreign = await foreignPodProcesses(instance, hierarchies);
    assert.deepEqual([...foreign].sort(), [21, 22]);
  });
  await withPods(DEFAULT_NAME, async (instance, hierarchies) => {
    await removeCgroups(instance, hierarchies);
    for (const hierarchy of hierarchies) {
      assert.deepEqual(await left(hierarchy), [
        "kubepods",
        "kubepods/burstable",
        `kubepods/burstable/pod${FOREIGN}`,
        `kubepods/burstable/pod${FOREIGN}/container`,
      ]);
    }
  });
});

Deno.test("removeCgroups() removes the whole of a root of the instance's own", async () => {
  await withPods("b", async (instance, hierarchies) => {
    await removeCgroups(instance, hierarchies);
    for (const hierarchy of hierarchies) assert.deepEqual(await left(hierarchy), []);
  });
});

Deno.test("enableControllers() and restoreControllers() change what was missing, and no more", async () => {
  const restore = (root: string): Promise<void> => restoreControllers(root, ["memory"]);
  const besideOther = async (root: string): Promise<void> => {
    await Deno.mkdir(`${root}/other`);
    await restore(root);
  };
  for (
    const [enabled, action, written] of [
      ["memory pids\n", enableControllers, "+cpu +cpuset"],
      ["cpuset cpu memory pids\n", enableControllers, undefined],
      ["cpuset cpu io memory pids\n", restore, "-cpuset -cpu -pids"],
      ["memory io\n", restore, undefined],
      ["cpuset cpu io memory pids\n", besideOther, undefined],
      // No cgroup v2.
      [undefined, enableControllers, undefined],
    ] as const
  ) {
    await inFolder(async (root) => {
      if (enabled !== undefined) {
        await Deno.writeTextFile(`${root}/cgroup.controllers`, "cpuset cpu io memory pids rdma\n");
        await Deno.writeTextFile(`${root}/cgroup.subtree_control`, enabled);
      }
      await action(root);
      const text = await Deno.readTextFile(`${root}/cgroup.subtree_control`).catch(() => undefined);
      assert.equal(text, written ?? enabled);
    });
  }
});

Deno.test("isSame() distinguishes a process from another that got its number, and from its remains", () => {
  // Counted after the last parenthesis of the command.
  const stat = parseStat("42 (a) b (c) S 1 42 42 0 -1 4194560 9 0 0 0 1 2 0 0 20 0 7 0 987654 1 2");
  assert.deepEqual(stat, { state: "S", parent: 1, startTicks: 987654 });
  const record = { pid: 42, startTicks: 987654 };
  assert.ok(isSame(record, stat));
  assert.ok(!isSame(record, { ...stat, startTicks: 987655 }));
  assert.ok(!isSame(record, { ...stat, state: "Z" }));
  assert.ok(!isSame(record, parseStat("")));
});

Deno.test("instanceNamed() keeps instances apart, and refuses what is no name of a node", () => {
  assert.equal(instanceNamed(DEFAULT_NAME).cgroupRoot, "/");
  const [one, two] = ["one", "two"].map((name) => instanceNamed(name));
  assert.equal(one?.cgroupRoot, "/coallocator-one");
  for (const [key, value] of Object.entries(one ?? {})) {
    if (key !== "stateRoot") assert.notEqual(value, Object(two)[key], key);
  }
  // The kernel allows 107 bytes for a socket.
  assert.ok(`${instanceNamed("a".repeat(40)).containerdSocket}.ttrpc`.length <= 107);
  for (const name of ["", "A", "a_b", "../x", "a/b", "-a", "a-", "1a", "a".repeat(41)]) {
    assert.throws(() => instanceNamed(name), RangeError, name);
  }
});
