import assert from "node:assert/strict";
import { enableControllers, passedOn, restoreControllers } from "./cgroup_controllers.ts";

/** What is written to the control file of a root; undefined when nothing is. */
async function written(
  enabled: string,
  action: (root: string) => Promise<void>,
): Promise<string | undefined> {
  const root = await Deno.makeTempDir({ dir: "/tmp" });
  try {
    await Deno.writeTextFile(`${root}/cgroup.controllers`, "cpuset cpu io memory pids rdma\n");
    await Deno.writeTextFile(`${root}/cgroup.subtree_control`, enabled);
    await action(root);
    const text = await Deno.readTextFile(`${root}/cgroup.subtree_control`);
    return text === enabled ? undefined : text;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("enableControllers() adds what a kubelet demands, where the root offers it", async () => {
  assert.equal(await written("memory pids\n", enableControllers), "+cpu +cpuset");
  assert.equal(await written("\n", enableControllers), "+cpu +cpuset +memory +pids");
  const all = ["cpuset", "cpu", "memory", "pids"].join(" ");
  assert.equal(await written(`${all}\n`, enableControllers), undefined);
});

Deno.test("restoreControllers() takes away what was added, unless another cgroup is there", async () => {
  const enabled = "cpuset cpu io memory pids\n";
  const restore = (root: string): Promise<void> => restoreControllers(root, ["memory"]);
  assert.equal(await written(enabled, restore), "-cpuset -cpu -pids");
  assert.equal(await written("memory io\n", restore), undefined);
  const withOther = async (root: string): Promise<void> => {
    await Deno.mkdir(`${root}/other`);
    await restore(root);
  };
  assert.equal(await written(enabled, withOther), undefined);
});

Deno.test("passedOn() is undefined, and nothing is changed, where there is no cgroup v2", async () => {
  const root = await Deno.makeTempDir({ dir: "/tmp" });
  try {
    assert.equal(await passedOn(root), undefined);
    await enableControllers(root);
    await restoreControllers(root, []);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(root)), []);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
