/**
 * Samples of a whole node's containers, from its cgroup files.
 *
 * @module
 */
import { type CgroupFiles, readCPUs, readPressure } from "../../shared/cgroup/cgroup_files.ts";
import { type CgroupLayout, findLayout, joinPath } from "../../shared/cgroup/layout.ts";
import { readNodeUsage } from "../../shared/cgroup/node_files.ts";
import {
  type ContainerSample,
  type NodePressure,
  type NodeSample,
  SHORTEST_INTERVAL_MS,
} from "../../shared/cgroup/sample.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { createNodeCPU, createSharedCPUs } from "./node_cpu.ts";
import { createPodList } from "./pod_list.ts";
import { type ContainerCgroupState, isManaged, type PodState } from "./pod_state.ts";
import { readPod, refreshQuota, type SampleContext } from "./sample_pod.ts";
import { unmanagedCPU } from "./unmanaged_cpu.ts";

/** Parts and settings of the sampler; times in milliseconds. */
export interface NodeSamplerOptions {
  readonly tree: CgroupTree;
  /** CPUs of the node. */
  readonly cores: number;
  /** Interval of samples of pods without managed containers. @default {250} */
  readonly unmanagedMs?: number;
  /** Whether to read PSI where it is offered, and the CPU of the whole node. @default {true} */
  readonly pressure?: boolean;
  /** Receives a warning of each malformed file, once. @default {silentLog} */
  readonly log?: Log;
}

/** Options of a sample. */
export interface SampleOptions {
  /**
   * Hex ids of containers with a quota that is about to change: it is read each time, that of an idle container
   * every 30 s. @default {none}
   */
  readonly unsettled?: readonly string[];
  /** Interval of samples of managed pods without a container near its quota, ms. @default {250} */
  readonly everyMs?: number;
}

/** Samples one node. */
export interface NodeSampler {
  readonly layout: CgroupLayout;
  /**
   * Samples the node at a monotonic time. `managed` has the hex ids of the containers that the bounds
   * name. A container that is not due keeps its last sample, with its time; one without two trustworthy
   * readings is missing. Throws what the tree throws.
   */
  sample(at: number, managed: ReadonlySet<string>, options?: SampleOptions): NodeSample;
  /** The pods of the last sample. */
  pods(): readonly PodState[];
  /** Reads PSI of the node and of each pod, where the kernel offers it; undefined in version 1. */
  pressure(): NodePressure | undefined;
  /** Closes all files. */
  close(): void;
}

/** Share of an interval after which a sample is due: ticks come a little early or late. */
export const ON_TIME = 0.9;

/** Creates a sampler. Throws an `Error` when the tree has no pods' root. */
export function createNodeSampler(options: NodeSamplerOptions): NodeSampler {
  const { tree, cores, unmanagedMs = 250, pressure = true, log = silentLog } = options;
  if (!(cores > 0)) {
    throw new RangeError(`Cannot sample a node: cores is ${cores}, expected a number above 0`);
  }
  const layout = findLayout(tree);
  log.info("Cgroup layout found", { layout: layout.description });
  const reported = new Set<string>();
  const report = (file: string, { message: error }: SyntaxError): void => {
    if (reported.has(file)) return;
    reported.add(file);
    log.warn("Cannot use a cgroup's file", { file, error });
  };
  const onMalformed = (error: SyntaxError, files: CgroupFiles): void =>
    report(malformedFile(error, files), error);
  const readOrReport = <T>(file: string, read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      report(file, error);
      return undefined;
    }
  };
  const pressureIn = (file: string) => readOrReport(file, () => readPressure(tree, file));
  const nodeCPU = createNodeCPU();
  const forget = (files: CgroupFiles): void => {
    for (const file of pathsOf(files)) reported.delete(file);
    for (const directory of files.directories) tree.release(directory);
  };
  const list = createPodList({ tree, layout, forget });
  const sharedCPUs = createSharedCPUs({
    cores,
    read: () => {
      const files = sharingContainer(list.pods.values())?.files;
      return files && readOrReport(files.cpuset, () => readCPUs(tree, files));
    },
  });
  return {
    layout,
    sample(at, managed, { unsettled = [], everyMs = 250 } = {}) {
      const context: SampleContext = { tree, cores, pressure, onMalformed, at };
      // First, so that it belongs to the time `at`.
      const usedMs = pressure
        ? readOrReport("the root's usage", () => readNodeUsage(tree, layout))
        : undefined;
      list.refresh(at, managed);
      for (const id of unsettled) {
        const container = list.container(id);
        if (container !== undefined) refreshQuota(container, context);
      }
      for (const pod of [...list.pods.values()]) {
        const isManagedPod = isManaged(pod, managed);
        const { sampledAt = -Infinity } = pod;
        const usualMs = ON_TIME * (isManagedPod ? everyMs : unmanagedMs);
        const waitMs = pod.nearLimit ? SHORTEST_INTERVAL_MS : usualMs;
        if (at >= sampledAt && at - sampledAt < waitMs) continue;
        if (!readPod(pod, { ...context, managed: isManagedPod })) list.relist(pod, at);
      }
      const pods = [...list.pods.values()];
      const { held: unmanaged, yielding } = unmanagedCPU(pods, { managed, cores });
      const containers = newestSamples(pods);
      const usage = managed.values().reduce((sum, id) => sum + (containers.get(id)?.usage ?? 0), 0);
      const cpu = { at, usedMs, managed: usage, yielding };
      const node = pressure ? nodeCPU({ ...cpu, cores: sharedCPUs(at) }) : undefined;
      return { containers, unmanaged, ...(node && { node }) };
    },
    pods: () => [...list.pods.values()],
    pressure() {
      if (layout.version === 1) return undefined;
      const pods = [...list.pods.values()].flatMap(({ uid, cgroup }) => {
        const read = cgroup && pressureIn(cgroup.files.pressure);
        return read === undefined ? [] : [[uid, read] as const];
      });
      const node = pressureIn(joinPath(layout.cpu, "cpu.pressure"));
      return { pods: new Map(pods), ...(node === undefined ? {} : { node }) };
    },
    close: () => tree.release(""),
  };
}

/** A container of a Burstable or BestEffort pod: a static CPU manager gives it no exclusive CPUs. */
function sharingContainer(pods: Iterable<PodState>): ContainerCgroupState | undefined {
  for (const { directory = "", containers } of pods) {
    const isShared = directory.includes("burstable") || directory.includes("besteffort");
    const [first] = isShared ? containers.values() : [];
    if (first !== undefined) return first;
  }
  return undefined;
}

function newestSamples(pods: Iterable<PodState>): Map<string, ContainerSample> {
  const samples = new Map<string, ContainerSample>();
  for (const { containers } of pods) {
    for (const { id, sample } of containers.values()) {
      if (sample !== undefined) samples.set(id, sample);
    }
  }
  return samples;
}

function pathsOf(files: CgroupFiles): string[] {
  const { stat, usage, quota, period, pressure, weight, threads, cpuset } = files;
  return [stat, usage, quota, period, pressure, weight, threads, cpuset];
}

/** The path of the file that the error names: a parser only knows the file's name. */
function malformedFile({ message }: SyntaxError, files: CgroupFiles): string {
  const isNamed = (path: string): boolean =>
    message.startsWith(`Cannot parse ${path.replace(/^.*\//, "")}:`);
  return pathsOf(files).find(isNamed) ?? files.stat;
}
