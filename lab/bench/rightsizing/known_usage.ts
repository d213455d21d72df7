/**
 * Usage for every time, with which the stand-in of Prometheus answers. Numbers from a hash, so that
 * nothing need be kept.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";

/** How many of each there are. */
export interface ClusterSize {
  readonly workloads: number;
  /** Pods in each workload. */
  readonly pods: number;
  /** Containers in each pod. */
  readonly containers: number;
}

/** One container of one pod, by its numbers. */
export interface SeriesPlace {
  readonly workload: number;
  readonly pod: number;
  readonly container: number;
}

/** Between two scrapes, ms. */
const SCRAPE_MS = 30_000;
const WORKLOADS_A_NAMESPACE = 50;
/** The template's hash in pods' names. */
const TEMPLATE_HASH = "5d9c7f6b8";
const SAFE = "bcdfghjklm";
const MEBIBYTE = 2 ** 20;

/** Namespace of a workload. */
export function namespaceOf(workload: number): string {
  return `team-${Math.floor(workload / WORKLOADS_A_NAMESPACE)}`;
}

/** Name of a workload, a Deployment. */
export function workloadName(workload: number): string {
  return `app-${workload}`;
}

/** Name of its ReplicaSet. */
export function replicaSetName(workload: number): string {
  return `${workloadName(workload)}-${TEMPLATE_HASH}`;
}

/** Name of a pod, as Kubernetes makes them: five characters without vowels at the end. */
export function podName({ workload, pod }: Pick<SeriesPlace, "workload" | "pod">): string {
  const random = String(pod).padStart(5, "0").replace(/\d/g, (digit) => SAFE[Number(digit)] ?? "");
  return `${replicaSetName(workload)}-${random}`;
}

/** Name of a container. */
export function containerName(container: number): string {
  return `part-${container}`;
}

/**
 * The value that Prometheus has for the series at a time: 0.025 to 1.5 cores, or 51 to 512 MiB in
 * bytes, by container, with a part that moves with each scrape.
 */
export function valueAt(
  place: SeriesPlace,
  { resource, atMs }: { readonly resource: ResourceName; readonly atMs: number },
): number {
  const seed = (place.workload * 64 + place.container) * 1024 + place.pod;
  const [level, noise] = [hash(seed, -1), hash(seed, Math.floor(atMs / SCRAPE_MS))];
  return resource === "cpu"
    ? (0.05 + 0.95 * level) * (0.5 + noise)
    : Math.round(MEBIBYTE * (64 + 448 * level) * (0.8 + 0.2 * noise));
}

/** 0 to 1, by the finalizer of MurmurHash3 (Austin Appleby, in the public domain). */
function hash(seed: number, scrape: number): number {
  let bits = Math.imul(seed, 0x9e3779b1) ^ scrape;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
