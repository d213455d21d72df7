import assert from "node:assert/strict";
import { type Instance, instanceNamed } from "../instance.ts";
import { instanceCgroups, ownPodCgroups } from "./own_pods.ts";
import { foreignPodProcesses, removeCgroups } from "../pod_cgroups.ts";

const OWN = ["ec1c-01", "ec1c-02"];
const FOREIGN = "ffff-01";

/** Two hierarchies with two pods of the instance's kubelet and one of another under one root. */
async function withPods(
  name: string,
  test: (instance: Instance, hierarchies: readonly string[]) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ dir: "/tmp" });
  const instance = instanceNamed(name, { stateRoot: folder });
  const hierarchies = [`${folder}/cpu`, `${folder}/memory`];
  try {
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What is below a folder, without what precedes `kubepods`. */
async function left(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    found.push(path.slice(path.indexOf("kubepods")), ...await left(path));
  }
  return found.sort();
}

Deno.test({
  name: "instanceCgroups() of the default instance has no root, which is the machine's",
  permissions: "none",
  fn() {
    const hierarchies = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"];
    assert.deepEqual(instanceCgroups(instanceNamed("coallocator"), hierarchies), {
      roots: [],
      kubepods: ["/sys/fs/cgroup/cpu/kubepods", "/sys/fs/cgroup/unified/kubepods"],
    });
  },
});

Deno.test({
  name: "instanceCgroups() of another instance has a root of its own, on cgroup v2 alike",
  permissions: "none",
  fn() {
    assert.deepEqual(instanceCgroups(instanceNamed("b"), ["/sys/fs/cgroup"]), {
      roots: ["/sys/fs/cgroup/coallocator-b"],
      kubepods: ["/sys/fs/cgroup/coallocator-b/kubepods"],
    });
  },
});

Deno.test("ownPodCgroups() under the machine's root are those that the kubelet has a folder for", async () => {
  await withPods("coallocator", async (instance, hierarchies) => {
    const found = await ownPodCgroups(instance, hierarchies);
    assert.deepEqual(
      found,
      hierarchies.flatMap((path) => [
        `${path}/kubepods/burstable/pod${OWN[1]}`,
        `${path}/kubepods/pod${OWN[0]}`,
      ]),
    );
  });
});

Deno.test("ownPodCgroups() under a root of the instance's own are all", async () => {
  await withPods("b", async (instance, hierarchies) => {
    assert.equal((await ownPodCgroups(instance, hierarchies)).length, 6);
  });
});

Deno.test("foreignPodProcesses() are those of no pod of the instance's own", async () => {
  await withPods("coallocator", async (instance, hierarchies) => {
    const [cpu = "", memory = ""] = hierarchies;
    const put = (path: string, pids: string): Promise<void> =>
      Deno.writeTextFile(`${path}/cgroup.procs`, pids);
    await put(`${cpu}/kubepods/pod${OWN[0]}/container`, "11\n12\n");
    assert.deepEqual(await foreignPodProcesses(instance, hierarchies), []);
    await put(`${memory}/kubepods/burstable/pod${FOREIGN}/container`, "21\n0\n");
    await put(`${memory}/kubepods/besteffort`, "22\n");
    const found = await foreignPodProcesses(instance, hierarchies);
    assert.deepEqual([...found].sort(), [21, 22]);
  });
});

Deno.test("removeCgroups() leaves another kubelet's pods and the levels above them", async () => {
  await withPods("coallocator", async (instance, hierarchies) => {
    await removeCgroups(instance, hierarchies);
    for (const hierarchy of hierarchies) {
      assert.deepEqual(await left(hierarchy), [
        "kubepods",
        "kubepods/burstable",
        `kubepods/burstable/pod${FOREIGN}`,
        `kubepods/burstable/pod${FOREIGN}/container`,
      ]);
      await Deno.remove(`${hierarchy}/kubepods/burstable/pod${FOREIGN}`, { recursive: true });
    }
    await removeCgroups(instance, hierarchies);
    for (const hierarchy of hierarchies) assert.deepEqual(await left(hierarchy), []);
  });
});

Deno.test("removeCgroups() removes the whole of a root of the instance's own", async () => {
  await withPods("b", async (instance, hierarchies) => {
    await removeCgroups(instance, hierarchies);
    for (const hierarchy of hierarchies) assert.deepEqual(await left(hierarchy), []);
  });
});
