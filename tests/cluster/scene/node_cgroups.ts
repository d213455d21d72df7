/**
 * Limits that the kernel enforces on this machine: the quotas in the cgroups of a pod. Independent of
 * the agent's own reading, so that a test does not ask the code under test.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";

/** CFS limits in millicores; undefined where there is no quota. */
export interface EnforcedLimits {
  readonly pod: number | undefined;
  readonly containers: ReadonlyMap<string, number | undefined>;
}

/** Throttled time and usage of a cgroup since its start, ms. */
interface CPUAccount {
  readonly throttledMs: number;
  readonly usageMs: number;
}

const ROOT = "/sys/fs/cgroup";
/** kubepods, QoS level, pod, container; and what a nested node puts above. */
const DEEPEST = 8;

/** Directories of one container and of its pod, for reading again and again. */
export interface PodDirectories {
  readonly version: 1 | 2;
  readonly pod: string;
  readonly containers: ReadonlyMap<string, string>;
}

/** Finds a pod's cgroups on this machine. Throws an `Error` when they are not here. */
export function podDirectories({ metadata, containers }: Pod): PodDirectories {
  const version = exists(`${ROOT}/cpu/cpu.shares`) ? 1 : 2;
  const names = [metadata.uid, metadata.uid.replaceAll("-", "_")];
  const pod = find(
    version === 1 ? `${ROOT}/cpu` : ROOT,
    (name) => names.some((uid) => name.includes(uid)),
  );
  if (pod === undefined) {
    throw new Error(
      `Cannot find the cgroup of pod ${metadata.name} (${metadata.uid}) under ${ROOT}`,
    );
  }
  const children = [...Deno.readDirSync(pod)].filter(({ isDirectory }) => isDirectory);
  const entries = containers.flatMap(({ name, containerID = "" }) => {
    const hex = containerID.replace(/^.*:\/\//, "");
    const child = children.find((entry) => hex !== "" && entry.name.includes(hex));
    return child === undefined ? [] : [[name, `${pod}/${child.name}`] as const];
  });
  return { version, pod, containers: new Map(entries) };
}

/** Process 1 of a container of a pod, as this machine numbers it. Throws an `Error` without one. */
export function processOne(pod: Pod, container: string): number {
  const directory = podDirectories(pod).containers.get(container) ?? "";
  const pids = Deno.readTextFileSync(`${directory}/cgroup.procs`).trim().split("\n").map(Number);
  const first = pids.find((pid) =>
    /^NSpid:.*\s1$/m.test(Deno.readTextFileSync(`/proc/${pid}/status`))
  );
  if (first !== undefined) return first;
  throw new Error(`Cannot find process 1 of ${pod.metadata.name}/${container} here`);
}

export function enforcedLimits({ version, pod, containers }: PodDirectories): EnforcedLimits {
  const limit = (directory: string): number | undefined => quotaOf(directory, version);
  return {
    pod: limit(pod),
    containers: new Map([...containers].map(([name, directory]) => [name, limit(directory)])),
  };
}

/** The CPU requests that the kernel's weights of the pod and its containers stand for. */
export function weighedRequests(
  { version, pod, containers }: PodDirectories,
): { readonly pod: number; readonly containers: ReadonlyMap<string, number> } {
  const request = (directory: string): number => requestOf(directory, version);
  return {
    pod: request(pod),
    containers: new Map([...containers].map(([name, directory]) => [name, request(directory)])),
  };
}

/**
 * Millicores of a cgroup's weight: the kubelet makes 1024 shares of a CPU. Exact to 1 m, in version 2
 * to 26 m; a runtime that maps shares to weights along a curve is not known here.
 */
function requestOf(directory: string, version: 1 | 2): number {
  const shares = version === 1
    ? Number(read(`${directory}/cpu.shares`))
    : 2 + (Number(read(`${directory}/cpu.weight`)) - 1) * 262_142 / 9999;
  return Math.ceil(shares * 1000 / 1024);
}

/** Pod and containers count the same pauses when their counts are this close. */
const SAME_PAUSES = 0.05;

/**
 * The accounts of pod and containers: the throttling of the level that counts it, or of both summed
 * where each counts its own.
 */
export function cpuAccount({ version, pod, containers }: PodDirectories): CPUAccount {
  const outside = levelCounters(pod, version);
  const inside = [...containers.values()].reduce(
    (sum, directory) => sum + levelCounters(directory, version).throttledMs,
    0,
  );
  const larger = Math.max(outside.throttledMs, inside);
  const same = Math.abs(outside.throttledMs - inside) <= SAME_PAUSES * larger;
  return {
    throttledMs: same ? larger : outside.throttledMs + inside,
    usageMs: outside.usageMs,
  };
}

/** Reads the counters of a directory, in version 1 one of the `cpu` tree. */
function levelCounters(directory: string, version: 1 | 2): CPUAccount {
  const stat = new Map(
    read(`${directory}/cpu.stat`).split("\n").map((line) => {
      const [key = "", value = "0"] = line.split(" ");
      return [key, Number(value)];
    }),
  );
  const ms = (key: string, perMs: number): number => (stat.get(key) ?? 0) / perMs;
  return {
    usageMs: version === 1
      ? Number(read(`${directory.replace("/cpu/", "/cpuacct/")}/cpuacct.usage`)) / 1e6
      : ms("usage_usec", 1e3),
    throttledMs: version === 1 ? ms("throttled_time", 1e6) : ms("throttled_usec", 1e3),
  };
}

/** Millicores of a cgroup's quota; undefined without one. */
export function quotaOf(directory: string, version: 1 | 2): number | undefined {
  const [quota, period] = version === 1
    ? [read(`${directory}/cpu.cfs_quota_us`), read(`${directory}/cpu.cfs_period_us`)]
    : read(`${directory}/cpu.max`).split(" ");
  if (quota === undefined || quota === "max" || Number(quota) < 0) return undefined;
  return 1000 * Number(quota) / Number(period);
}

function read(file: string): string {
  return Deno.readTextFileSync(file).trim();
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function find(directory: string, wanted: (name: string) => boolean, depth = 0): string | undefined {
  if (depth > DEEPEST) return undefined;
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (!isDirectory) continue;
    const path = `${directory}/${name}`;
    const found = wanted(name) ? path : find(path, wanted, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
