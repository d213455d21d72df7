/**
 * The node's cgroup files, version 2 in the systemd layout of kubelet and containerd, as text.
 *
 * Only `total` of `cpu.pressure` is modelled; the averages, which are not read here, are 0.
 *
 * @module
 */
import type { CgroupTree } from "../../../shared/cgroup/tree.ts";
import type { SimulatedNode } from "./simulated_node.ts";
import type { GroupReading } from "./pod_state.ts";

/** Controllers as the root of a v2 hierarchy lists them; its presence distinguishes v2 from v1. */
const CONTROLLERS = "cpuset cpu io memory hugetlb pids rdma misc\n";
const PERIOD_US = 100_000;

/** The files of one group. */
const FILES: Readonly<Record<string, (group: GroupReading) => string>> = {
  "cpu.stat": (group) =>
    `usage_usec ${group.usageUs}\nuser_usec ${group.usageUs}\nsystem_usec 0\n` +
    `nr_periods ${group.periods}\nnr_throttled ${group.throttledPeriods}\n` +
    `throttled_usec ${group.throttledUs}\nnr_bursts 0\nburst_usec 0\n`,
  "cpu.max": ({ quota }) =>
    `${quota === undefined ? "max" : Math.round(quota * PERIOD_US / 1000)} ${PERIOD_US}\n`,
  "cpu.weight": ({ weight }) => `${weight}\n`,
  "cpu.pressure": ({ waitedUs }) =>
    ["some", "full"].map((kind) => `${kind} avg10=0.00 avg60=0.00 avg300=0.00 total=${waitedUs}\n`)
      .join(""),
};

/** Directory of a Burstable pod's group. */
function podDirectory(uid: string): string {
  const burstable = "kubepods.slice/kubepods-burstable.slice";
  return `${burstable}/kubepods-burstable-pod${uid.replaceAll("-", "_")}.slice`;
}

/**
 * The files as they stand at the node's virtual time; every pod is taken for Burstable. Reading
 * does not move the node: the owner of the time advances it first.
 */
export function cgroupView(node: SimulatedNode): CgroupTree {
  let index = indexOf(node);
  let revision = node.revision;
  const fresh = () => {
    if (revision !== node.revision) {
      index = indexOf(node);
      revision = node.revision;
    }
    return index;
  };
  return {
    children: (directory) => fresh().directories.get(directory),
    read: (file) => fresh().files.get(file)?.(),
    release() {},
  };
}

interface Index {
  readonly directories: ReadonlyMap<string, readonly string[]>;
  readonly files: ReadonlyMap<string, () => string>;
}

function indexOf(node: SimulatedNode): Index {
  const directories = new Map<string, string[]>([["", []]]);
  const lastCPU = Math.ceil(node.cores) - 1;
  const files = new Map<string, () => string>([
    ["cgroup.controllers", () => CONTROLLERS],
    ["cpu.stat", () => `usage_usec ${node.usageUs}\n`],
    ["cpuset.cpus.effective", () => lastCPU === 0 ? "0\n" : `0-${lastCPU}\n`],
  ]);

  const addDirectory = (path: string): void => {
    if (directories.has(path)) return;
    directories.set(path, []);
    const slash = path.lastIndexOf("/");
    const parent = path.slice(0, Math.max(0, slash));
    addDirectory(parent);
    directories.get(parent)?.push(path.slice(slash + 1));
  };
  const addGroup = (path: string, read: () => GroupReading): void => {
    addDirectory(path);
    for (const [name, render] of Object.entries(FILES)) {
      files.set(`${path}/${name}`, () => render(read()));
    }
  };

  addDirectory("kubepods.slice/kubepods-besteffort.slice");
  addDirectory("kubepods.slice/kubepods-burstable.slice");
  for (const { uid, containerIDs } of node.pods()) {
    const directory = podDirectory(uid);
    addGroup(directory, () => node.pod(uid));
    for (const id of containerIDs) {
      addGroup(`${directory}/cri-containerd-${id}.scope`, () => node.container(id));
    }
  }
  return { directories, files };
}
