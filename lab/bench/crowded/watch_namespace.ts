/**
 * Quotas, bounds and replicas of a namespace, watched during a run.
 *
 * @module
 */
import { allocationsPath } from "../../../adapters/kube/kinds/allocations.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, numberOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import type { Tally } from "./write_account.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import { NEVER_READY, type Place, SCALED } from "./crowd.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";

/** Where and for how long. */
export interface BoundsWatch {
  readonly connection: KubeConnection;
  readonly namespaces: readonly string[];
  /** ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
}

const EVERY_S = 5;

/** Looks until the time is over. Each reason of `status.bounds.rules`, with its pods. */
export async function watchBounds(
  { connection, namespaces, startMs, seconds }: BoundsWatch,
): Promise<Tally[]> {
  const seen = new Map<string, Set<string>>();
  for await (const _atS of atTimes({ startMs, seconds, everyS: EVERY_S })) {
    for (const namespace of namespaces) {
      noteRules(seen, await connection.request({ path: allocationsPath(namespace) }));
    }
  }
  return [...seen].map(([what, pods]) => ({ what, count: pods.size }))
    .sort((a, b) => b.count - a.count);
}

/** Adds what a list of allocations says: to each reason the UIDs of its pods. */
export function noteRules(seen: Map<string, Set<string>>, list: unknown): void {
  for (const { spec, status } of listOf(objectOf(list).items).map(objectOf)) {
    const pod = textOf(objectOf(spec).podUID) ?? "";
    for (const rule of listOf(objectOf(objectOf(status).bounds).rules).map(objectOf)) {
      const reason = textOf(rule.reason);
      if (reason === undefined) continue;
      const pods = seen.get(reason) ?? new Set();
      seen.set(reason, pods.add(pod));
    }
  }
}

/** A namespace's quota at a moment. Millicores. */
export interface QuotaSample {
  readonly place: Place;
  readonly atS: number;
  /** Limits of all pods that have not ended, terminating ones too. */
  readonly limits: number;
  /** `status.used` of limits and requests. */
  readonly used: number;
  readonly usedRequests: number;
  /** `status.hard` of both. */
  readonly hard: number;
  readonly hardRequests: number;
}

/** What was seen. */
export interface QuotaRecord {
  readonly samples: readonly QuotaSample[];
  /** The limit of the pod that is never Ready, one a second. */
  readonly neverReady: readonly number[];
}

/** Where and for how long. */
export interface QuotaWatch {
  readonly connection: KubeConnection;
  readonly namespaces: Readonly<Record<Place, string>>;
  /** ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
}

/** One look a second, both ends included. A look that fails ends the run: none may be missing. */
export async function watchQuotas(
  { connection, namespaces, startMs, seconds }: QuotaWatch,
): Promise<QuotaRecord> {
  const samples: QuotaSample[] = [];
  const neverReady: number[] = [];
  for await (const atS of atTimes({ startMs, seconds, everyS: 1 })) {
    const [pods, quotas] = await Promise.all([
      itemsOf(connection, "/api/v1/pods"),
      itemsOf(connection, "/api/v1/resourcequotas"),
    ]);
    const parsed = pods.map(parsePod);
    for (const [place, namespace] of Object.entries(namespaces) as [Place, string][]) {
      const here = parsed.filter(({ metadata }) => metadata.namespace === namespace);
      const quota = quotas.find((each) =>
        objectOf(objectOf(each).metadata)["namespace"] === namespace
      );
      samples.push({ place, atS, limits: sumOfLimits(here), ...countedBy(quota) });
    }
    const unready = parsed.find(({ metadata }) =>
      metadata.namespace === namespaces.lab && metadata.name === NEVER_READY
    );
    if (unready !== undefined) neverReady.push(sumOfLimits([unready]));
  }
  return { samples, neverReady };
}

async function itemsOf(connection: KubeConnection, path: string): Promise<readonly unknown[]> {
  return listOf(objectOf(await connection.request({ path }))["items"]);
}

function sumOfLimits(pods: readonly Pod[]): number {
  return pods.filter(({ phase }) => phase !== "Succeeded" && phase !== "Failed")
    .flatMap(({ containers }) => containers)
    .reduce((sum, { limits: { cpu: limitCPU = 0 } }) => sum + limitCPU, 0);
}

function countedBy(quota: unknown): Omit<QuotaSample, "place" | "atS" | "limits"> {
  const { hard, used } = objectOf(objectOf(quota).status);
  const cpu = (list: unknown, name: string): number =>
    parseCPU(textOf(objectOf(list)[name]) ?? "0");
  return {
    used: cpu(used, "limits.cpu"),
    usedRequests: cpu(used, "requests.cpu"),
    hard: cpu(hard, "limits.cpu"),
    hardRequests: cpu(hard, "requests.cpu"),
  };
}

/** A limit that was lowered, and when. */
export interface Lowering {
  readonly atS: number;
  readonly from: number;
  readonly to: number;
}

/** Where a limit falls, in a list with one entry per `stepS`. */
export function lowerings(limits: ArrayLike<number>, stepS: number): Lowering[] {
  return Array.from(limits).flatMap((to, index): Lowering[] => {
    const from = limits[index - 1] ?? to;
    return to < from - 0.5 ? [{ atS: index * stepS, from, to }] : [];
  });
}

/** The scaled service at a moment. */
export interface ReplicaSample {
  readonly atS: number;
  /** What the autoscaler has set. */
  readonly wanted: number;
  readonly ready: number;
}

/** Where and for how long. */
export interface ReplicaWatch {
  readonly connection: KubeConnection;
  readonly namespace: string;
  /** ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
}

/** Looks until the time is over. */
export async function watchReplicas(
  { connection, namespace, startMs, seconds }: ReplicaWatch,
): Promise<ReplicaSample[]> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${SCALED}`;
  const samples: ReplicaSample[] = [];
  for await (const atS of atTimes({ startMs, seconds, everyS: EVERY_S })) {
    const { spec, status } = objectOf(await connection.request({ path }));
    const wanted = numberOf(objectOf(spec).replicas) ?? 0;
    samples.push({ atS, wanted, ready: numberOf(objectOf(status).readyReplicas) ?? 0 });
  }
  return samples;
}

/** Waits for each moment, the first and the last second included, and gives its second. */
async function* atTimes({ startMs, seconds, everyS }: {
  readonly startMs: number;
  readonly seconds: number;
  readonly everyS: number;
}): AsyncGenerator<number> {
  for (let atS = 0; atS <= seconds; atS += everyS) {
    await pause(Math.max(0, startMs + 1000 * atS - Date.now()));
    yield atS;
  }
}
