/**
 * How many replicas the autoscaler asks for, looked at every five seconds.
 *
 * @module
 */
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { numberOf, objectOf } from "../../adapters/kube/client/json_fields.ts";
import { quantile } from "../../simulation/quantile.ts";
import { atTimes } from "./at_times.ts";
import { SCALED } from "./crowd.ts";

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

const EVERY_S = 5;

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

/** Median of what was wanted over the last half of the run. */
export function lateMedian(samples: readonly ReplicaSample[]): number {
  const half = (samples.at(-1)?.atS ?? 0) / 2;
  return quantile(samples.filter(({ atS }) => atS >= half).map(({ wanted }) => wanted), 0.5);
}
