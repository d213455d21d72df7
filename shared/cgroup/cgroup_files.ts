/**
 * The files of one cgroup, and reading them.
 *
 * @module
 */
import {
  countCpus,
  type CPUPressure,
  parseCfsPeriod,
  parseCfsQuota,
  parseCpuacctUsage,
  parseCpuMax,
  parseCpuMaxPeriod,
  parseCpuShares,
  parseCpuStatV1,
  parseCpuStatV2,
  parseCpuWeight,
  parsePressure,
  requestOfCurvedWeight,
  requestOfLinearWeight,
  soleCounter,
} from "./kernel_text.ts";
import { type CgroupLayout, joinPath } from "./layout.ts";
import type { Reading } from "./sample.ts";
import type { CgroupTree } from "./tree.ts";

/** The paths of one cgroup's files, made once, and its directories, to release them. */
export interface CgroupFiles {
  readonly version: 1 | 2;
  readonly directories: readonly string[];
  readonly stat: string;
  /** `cpuacct.usage`; version 1 only. */
  readonly usage: string;
  readonly quota: string;
  /** `cpu.cfs_period_us`; version 1 only. */
  readonly period: string;
  /** `cpu.pressure`; version 2 only. */
  readonly pressure: string;
  readonly weight: string;
  /** `pids.current`; in version 1 under a mount of its own. */
  readonly threads: string;
  /** The CPUs that it may run on; in version 1 under a mount of its own. */
  readonly cpuset: string;
}

/** The files of a directory below the layout's mount points. */
export function cgroupFiles({ version, cpu, cpuacct }: CgroupLayout, below: string): CgroupFiles {
  const directory = joinPath(cpu, below);
  const usageDirectory = joinPath(cpuacct, below);
  return {
    version,
    directories: version === 2 ? [directory] : [
      ...new Set([
        directory,
        usageDirectory,
        joinPath("pids", below),
        joinPath("cpuset", below),
      ]),
    ],
    stat: `${directory}/cpu.stat`,
    usage: `${usageDirectory}/cpuacct.usage`,
    quota: `${directory}/${version === 1 ? "cpu.cfs_quota_us" : "cpu.max"}`,
    period: `${directory}/cpu.cfs_period_us`,
    pressure: `${directory}/cpu.pressure`,
    weight: `${directory}/${version === 1 ? "cpu.shares" : "cpu.weight"}`,
    threads: `${version === 1 ? joinPath("pids", below) : directory}/pids.current`,
    cpuset: version === 1
      ? `${joinPath("cpuset", below)}/cpuset.effective_cpus`
      : `${directory}/cpuset.cpus.effective`,
  };
}

/**
 * The counters now, at the monotonic time `at`, with PSI where that is offered and `pressure` is set;
 * undefined when the cgroup is gone. Throws a `SyntaxError` for bad text.
 */
export function readCounters(
  tree: CgroupTree,
  files: CgroupFiles,
  { at, pressure }: { readonly at: number; readonly pressure: boolean },
): Reading | undefined {
  const stat = tree.read(files.stat);
  if (stat === undefined) return undefined;
  if (files.version === 1) {
    const usageMs = readUsage(tree, files);
    return usageMs === undefined ? undefined : { at, usageMs, ...parseCpuStatV1(stat) };
  }
  const counters = { at, ...parseCpuStatV2(stat) };
  const waiting = pressure ? readPressure(tree, files.pressure) : undefined;
  return waiting === undefined ? counters : { ...counters, pressureMs: waiting.waitingMs };
}

/** PSI from a file `cpu.pressure`, or undefined where none is offered. Throws a `SyntaxError`. */
export function readPressure(tree: CgroupTree, file: string): CPUPressure | undefined {
  const text = tree.read(file);
  return text === undefined ? undefined : parsePressure(text);
}

/**
 * Version 1: milliseconds of CPU time used, or undefined when the cgroup is gone. Throws a `SyntaxError`
 * for bad text.
 */
export function readUsage(tree: CgroupTree, { usage }: CgroupFiles): number | undefined {
  const text = tree.read(usage);
  return text === undefined ? undefined : parseCpuacctUsage(text);
}

/** How many CPUs it may run on, or undefined where none are offered. Throws a `SyntaxError`. */
export function readCPUs(tree: CgroupTree, { cpuset }: CgroupFiles): number | undefined {
  const text = tree.read(cpuset);
  return text === undefined ? undefined : countCpus(text, cpuset.replace(/^.*\//, "")) || undefined;
}

/**
 * The enforcement period in milliseconds, or undefined where none is offered. Throws a
 * `SyntaxError` for bad text.
 */
export function readPeriod(tree: CgroupTree, files: CgroupFiles): number | undefined {
  const text = tree.read(files.version === 1 ? files.period : files.quota);
  if (text === undefined) return undefined;
  return files.version === 1 ? parseCfsPeriod(text) : parseCpuMaxPeriod(text);
}

/**
 * The quota now in millicores, or undefined when there is none or the cgroup is gone. Only version 1 uses
 * `periodMs`, which it has in another file. Throws a `SyntaxError` for bad text.
 */
export function readQuota(
  tree: CgroupTree,
  files: CgroupFiles,
  { periodMs }: { readonly periodMs: number },
): number | undefined {
  const quota = tree.read(files.quota);
  if (quota === undefined) return undefined;
  return files.version === 2 ? parseCpuMax(quota) : parseCfsQuota(quota, periodMs);
}

/**
 * Threads in the cgroup, or undefined where the pids controller does not count them (Linux,
 * Documentation/admin-guide/cgroup-v2.rst, "PID": tasks, so threads). Throws a `SyntaxError`.
 */
export function readThreads(tree: CgroupTree, files: CgroupFiles): number | undefined {
  const text = tree.read(files.threads);
  if (text === undefined) return undefined;
  return soleCounter(text, "pids.current");
}

/** The request by each formula for a weight: see `kernel_text.ts`. Millicores. */
export interface RequestReading {
  /** As the kubelet writes the weight of a pod. */
  readonly linear: number;
  /** As newer runtimes write the weight of a container; in version 1 the same as `linear`. */
  readonly curved: number;
}

/**
 * The request in the cgroup's weight, or undefined when it is gone. Throws a `SyntaxError` for bad
 * text.
 */
export function readRequest(tree: CgroupTree, files: CgroupFiles): RequestReading | undefined {
  const text = tree.read(files.weight);
  if (text === undefined) return undefined;
  if (files.version === 1) {
    const request = parseCpuShares(text);
    return { linear: request, curved: request };
  }
  const weight = parseCpuWeight(text);
  return { linear: requestOfLinearWeight(weight), curved: requestOfCurvedWeight(weight) };
}
