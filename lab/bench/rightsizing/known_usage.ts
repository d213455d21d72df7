/**
 * Usage that is known for every time: what the stand-in of Prometheus answers with, and what
 * recommendations are checked by. Numbers from a hash, so that nothing need be kept.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";

/** How many of each there are. */
export interface ClusterSize {
  readonly workloads: number;
  /** Of each workload. */
  readonly pods: number;
  /** Of each pod. */
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
/** A scrape's counter less that before it, of those in the two minutes of a rate: four have three. */
const RATE_INTERVALS = 3;
const DAY_SCRAPES = 86_400_000 / SCRAPE_MS;
const WORKLOADS_A_NAMESPACE = 50;
/** Of pods' names. */
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
 * What Prometheus has of the series at a time: of CPU the rate over 2 min, in cores; of memory the last
 * sample, in bytes. Four scrapes lie in those 2 min, whenever they end; what their counters grew by in
 * 90 s is extrapolated to the whole, which gives the mean of the three intervals.
 */
export function valueAt(
  place: SeriesPlace,
  { resource, atMs }: { readonly resource: ResourceName; readonly atMs: number },
): number {
  const last = Math.floor(atMs / SCRAPE_MS);
  const seed = (place.workload * 64 + place.container) * 1024 + place.pod;
  if (resource === "memory") return bytes(seed, last);
  let sum = 0;
  for (let back = 0; back < RATE_INTERVALS; back++) sum += microcores(seed, last - back);
  return sum / RATE_INTERVALS / 1e6;
}

/** Used in the interval that this scrape ends: 0.05 to 1 core by container, twice that by day. */
function microcores(seed: number, scrape: number): number {
  const level = 50_000 + 950_000 * hash(seed, -1);
  const phase = (scrape % DAY_SCRAPES) / DAY_SCRAPES;
  const day = 1 - Math.abs(2 * phase - 1);
  return Math.round(level * (0.5 + day + hash(seed, scrape)));
}

/** 64 to 512 MiB by container, with a fifth that moves. */
function bytes(seed: number, scrape: number): number {
  const level = MEBIBYTE * (64 + 448 * hash(seed, -2));
  return Math.round(level * (0.8 + 0.2 * hash(seed + 7, scrape)));
}

/** 0 to 1, by the finalizer of MurmurHash3 (Austin Appleby, in the public domain). */
function hash(seed: number, scrape: number): number {
  let bits = Math.imul(seed, 0x9e3779b1) ^ scrape;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
