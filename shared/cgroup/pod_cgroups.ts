/**
 * The pods and containers that a node's cgroup tree holds now.
 *
 * @module
 */
import { containerIDOfName, podUIDOfName, strayContainerOfName } from "./cgroup_name.ts";
import { type CgroupLayout, joinPath } from "./layout.ts";
import type { CgroupTree } from "./tree.ts";

/** One container. Directories are relative to the mount points of the layout. */
export interface ContainerCgroup {
  /** The hex id. Sandboxes ("pause" containers) are listed like any other: nothing marks them. */
  readonly id: string;
  readonly directory: string;
}

/** One pod. */
export interface PodCgroup {
  readonly uid: string;
  /** Absent when only its containers were found, outside of any pod's cgroup. */
  readonly directory?: string;
  readonly containers: readonly ContainerCgroup[];
}

/**
 * Where a runtime in the cgroupfs mode puts the containers of a kubelet in the systemd mode: below
 * its own service, or at the top when it runs outside of one.
 */
const STRAY_PLACES = [
  "",
  "system.slice",
  ...["containerd", "crio", "docker", "k3s", "k3s-agent", "rke2-server", "rke2-agent"]
    .map((service) => `system.slice/${service}.service`),
];

/** All pods with their containers, in no particular order. A vanished directory is an empty one. */
export function listPods(tree: CgroupTree, layout: CgroupLayout): PodCgroup[] {
  const pods = new Map<string, { directory?: string; containers: ContainerCgroup[] }>();
  const childrenOf = (directory: string): readonly string[] =>
    tree.children(joinPath(layout.cpu, directory)) ?? [];

  const addPod = (uid: string, directory: string): void => {
    const containers = childrenOf(directory).flatMap((name) => {
      const id = containerIDOfName(name);
      return id === undefined ? [] : [containerCgroup(id, joinPath(directory, name))];
    });
    pods.set(uid, { directory, containers });
  };

  const containerCgroup = (id: string, directory: string): ContainerCgroup => {
    // crun under CRI-O makes a cgroup inside the scope and enforces the quota there.
    const inner = directory.includes("/crio-") && childrenOf(directory).includes("container");
    return { id, directory: inner ? `${directory}/container` : directory };
  };

  for (const root of layout.roots) {
    for (const name of childrenOf(root)) {
      const uid = podUIDOfName(name);
      if (uid !== undefined) {
        addPod(uid, joinPath(root, name));
        continue;
      }
      if (!isQosLevel(name)) continue;
      for (const inner of childrenOf(joinPath(root, name))) {
        const innerUID = podUIDOfName(inner);
        if (innerUID !== undefined) addPod(innerUID, `${root}/${name}/${inner}`);
      }
    }
  }
  for (const place of strayPlaces(layout)) {
    for (const name of childrenOf(place)) {
      const stray = strayContainerOfName(name);
      if (stray === undefined) continue;
      const pod = pods.get(stray.podUID) ?? { containers: [] };
      pods.set(stray.podUID, pod);
      pod.containers.push(containerCgroup(stray.containerID, joinPath(place, name)));
    }
  }
  return Array.from(pods, ([uid, pod]) => ({ uid, ...pod }));
}

/** `burstable`, `kubepods-besteffort.slice`; Guaranteed pods have no such level. */
function isQosLevel(name: string): boolean {
  return /(?:^|-)(?:burstable|besteffort|guaranteed)(?:\.slice)?$/.test(name);
}

/** The places beside each root, which for a nested node lie inside that node's cgroup. */
function strayPlaces({ roots }: CgroupLayout): Set<string> {
  const bases = roots.map((root) => {
    const own = root.lastIndexOf("/");
    const parent = own === -1 ? "" : root.slice(0, own);
    return parent.replace(/(?:^|\/)kubelet(?:\.slice)?$/, "");
  });
  return new Set(bases.flatMap((base) => STRAY_PLACES.map((place) => joinPath(base, place))));
}
