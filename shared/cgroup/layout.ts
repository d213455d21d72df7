/**
 * Where on this node the cgroups of pods are.
 *
 * Nodes differ: version 1 with `cpu` and `cpuacct` mounted together or apart, version 2, both at once;
 * the systemd and the cgroupfs driver; a kubelet with a cgroup root of its own; a node that is itself a
 * container. Nothing is configured: the layout is found by looking.
 *
 * @module
 */
import type { CgroupTree } from "./tree.ts";

/** The layout of one node. Directories are relative to the tree's root. */
export interface CgroupLayout {
  readonly version: 1 | 2;
  /** Mount point of the hierarchy with `cpu.stat` and the quotas; empty for the tree's root. */
  readonly cpu: string;
  /** Mount point of the hierarchy with `cpuacct.usage`; the same as `cpu` where there is one. */
  readonly cpuacct: string;
  /** Directories in which pods are found, below the mount points. At least one. */
  readonly roots: readonly string[];
  /** A description for the log. */
  readonly description: string;
}

/** One way in which the cpu controller may be mounted. */
type Mount = Omit<CgroupLayout, "roots">;

/**
 * In order of preference. A hybrid node mounts version 2 beside version 1, without the cpu
 * controller, which can be in one of them only; so version 1 wins where it has pods.
 */
const MOUNTS: readonly Mount[] = [
  v1("cpu,cpuacct", "cpu,cpuacct", "cgroup v1, cpu and cpuacct joined"),
  v1("cpuacct,cpu", "cpuacct,cpu", "cgroup v1, cpuacct and cpu joined"),
  v1("cpu", "cpuacct", "cgroup v1, cpu and cpuacct apart"),
  { version: 2, cpu: "", cpuacct: "", description: "cgroup v2" },
  { version: 2, cpu: "unified", cpuacct: "unified", description: "cgroup v2 under unified" },
];

/** Mount points of version 1 and of the hybrid mode, which are no cgroups of version 2. */
const NOT_V2 = new Set(
  ("cpu cpuacct cpu,cpuacct cpuacct,cpu cpuset memory devices freezer blkio pids systemd unified " +
    "hugetlb net_cls net_prio net_cls,net_prio net_prio,net_cls perf_event rdma misc").split(" "),
);

/** `kubepods.slice`, `kubepods`, and with a cgroup root of its own `kubelet-kubepods.slice`. */
const PODS_ROOT = /^(?:kubepods|kubepods\.slice|.+-kubepods\.slice)$/;
/** `machine.slice/libpod-NODE.scope/container/kubelet.slice/kubelet-kubepods.slice`. */
const DEEPEST_ROOT = 5;
/** A node has some hundred cgroups above its pods: a larger tree is not searched to its end. */
const MOST_DIRECTORIES = 4096;

/** The `cause` of the error of {@linkcode findLayout}, which distinguishes it from other errors. */
export const NO_LAYOUT = "no pods' root";

/**
 * Finds the layout. Throws an `Error` that lists what was tried when there is none; its `cause` is
 * {@linkcode NO_LAYOUT}.
 */
export function findLayout(tree: CgroupTree): CgroupLayout {
  const tried: string[] = [];
  for (const mount of MOUNTS) {
    const here = tree.children(mount.cpu) !== undefined &&
      tree.children(mount.cpuacct) !== undefined;
    const { roots, searched } = here ? findRoots(tree, mount) : { roots: [], searched: 0 };
    if (roots.length > 0) {
      const where = `${driverOf(roots)} driver, pods under ${roots.join(" and ")}`;
      return { ...mount, roots, description: `${mount.description}, ${where}` };
    }
    const outcome = here ? `no pods' root, directories searched: ${searched}` : "not mounted";
    tried.push(`${mount.description} (${outcome})`);
  }
  throw new Error(
    "Cannot find the cgroups of pods: no directory is named kubepods, kubepods.slice or " +
      `*-kubepods.slice. Tried ${
        tried.join("; ")
      }. Is the cgroup root the host's /sys/fs/cgroup, ` +
      "and does a kubelet run here?",
    { cause: NO_LAYOUT },
  );
}

/** Breadth first, so that the pods of a node nested in this one are not taken for its own. */
function findRoots(tree: CgroupTree, mount: Mount): { roots: string[]; searched: number } {
  let searched = 0;
  let level = [""];
  for (let depth = 0; depth < DEEPEST_ROOT && level.length > 0; depth++) {
    const roots: string[] = [];
    const below: string[] = [];
    for (const directory of level) {
      if (searched === MOST_DIRECTORIES) break;
      searched++;
      for (const name of tree.children(joinPath(mount.cpu, directory)) ?? []) {
        if (depth === 0 && mount.version === 2 && NOT_V2.has(name)) continue;
        (PODS_ROOT.test(name) ? roots : below).push(joinPath(directory, name));
      }
    }
    if (roots.length > 0) return { roots: roots.sort(), searched };
    level = below;
  }
  return { roots: [], searched };
}

/** `a/b`, or the one of both that is not empty. */
export function joinPath(directory: string, name: string): string {
  if (directory === "") return name;
  return name === "" ? directory : `${directory}/${name}`;
}

function driverOf(roots: readonly string[]): string {
  return roots.every((root) => root.endsWith(".slice")) ? "systemd" : "cgroupfs";
}

function v1(cpu: string, cpuacct: string, description: string): Mount {
  return { version: 1, cpu, cpuacct, description };
}
