/**
 * The pods and containers that are on the node.
 *
 * Listing one directory takes as long as reading ten open files, and a full node has over a hundred
 * directories. So pods are listed often, and a pod's containers only when it is young, when one of them
 * vanished, and every few minutes. A wanted container that is not known makes everything be listed at once.
 *
 * @module
 */
import type { CgroupFiles } from "../../shared/cgroup/cgroup_files.ts";
import type { CgroupLayout } from "../../shared/cgroup/layout.ts";
import {
  listContainers,
  listPodDirectories,
  listPods,
  type PodCgroup,
} from "../../shared/cgroup/pod_cgroups.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import {
  type ContainerCgroupState,
  newPodState,
  type PodState,
  updateContainers,
} from "./pod_state.ts";

/** The pods of a node. */
export interface PodList {
  /** By UID. */
  readonly pods: ReadonlyMap<string, PodState>;
  /** The container with this hex id; undefined when it is not known. */
  container(id: string): ContainerCgroupState | undefined;
  /** Lists what is due at a monotonic time; `wanted` has the hex ids that should be known. */
  refresh(at: number, wanted: ReadonlySet<string>): void;
  /** Lists one pod's containers now, since one of them is gone. */
  relist(pod: PodState, at: number): void;
}

/** The tree to list, and its layout. */
export interface PodListOptions {
  readonly tree: CgroupTree;
  readonly layout: CgroupLayout;
  /** Called with the files of each cgroup that is gone. */
  readonly forget: (files: CgroupFiles) => void;
}

/** The pods' directories are listed this often. */
const SCAN_MS = 1000;
/** Everything is listed this often, in case a change was missed. */
const FULL_SCAN_MS = 300_000;
/**
 * Age up to which a pod's containers are listed each time, and its weights are read often: containers follow
 * each other, and a runtime may set quota and weight after it has created the cgroup.
 */
export const YOUNG_MS = 30_000;

/** Creates an empty list. */
export function createPodList({ tree, layout, forget }: PodListOptions): PodList {
  const pods = new Map<string, PodState>();
  let scannedAt = -Infinity;
  let fullScanAt = -Infinity;
  let lastWanted: ReadonlySet<string> = new Set();
  /** Wanted ids that the last scan did not find: they are no reason to scan again. */
  let missing: ReadonlySet<string> = lastWanted;

  const remove = ({ uid, cgroup, containers }: PodState): void => {
    pods.delete(uid);
    for (const { files } of containers.values()) forget(files);
    if (cgroup !== undefined) forget(cgroup.files);
  };

  const update = (pod: PodState, found: PodCgroup["containers"], at: number): void =>
    updateContainers(pod, layout, { found, at }).forEach(forget);

  const relist = (pod: PodState, at: number): void => {
    const { directory } = pod;
    if (directory === undefined) return;
    // Orphaned containers are found by a full scan only.
    if ([...pod.containers.values()].some(({ orphaned }) => orphaned)) scan(at, true);
    else update(pod, listContainers(tree, layout, { directory }), at);
  };

  const scan = (at: number, full: boolean): void => {
    const foundAt = fullScanAt === -Infinity ? -Infinity : at;
    scannedAt = at;
    if (full) fullScanAt = at;
    const listed: (Omit<PodCgroup, "containers"> & Partial<PodCgroup>)[] = full
      ? listPods(tree, layout)
      : listPodDirectories(tree, layout);
    const found = new Map(listed.map((pod) => [pod.uid, pod]));
    for (const pod of [...pods.values()]) {
      if (isGone(pod, { now: found.get(pod.uid), full })) remove(pod);
    }
    for (const cgroup of found.values()) {
      const { uid, directory } = cgroup;
      const known = pods.get(uid);
      const pod = known ?? newPodState(layout, { uid, directory, foundAt });
      pods.set(uid, pod);
      if (cgroup.containers !== undefined) update(pod, cgroup.containers, foundAt);
      else if (known === undefined || at - known.foundAt < YOUNG_MS) relist(pod, at);
    }
  };

  /** The ids that no known pod has. */
  const unknown = (ids: ReadonlySet<string>): ReadonlySet<string> =>
    ids.difference(new Set(pods.values().flatMap(({ containers }) => containers.keys())));

  return {
    pods,
    container: (id) => pods.values().find((pod) => pod.containers.has(id))?.containers.get(id),
    relist,
    refresh(at, wanted) {
      const hasNewID = wanted !== lastWanted && !unknown(wanted).isSubsetOf(missing);
      lastWanted = wanted;
      const isFull = hasNewID || at < scannedAt || at - fullScanAt >= FULL_SCAN_MS;
      if (!isFull && at - scannedAt < SCAN_MS) return;
      scan(at, isFull);
      missing = unknown(wanted);
    },
  };
}

/** Whether the pod's cgroup is gone or has moved. Only a full scan finds orphaned containers. */
function isGone(
  { directory }: PodState,
  { now, full }: { readonly now: Pick<PodCgroup, "directory"> | undefined; readonly full: boolean },
): boolean {
  return now === undefined ? full || directory !== undefined : now.directory !== directory;
}
