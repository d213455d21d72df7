/**
 * A stand-in for the kubelets of nodes without machines: pods that are bound there are Running and
 * Ready a moment later, and those that are deleted end at once. No container ever starts.
 *
 * @module
 */
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import { listWatchOf } from "../../../../adapters/kube/client/list_watch.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { Clock } from "../../../../shared/clock.ts";
import { createBackoff } from "../../../../shared/control/backoff.ts";
import { createInformer } from "../../../../shared/control/informer.ts";
import { runReconcileLoop } from "../../../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../../../shared/control/work_queue.ts";
import { silentLog } from "../../../../shared/log.ts";
import { parseStandInPod, runningStatus, type StandInPod, standInStep } from "./stand_in_pod.ts";

/** What it works with. */
export interface StandInKubeletOptions {
  /** Does a kubelet live on this node, and is it ours? */
  readonly lives: (nodeName: string) => boolean;
  readonly clock: Clock;
}

/** Pods at a time: as many as kubelets of several nodes would start at once. */
const WORKERS = 16;

/** Runs until `signal` is aborted. */
export async function runStandInKubelet(
  connection: KubeConnection,
  { lives, clock }: StandInKubeletOptions,
  signal: AbortSignal,
): Promise<void> {
  const source = listWatchOf({ groupVersion: "v1", resource: "pods", parse: parseStandInPod })(
    connection,
  );
  const random = { next: () => 0.5 };
  const pods = createInformer({ source, clock, random, log: silentLog, name: "Pod" });
  const queue = createWorkQueue(clock);

  async function look(key: string): Promise<Record<string, never>> {
    const pod = pods.get(key);
    if (pod === undefined || !lives(pod.nodeName)) return {};
    const step = standInStep(pod);
    if (step === "nothing") return {};
    try {
      await (step === "end" ? end(connection, pod) : start(connection, pod, clock));
    } catch (error) {
      // It is another one by now, or none: the watch reports.
      if (!(error instanceof ApiError && [404, 409].includes(error.status))) throw error;
    }
    return {};
  }

  const unsubscribe = pods.subscribe((key) => queue.add(key));
  try {
    const backoff = createBackoff({ minMs: 200, maxMs: 2000 });
    await Promise.all([
      pods.run(signal),
      runReconcileLoop(
        { queue, reconcile: look, backoff, clock, log: silentLog, workers: WORKERS },
        signal,
      ),
    ]);
  } finally {
    unsubscribe();
  }
}

async function start(
  connection: KubeConnection,
  pod: StandInPod,
  clock: Pick<Clock, "wall">,
): Promise<void> {
  const { uid } = pod.metadata;
  await connection.request({
    method: "PATCH",
    path: `${pathOf(pod)}/status`,
    // Conditions are merged by their types: the scheduler has written one.
    contentType: "application/strategic-merge-patch+json",
    body: { metadata: { uid }, status: runningStatus(pod, clock.wall()) },
  });
}

async function end(connection: KubeConnection, pod: StandInPod): Promise<void> {
  const { uid } = pod.metadata;
  const body = { gracePeriodSeconds: 0, preconditions: { uid } };
  await connection.request({ method: "DELETE", path: pathOf(pod), body });
}

function pathOf({ metadata: { namespace, name } }: StandInPod): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
