/**
 * What a cgroup v2 tree offers to those below its root.
 *
 * @module
 */
import { readIfThere } from "./components/daemon.ts";
import { folderEntries } from "./install/folder_entries.ts";

/**
 * Where the kubelet looks for cgroup v2. Another place of it, beside hierarchies of v1, the kubelet
 * does not use.
 */
export const UNIFIED_ROOT = "/sys/fs/cgroup";

/** Source: the kubelet's `getSupportedUnifiedControllers`. */
const NEEDED: readonly string[] = ["cpu", "cpuset", "memory", "hugetlb", "pids"];

/** The controllers that are passed on from a root; undefined where there is no cgroup v2. */
export async function passedOn(root: string): Promise<readonly string[] | undefined> {
  const text = await readIfThere(`${root}/cgroup.subtree_control`);
  return text === undefined ? undefined : terms(text);
}

/**
 * Passes on what a kubelet demands of its cgroup root, which otherwise has it only when another program
 * else needed it. Does nothing where there is no cgroup v2.
 */
export async function enableControllers(root: string): Promise<void> {
  const enabled = await passedOn(root);
  if (enabled === undefined) return;
  const offered = terms(await readIfThere(`${root}/cgroup.controllers`) ?? "");
  const missing = NEEDED.filter((name) => offered.includes(name) && !enabled.includes(name));
  await change(root, missing.map((name) => `+${name}`));
}

/**
 * Passes on no more than before. Whether another cgroup needs a controller is unknown,
 * since it may have set a limit long after it was made; so all stays as it is while there is one.
 */
export async function restoreControllers(root: string, before: readonly string[]): Promise<void> {
  const enabled = await passedOn(root);
  const others = (await folderEntries(root)).some(({ isDirectory }) => isDirectory);
  if (enabled === undefined || others) return;
  const added = enabled.filter((name) => NEEDED.includes(name) && !before.includes(name));
  await change(root, added.map((name) => `-${name}`));
}

async function change(root: string, changes: readonly string[]): Promise<void> {
  if (changes.length === 0) return;
  try {
    await Deno.writeTextFile(`${root}/cgroup.subtree_control`, changes.join(" "), {
      create: false,
    });
  } catch (error) {
    throw new Error(`Cannot change the controllers of ${root} by ${changes.join(" ")}: ${error}`, {
      cause: error,
    });
  }
}

function terms(text: string): readonly string[] {
  return text.split(/\s+/).filter((term) => term !== "");
}
