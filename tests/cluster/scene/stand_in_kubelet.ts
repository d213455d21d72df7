/**
 * A stand-in for the kubelets of nodes without machines: pods that are bound there are Running and
 * Ready a moment later, and those that are deleted end at once. No container ever starts.
 *
 * @module
 */
import { type KubeConnection, patchRequest } from "../../../adapters/kube/client/connection.ts";
import { listWatchOf } from "../../../adapters/kube/client/list_watch.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { runReconcileLoop } from "../../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../../shared/control/work_queue.ts";
import { silentLog } from "../../../shared/log.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseNamespacedIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import type { ApiObject } from "../../../shared/api/object.ts";

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
  await connection.request(patchRequest("strategic", {
    path: `${pathOf(pod)}/status`,
    // Conditions are merged by their types: the scheduler has written one.
    body: { metadata: { uid }, status: runningStatus(pod, clock.wall()) },
  }));
}

async function end(connection: KubeConnection, pod: StandInPod): Promise<void> {
  const { uid } = pod.metadata;
  const body = { gracePeriodSeconds: 0, preconditions: { uid } };
  await connection.request({ method: "DELETE", path: pathOf(pod), body });
}

function pathOf({ metadata: { namespace, name } }: StandInPod): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** The pod. */
export interface StandInPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly namespace: string };
  /** Empty until it is bound. */
  readonly nodeName: string;
  readonly terminating: boolean;
  /** True once it was reported as running. */
  readonly running: boolean;
  /** Names and images of its containers. */
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** `start`: it runs from now on; `end`: it has ended, and its object goes. */
export type StandInStep = "start" | "end" | "nothing";

/** What is needed of a pod. Throws a `TypeError` without identity. */
export function parseStandInPod(raw: unknown): StandInPod {
  const { metadata, spec, status } = objectOf(raw);
  const { containers, nodeName } = objectOf(spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    nodeName: textOf(nodeName) ?? "",
    terminating: objectOf(metadata).deletionTimestamp !== undefined,
    running: objectOf(status).phase === "Running",
    containers: listOf(containers).map(objectOf).map(({ name, image }) => ({
      name: textOf(name) ?? "",
      image: textOf(image) ?? "",
    })),
  };
}

/** What a kubelet does when nothing ever goes wrong and nothing takes time. */
export function standInStep({ nodeName, terminating, running }: StandInPod): StandInStep {
  if (nodeName === "") return "nothing";
  if (terminating) return "end";
  return running ? "nothing" : "start";
}

/** What a kubelet would say of the pod that runs since `atMs`, ms since 1970. */
export function runningStatus({ containers }: StandInPod, atMs: number): object {
  const at = new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    phase: "Running",
    startTime: at,
    conditions: ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"].map(
      (type) => ({ type, status: "True", lastTransitionTime: at }),
    ),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      containerID: `pretended://${name}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
