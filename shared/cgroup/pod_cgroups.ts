/**
 * The pods and containers that a node's cgroup tree holds now.
 *
 * @module
 */
import { type CgroupLayout, joinPath } from "./layout.ts";
import type { CgroupTree } from "./tree.ts";

/** cgroupfs driver: `pod<uid>`. */
const POD_DIRECTORY = /^pod([0-9a-f-]{32,36})$/;
/** systemd driver: `kubepods-burstable-pod<uid>.slice`, and the same below a root of its own. */
const POD_SLICE = /(?:^|-)pod([0-9a-f_]{32,36})\.slice$/;
/** `<id>`, `crio-<id>`, `cri-containerd-<id>.scope`; but not `crio-conmon-<id>.scope`. */
const CONTAINER =
  /^(?:(?:cri-containerd|crio|docker|pouch|libpod)-)?([0-9a-f]{12,64})(?:\.scope)?$/;
/** A name `slice:prefix:id`, meant for systemd, that the runtime took for a path: see `ORPHAN_PARENTS`. */
const ORPHANED = /^([^:]+):[^:]*:([0-9a-f]{12,64})$/;

/**
 * The UID of the pod with this cgroup, with dashes as the API writes it. A static pod's is the
 * hash of its manifest, 32 hex digits without dashes.
 */
function podUIDOfName(name: string): string | undefined {
  const uid = POD_DIRECTORY.exec(name)?.[1] ?? POD_SLICE.exec(name)?.[1];
  return uid?.replaceAll("_", "-");
}

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
 * Where a runtime with the cgroupfs driver puts the containers of a kubelet with the systemd driver: below
 * the runtime's own service, or at the top when it runs outside of one.
 */
const ORPHAN_PARENTS = [
  "",
  "system.slice",
  ...["containerd", "crio", "docker", "k3s", "k3s-agent", "rke2-server", "rke2-agent"]
    .map((service) => `system.slice/${service}.service`),
];

/** A pod's own cgroup. */
export type PodDirectory = Required<Pick<PodCgroup, "uid" | "directory">>;

/**
 * The cgroups of pods, without their containers: takes one listing for each root and QoS level, however
 * many pods there are.
 */
export function listPodDirectories(tree: CgroupTree, layout: CgroupLayout): PodDirectory[] {
  const podsIn = (above: string, hasLevels: boolean): PodDirectory[] =>
    childrenOf(above, { tree, layout }).flatMap((name) => {
      const directory = joinPath(above, name);
      const uid = podUIDOfName(name);
      if (uid !== undefined) return [{ uid, directory }];
      return hasLevels && isQosLevel(name) ? podsIn(directory, false) : [];
    });
  return layout.roots.flatMap((root) => podsIn(root, true));
}

/** The containers in a pod's cgroup. */
export function listContainers(
  tree: CgroupTree,
  layout: CgroupLayout,
  { directory }: Pick<PodDirectory, "directory">,
): ContainerCgroup[] {
  return childrenOf(directory, { tree, layout }).flatMap((name) => {
    const id = CONTAINER.exec(name)?.[1];
    if (id === undefined) return [];
    return [containerCgroup(id, { tree, layout, directory: joinPath(directory, name) })];
  });
}

/** All pods with their containers, in no particular order. A vanished directory is an empty one. */
export function listPods(tree: CgroupTree, layout: CgroupLayout): PodCgroup[] {
  const pods = new Map<string, { directory?: string; containers: ContainerCgroup[] }>();
  for (const { uid, directory } of listPodDirectories(tree, layout)) {
    pods.set(uid, { directory, containers: listContainers(tree, layout, { directory }) });
  }
  for (const place of orphanParents(layout)) {
    for (const name of childrenOf(place, { tree, layout })) {
      const [, slice = "", id] = ORPHANED.exec(name) ?? [];
      const uid = podUIDOfName(slice);
      if (uid === undefined || id === undefined) continue;
      const pod = pods.get(uid) ?? { containers: [] };
      pods.set(uid, pod);
      pod.containers.push(containerCgroup(id, { tree, layout, directory: joinPath(place, name) }));
    }
  }
  return Array.from(pods, ([uid, pod]) => ({ uid, ...pod }));
}

interface LaidOutTree {
  readonly tree: CgroupTree;
  readonly layout: CgroupLayout;
}

function childrenOf(directory: string, { tree, layout }: LaidOutTree): readonly string[] {
  return tree.children(joinPath(layout.cpu, directory)) ?? [];
}

function containerCgroup(
  id: string,
  { directory, ...tree }: LaidOutTree & { readonly directory: string },
): ContainerCgroup {
  // crun under CRI-O creates a cgroup inside the scope and enforces the quota there.
  const inner = directory.includes("/crio-") && childrenOf(directory, tree).includes("container");
  return { id, directory: inner ? `${directory}/container` : directory };
}

/** `burstable`, `kubepods-besteffort.slice`; Guaranteed pods have no such level. */
function isQosLevel(name: string): boolean {
  return /(?:^|-)(?:burstable|besteffort|guaranteed)(?:\.slice)?$/.test(name);
}

/** `ORPHAN_PARENTS` beside each root, which for a nested node lie inside that node's cgroup. */
function orphanParents({ roots }: CgroupLayout): Set<string> {
  const bases = roots.map((root) => {
    const parent = root.slice(0, Math.max(0, root.lastIndexOf("/")));
    return parent.replace(/(?:^|\/)kubelet(?:\.slice)?$/, "");
  });
  return new Set(bases.flatMap((base) => ORPHAN_PARENTS.map((place) => joinPath(base, place))));
}
