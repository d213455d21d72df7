/**
 * The pods that are there: which directories are listed when.
 *
 * Listing one directory takes as long as reading ten open files, and a full node has over a hundred
 * of them. So which pods there are is listed often, and what is in one only when it is young, when
 * something in it vanished, and now and then. A container that is asked for and not known makes
 * everything be listed at once.
 *
 * @module
 */
import type { CgroupFiles } from "../shared/cgroup/cgroup_files.ts";
import type { CgroupLayout } from "../shared/cgroup/layout.ts";
import {
  type ContainerCgroup,
  countPodPlaces,
  listContainers,
  listPodDirectories,
  listPodPlaces,
  listPods,
} from "../shared/cgroup/pod_cgroups.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { updateContainers, type WatchedPod, watchPod } from "./watched_pod.ts";

/** What a register works with; times in milliseconds. */
export interface PodRegisterOptions {
  readonly tree: CgroupTree;
  readonly layout: CgroupLayout;
  /** The pods' directories are listed this often. */
  readonly rescanMs: number;
  /** Called with the files of each cgroup that is gone. */
  readonly forget: (files: CgroupFiles) => void;
  /** Called with each pod that is new, or whose containers were taken anew. */
  readonly listed: (pod: WatchedPod, at: number) => void;
}

/** The pods of a node. */
export interface PodRegister {
  /** By UID. */
  readonly pods: ReadonlyMap<string, WatchedPod>;
  /** Grows with each pod that is listed anew or gone. */
  readonly version: number;
  /** The pod of the container with this hex id, as far as it is known. */
  podOf(id: string): WatchedPod | undefined;
  /** Lists what is due at a monotonic time; `wanted` holds hex ids that should be known. */
  refresh(at: number, wanted: ReadonlySet<string>): void;
  /** Lists one pod's directory now, since something in it is gone, and which pods there are soon. */
  relist(pod: WatchedPod, at: number): void;
}

/** Everything is listed this often, in case a change was missed. */
const FULL_SCAN_MS = 300_000;
/** A pod's containers appear one by one in this time after it; those found first are older. */
const YOUNG_MS = 30_000;

/** A register that knows no pod yet. */
export function createPodRegister(options: PodRegisterOptions): PodRegister {
  const { tree, layout, rescanMs, forget, listed } = options;
  const pods = new Map<string, WatchedPod>();
  const directories = new Map<string, string>();
  const podOf = new Map<string, WatchedPod>();
  let scannedAt: number | undefined;
  let fullScanAt: number | undefined;
  let missing: ReadonlySet<string> = new Set();
  let seen: ReadonlySet<string> = missing;
  let first = true;
  let version = 0;
  let places: readonly string[] = [];
  let counts: readonly number[] | undefined;
  let youngUntil = -Infinity;

  const remove = (uid: string, pod: WatchedPod): void => {
    version++;
    pods.delete(uid);
    directories.delete(uid);
    for (const { id, files } of pod.containers.values()) {
      if (podOf.get(id) === pod) podOf.delete(id);
      forget(files);
    }
    if (pod.own !== undefined) forget(pod.own.files);
  };

  const put = (
    uid: string,
    { at, directory, found }: {
      readonly at: number;
      readonly directory: string | undefined;
      readonly found: readonly ContainerCgroup[];
    },
  ): void => {
    version++;
    let pod = pods.get(uid);
    if (pod === undefined) {
      const foundAt = first ? -Infinity : at;
      pod = watchPod(layout, {
        uid,
        at: foundAt,
        ...(directory === undefined ? {} : { directory }),
      });
      pods.set(uid, pod);
      youngUntil = Math.max(youngUntil, foundAt + YOUNG_MS);
      if (directory !== undefined) directories.set(uid, directory);
    }
    for (const id of pod.containers.keys()) if (podOf.get(id) === pod) podOf.delete(id);
    updateContainers(pod, layout, { found, directory, at }).forEach(forget);
    for (const id of pod.containers.keys()) podOf.set(id, pod);
    listed(pod, at);
  };

  /** Notes by what a change of the pods' directories could be told. */
  const note = (): void => {
    if (tree.childCount === undefined) return;
    places = listPodPlaces(tree, layout);
    counts = countPodPlaces(tree, places);
  };

  /** Whether as many pods are there as when they were last listed, and none needs another look. */
  const isAsNoted = (at: number): boolean => {
    if (counts === undefined || at < youngUntil) return false;
    const now = countPodPlaces(tree, places);
    return now !== undefined && now.every((count, i) => count === counts?.[i]);
  };

  const listAll = (at: number): void => {
    fullScanAt = at;
    note();
    const found = new Map(listPods(tree, layout).map((pod) => [pod.uid, pod]));
    for (const [uid, pod] of [...pods]) {
      if (!isSame(uid, found.get(uid)?.directory, found.has(uid))) remove(uid, pod);
    }
    for (const [uid, { directory, containers }] of found) {
      const pod = pods.get(uid);
      if (pod !== undefined && isKnown(pod, containers)) continue;
      put(uid, { at, directory, found: containers });
    }
  };

  /** Whether a pod is there still, and where it was. */
  const isSame = (uid: string, directory: string | undefined, there: boolean): boolean =>
    there && directories.get(uid) === directory;

  const relist = (pod: WatchedPod, at: number): void => {
    const directory = directories.get(pod.uid);
    if (directory === undefined) return;
    const strays = Array.from(pod.containers.values()).filter(({ stray }) => stray);
    // Strays are found by a full scan only; until then they stay.
    if (strays.length > 0) listAll(at);
    else put(pod.uid, { at, directory, found: listContainers(tree, layout, { directory }) });
  };

  const listNew = (at: number): void => {
    note();
    const found = new Map(
      listPodDirectories(tree, layout).map(({ uid, directory }) => [uid, directory]),
    );
    for (const [uid, pod] of [...pods]) {
      const directory = found.get(uid);
      // A pod of which only strays were found has no directory to miss.
      if (directories.has(uid) && !isSame(uid, directory, directory !== undefined)) {
        remove(uid, pod);
      }
    }
    for (const [uid, directory] of found) {
      const pod = pods.get(uid);
      if (pod === undefined || !directories.has(uid)) {
        if (pod !== undefined) remove(uid, pod);
        put(uid, { at, directory, found: listContainers(tree, layout, { directory }) });
      } else if (at - pod.foundAt < YOUNG_MS) relist(pod, at);
    }
  };

  return {
    pods,
    get version() {
      return version;
    },
    relist(pod, at) {
      // Where one is gone another may have come: then as many are there as before.
      counts = undefined;
      relist(pod, at);
    },
    podOf: (id) => podOf.get(id),
    refresh(at, wanted) {
      const before = scannedAt ?? at;
      const full = fullScanAt === undefined || at < before || at - fullScanAt >= FULL_SCAN_MS;
      const due = full || scannedAt === undefined || at - scannedAt >= rescanMs;
      let asked = false;
      // The same set as last time has nothing new in it.
      if (wanted !== seen) {
        for (const id of wanted) {
          if (!podOf.has(id) && !missing.has(id)) asked = true;
        }
      }
      seen = wanted;
      if (!due && !asked) return;
      scannedAt = at;
      if (full || asked) listAll(at);
      else if (!isAsNoted(at)) listNew(at);
      else return;
      first = false;
      missing = new Set([...wanted].filter((id) => !podOf.has(id)));
    },
  };
}

/** Whether a pod has just these containers. */
function isKnown({ containers }: WatchedPod, found: readonly ContainerCgroup[]): boolean {
  return containers.size === found.length && found.every(({ id }) => containers.has(id));
}
