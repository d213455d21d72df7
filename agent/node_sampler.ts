/**
 * The agent's eyes: everything between the cgroup files of a node and its `NodeSample`.
 *
 * The unit of a look is the pod, because its containers share the counters of the pod's level. All
 * pods are looked at, managed or not; directories are listed once a second, or at once when a
 * container is asked for that is not known yet.
 *
 * @module
 */
import { isBusy } from "../shared/cgroup/busy.ts";
import type { CgroupFiles } from "../shared/cgroup/cgroup_files.ts";
import { type CgroupLayout, findLayout } from "../shared/cgroup/layout.ts";
import { listPods } from "../shared/cgroup/pod_cgroups.ts";
import type { ContainerSample, NodeSample } from "../shared/cgroup/sample.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { unmanagedCPU } from "./unmanaged_cpu.ts";
import {
  isTooSoon,
  lookAtPod,
  lookAtSettings,
  updateContainers,
  type WatchedPod,
  watchPod,
} from "./watched_pod.ts";

/** What the sampler works with; times in milliseconds. */
export interface NodeSamplerOptions {
  readonly tree: CgroupTree;
  /** CPUs of the node. */
  readonly cores: number;
  /** Directories are listed this often. @default {1000} */
  readonly rescanMs?: number;
  /**
   * Pods whose containers all use at most 80 % of their quota are looked at this often, however
   * often `sample` is called. @default {250}
   */
  readonly calmMs?: number;
  /** Told of files that the kernel would not write so, once each. @default {silentLog} */
  readonly log?: Log;
}

/** Looks at one node. */
export interface NodeSampler {
  readonly layout: CgroupLayout;
  /**
   * The node at a monotonic time. `managed` holds the hex ids of the containers that the bounds
   * name. A container that was not looked at this time keeps its last sample, with that one's `at`;
   * one without two trustworthy looks is missing. Throws what the tree throws.
   */
  sample(at: number, managed: ReadonlySet<string>): NodeSample;
  /** The pods as the last look found them. */
  pods(): readonly WatchedPod[];
  /** Closes all files. */
  close(): void;
}

/** Ticks of a loop come a little early or late; this early is still on time. */
const ON_TIME = 0.9;

/** A sampler that has not looked yet. Throws an `Error` when the tree holds no pods' root. */
export function createNodeSampler(
  { tree, cores, rescanMs = 1000, calmMs = 250, log = silentLog }: NodeSamplerOptions,
): NodeSampler {
  if (!(cores > 0)) {
    throw new RangeError(`Cannot sample a node: cores is ${cores}, expected a number above 0`);
  }
  const layout = findLayout(tree);
  log.info("Cgroup layout found", { layout: layout.description });
  const pods = new Map<string, WatchedPod>();
  const podOf = new Map<string, WatchedPod>();
  const reported = new Set<string>();
  let scannedAt: number | undefined;
  let missing: ReadonlySet<string> = new Set();

  const malformed = (error: SyntaxError, files: CgroupFiles): void => {
    const file = malformedFile(error, files);
    if (reported.has(file)) return;
    reported.add(file);
    log.warn("Cannot use a cgroup's file", { file, error: error.message });
  };
  const contextAt = (at: number) => ({ tree, at, cores, malformed });

  const forget = (files: CgroupFiles): void => {
    for (const file of pathsOf(files)) reported.delete(file);
    for (const directory of files.directories) tree.release(directory);
  };

  const scan = (at: number): void => {
    scannedAt = at;
    const found = new Map(listPods(tree, layout).map((pod) => [pod.uid, pod]));
    for (const [uid, pod] of pods) {
      if (found.has(uid)) continue;
      pods.delete(uid);
      for (const { files } of pod.containers.values()) forget(files);
      if (pod.own !== undefined) forget(pod.own.files);
    }
    podOf.clear();
    for (const cgroup of found.values()) {
      let pod = pods.get(cgroup.uid);
      if (pod === undefined) pods.set(cgroup.uid, pod = watchPod(layout, cgroup));
      updateContainers(pod, layout, { found: cgroup }).forEach(forget);
      for (const id of pod.containers.keys()) podOf.set(id, pod);
      lookAtSettings(pod, contextAt(at));
    }
  };

  /** Lists directories when it is time, or when an id is asked for that was not asked for before. */
  const scanIfNeeded = (at: number, wanted: ReadonlySet<string>): void => {
    const due = scannedAt === undefined || at < scannedAt || at - scannedAt >= rescanMs;
    const unknown = [...wanted].filter((id) => !podOf.has(id));
    if (due || unknown.some((id) => !missing.has(id))) {
      scan(at);
      missing = new Set([...wanted].filter((id) => !podOf.has(id)));
    }
  };

  return {
    layout,
    sample(at, managed) {
      scanIfNeeded(at, managed);
      const containers = new Map<string, ContainerSample>();
      let unmanaged = 0;
      for (const pod of pods.values()) {
        if (!isTooSoon(pod, at, wantsLook(pod) ? {} : { ms: calmMs * ON_TIME })) {
          lookAtPod(pod, contextAt(at));
        }
        for (const { id, sample } of pod.containers.values()) {
          if (sample !== undefined) containers.set(id, sample);
        }
        unmanaged += unmanagedCPU(pod, managed);
      }
      return { at, containers, unmanaged };
    },
    pods: () => [...pods.values()],
    close: () => tree.release(""),
  };
}

function pathsOf(files: CgroupFiles): string[] {
  const { stat, usage, quota, period, pressure, weight, threads } = files;
  return [stat, usage, quota, period, pressure, weight, threads];
}

/** The path of the file that the error names: a parser knows the name, not the directory. */
function malformedFile({ message }: SyntaxError, files: CgroupFiles): string {
  const named = (path: string) => message.startsWith(`Cannot parse ${path.replace(/^.*\//, "")}:`);
  return pathsOf(files).find(named) ?? files.stat;
}

/** Whether a container is close to its quota, or there is no sample yet that could tell. */
function wantsLook({ containers }: WatchedPod): boolean {
  for (const { sample } of containers.values()) {
    if (sample === undefined || isBusy(sample)) return true;
  }
  return false;
}
