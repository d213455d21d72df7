/**
 * A kubelet in virtual time: it starts the pods of its node, enforces their limits as quotas of the
 * runtime, and reports what is in force. Level-based: a kubelet that begins anew takes over the
 * pods that run, as their status describes them.
 *
 * @module
 */
import type { Pod, ResizeCondition } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff } from "../../shared/control/backoff.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import { type ReconcileResult, runReconcileLoop } from "../../shared/control/reconcile_loop.ts";
import { createSupervisor } from "../../shared/control/supervisor.ts";
import { createWorkQueue, type WorkQueue } from "../../shared/control/work_queue.ts";
import type { Log } from "../../shared/log.ts";
import { type Random, randomHex } from "../../shared/random.ts";
import type { KubeletLink, PodReport } from "./api/api_writers.ts";
import { LEAST_CPU } from "../../shared/market/clearing_round.ts";

/** The runtime of the containers. Container ids are hex, without a scheme; CPU in millicores. */
export interface ContainerRuntime {
  setContainerQuota(containerID: string, millicores: number): void;
  /** Undefined: no quota at pod level. */
  setPodQuota(podUID: string, millicores: number | undefined): void;
  /** The request of a running container is another one, and so its weight and its pod's. */
  setContainerRequest?(containerID: string, millicores: number): void;
  /** A pod starts; its containers carry their ids. Not called for pods that were taken over. */
  startPod?(pod: Pod): void;
  /** A pod has ended. */
  stopPod?(podUID: string): void;
  /** A container was restarted under a new id. Its quota is set next. */
  replaceContainer?(oldID: string, newID: string): void;
  /** Id of a running container of a pod that is taken over. @default {the id in the pod's status} */
  containerID?(podUID: string, name: string): string | undefined;
}

/** Connections and delays of a kubelet. */
export interface KubeletOptions {
  readonly link: KubeletLink;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  /** Draws container ids and delays. */
  readonly random: Random;
  readonly log: Log;
  /**
   * CPU that the node has for pods, millicores: a resize of a pod with requests that don't fit beside
   * those of the others is deferred until they do. @default {Infinity}
   */
  readonly allocatableCPU?: number;
}

const WORKERS = 16;
/** From seeing new limits to the quota, ms: a real kubelet took 0.10 to 0.32 s from the patch. */
const RESIZE_DELAY_MS = 300;
/** From seeing a pod to its start, and from its termination to its end, ms. */
const START_DELAY_MS = 1000;
const JITTER = 0.2;
/** A deferred resize is tried again after this, ms, and when another pod has changed or gone. */
const RETRY_MS = 30_000;

/** The kubelet of one node; it knows no pod yet. */
export class Kubelet {
  readonly #options: Required<KubeletOptions>;
  readonly #queue: WorkQueue;
  readonly #locals = new Map<string, LocalPod>();
  readonly #refusals = new Map<string, ResizeCondition>();
  readonly #deferred = new Set<string>();

  constructor(options: KubeletOptions) {
    this.#options = { allocatableCPU: Infinity, ...options };
    this.#queue = createWorkQueue(options.clock);
  }

  /** Works until `signal` is aborted; may be called again after that. */
  async run(signal: AbortSignal): Promise<void> {
    const { link, clock, random, log } = this.#options;
    const queue = this.#queue;
    const pods = createInformer({ source: link.pods, clock, random, log, name: "pods" });
    const dismiss = pods.subscribe((key) => queue.add(key));
    const supervisor = createSupervisor({ clock, log });
    const stop = (): void => supervisor.stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    supervisor.supervise("pods", pods.run(supervisor.signal));
    supervisor.supervise("known pods", this.#lookAtKnown(pods, supervisor.signal));
    supervisor.supervise(
      "reconcile",
      runReconcileLoop({
        queue,
        reconcile: (key) => this.#reconcile(key, pods.get(key)),
        backoff: createBackoff({ maxMs: 30_000 }),
        clock,
        log,
        workers: WORKERS,
      }, supervisor.signal),
    );
    await supervisor.done().finally(() => {
      dismiss();
      signal.removeEventListener("abort", stop);
    });
  }

  /** Restarts a container: it comes back under a new id. Pods are named `namespace/name`. */
  restartContainer(podKey: string, containerName: string): void {
    this.#locals.get(podKey)?.restarts.add(containerName);
    this.#queue.add(podKey);
  }

  /** Refuses (`Deferred`, `Infeasible`) the pod's resizes with this condition, until called without. */
  refuseResizes(podKey: string, condition?: ResizeCondition): void {
    if (condition === undefined) this.#refusals.delete(podKey);
    else this.#refusals.set(podKey, condition);
    this.#queue.add(podKey);
  }

  /** Pods that were deleted without a watch are noticed once the cache is complete. */
  async #lookAtKnown(pods: Informer<Pod>, signal: AbortSignal): Promise<void> {
    if (!await pods.whenSynced(signal)) return;
    for (const key of this.#locals.keys()) this.#queue.add(key);
  }

  async #reconcile(key: string, pod: Pod | undefined): Promise<ReconcileResult> {
    const { link, runtime } = this.#options;
    const known = this.#locals.get(key);
    if (known !== undefined && known.uid !== pod?.metadata.uid) this.#drop(key, known);
    if (pod === undefined || pod.phase === "Succeeded" || pod.phase === "Failed") return {};
    const local = this.#locals.get(key) ?? adoptPod(pod, runtime);
    this.#locals.set(key, local);

    if (pod.metadata.terminating) {
      const waitMs = this.#remainingMs(local, START_DELAY_MS);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      this.#drop(key, local);
      await link.remove(pod);
      return {};
    }
    if (local.containers.size === 0) {
      const waitMs = this.#remainingMs(local, START_DELAY_MS);
      if (waitMs > 0) return { requeueAfterMs: waitMs };
      this.#start(pod, local);
    }
    this.#restart(local);
    let waitMs = 0;
    const hold = this.#holdOf(key, pod, local);
    if (hold !== undefined) {
      local.dueMs = undefined;
      this.#deferred.add(key);
      waitMs = RETRY_MS;
    } else if (differs(pod, local)) {
      waitMs = this.#remainingMs(local, RESIZE_DELAY_MS);
      if (waitMs === 0) {
        resizeLocal(pod, local, runtime);
        this.#retryDeferred();
      }
    } else local.dueMs = undefined;
    const status = reportOf(local, hold === undefined ? [] : [hold]);
    const text = JSON.stringify(status);
    if (text !== local.reported) {
      await link.report(pod, status);
      local.reported = text;
    }
    return waitMs > 0 ? { requeueAfterMs: waitMs } : {};
  }

  /** Time that is left before what is prepared may happen; 0 once, when it may. */
  #remainingMs(local: LocalPod, delayMs: number): number {
    const { clock, random } = this.#options;
    local.dueMs ??= clock.monotonic() + delayMs * (1 + JITTER * (2 * random.next() - 1));
    const leftMs = local.dueMs - clock.monotonic();
    if (leftMs > 0) return leftMs;
    local.dueMs = undefined;
    return 0;
  }

  #drop(key: string, local: LocalPod): void {
    this.#locals.delete(key);
    if (local.containers.size > 0) this.#options.runtime.stopPod?.(local.uid);
    this.#retryDeferred();
  }

  #retryDeferred(): void {
    for (const key of this.#deferred) this.#queue.add(key);
    this.#deferred.clear();
  }

  /** Why the pod's resize can't be done now; undefined when it can. */
  #holdOf(key: string, pod: Pod, local: LocalPod): ResizeCondition | undefined {
    if (!differs(pod, local)) return undefined;
    const others = [...this.#locals.values()].filter((one) => one !== local);
    const { allocatableCPU } = this.#options;
    return this.#refusals.get(key) ?? misfit(pod, { others, allocatableCPU });
  }

  #start(pod: Pod, local: LocalPod): void {
    const { runtime, random } = this.#options;
    for (const { name, requests } of pod.containers) {
      const id = randomHex(random, 64);
      local.containers.set(name, { id, limit: undefined, request: requests.cpu });
    }
    const containers = pod.containers.map((container) => ({
      ...container,
      containerID: SCHEME + local.containers.get(container.name)?.id,
    }));
    runtime.startPod?.({ ...pod, phase: "Running", containers });
    resizeLocal(pod, local, runtime);
  }

  #restart({ containers, restarts }: LocalPod): void {
    const { runtime, random } = this.#options;
    for (const name of restarts) {
      const container = containers.get(name);
      if (container === undefined) break;
      const newID = randomHex(random, 64);
      runtime.replaceContainer?.(container.id, newID);
      container.id = newID;
      const { limit } = container;
      if (limit !== undefined) runtime.setContainerQuota(newID, containerQuota(limit));
    }
    restarts.clear();
  }
}

/** Puts the requests and limits of the pod's spec into force. */
function resizeLocal(
  { containers }: Pod,
  { uid, containers: locals }: LocalPod,
  runtime: ContainerRuntime,
): void {
  for (const { name, requests } of containers) {
    const local = locals.get(name);
    if (local === undefined || requests.cpu === undefined || local.request === requests.cpu) {
      continue;
    }
    local.request = requests.cpu;
    runtime.setContainerRequest?.(local.id, requests.cpu);
  }
  const steps = quotaSteps(containers.flatMap(({ name, limits }) => {
    const local = locals.get(name);
    if (local === undefined) return [];
    const from = local.limit;
    local.limit = limits.cpu ?? from;
    return [{ containerID: local.id, from, to: local.limit }];
  }));
  for (const step of steps) {
    if ("pod" in step) runtime.setPodQuota(uid, step.millicores);
    else runtime.setContainerQuota(step.containerID, step.millicores);
  }
}

/** A container that runs. */
export interface LocalContainer {
  /** Hex id. */
  id: string;
  /** The limit with a quota that is set, millicores. */
  limit: number | undefined;
  /** The request with a weight that is set, millicores. */
  request: number | undefined;
}

/** A pod on the kubelet's node. */
export interface LocalPod {
  readonly uid: string;
  /** By name; empty until the pod was started. */
  readonly containers: Map<string, LocalContainer>;
  /** Names of containers that are to be restarted. */
  readonly restarts: Set<string>;
  /** When what is being prepared happens, ms of the monotonic clock. */
  dueMs: number | undefined;
  /** The last report that reached the API, as JSON. */
  reported: string;
}

const SCHEME = "containerd://";

/** A pod as the kubelet sees it first; one that runs already is taken over as its status says. */
function adoptPod(
  { phase, metadata: { uid }, containers }: Pod,
  runtime: ContainerRuntime,
): LocalPod {
  const locals = new Map<string, LocalContainer>();
  for (const { name, containerID, applied, requests } of phase === "Running" ? containers : []) {
    if (containerID === undefined) continue;
    const id = runtime.containerID?.(uid, name) ?? containerID.slice(SCHEME.length);
    const request = applied.requests.cpu ?? requests.cpu;
    locals.set(name, { id, limit: applied.limits.cpu, request });
  }
  return { uid, containers: locals, restarts: new Set(), dueMs: undefined, reported: "" };
}

/** Whether a container's limit or request is not the one in the pod's spec. */
function differs(pod: Pod, { containers }: LocalPod): boolean {
  return pod.containers.some(({ name, limits, requests }) => {
    const local = containers.get(name);
    return (limits.cpu !== undefined && limits.cpu !== local?.limit) ||
      (requests.cpu !== undefined && requests.cpu !== local?.request);
  });
}

/**
 * Why the pod as its spec has it does not fit on the node beside the others: what a kubelet says of a
 * resize then. Undefined when it fits. Source: the kubelet's `InsufficientResourceError`.
 */
export function misfit(
  pod: Pod,
  { others, allocatableCPU }: {
    readonly others: Iterable<LocalPod>;
    /** Millicores. */
    readonly allocatableCPU: number;
  },
): ResizeCondition | undefined {
  const requested = pod.containers.reduce((sum, { requests: { cpu = 0 } }) => sum + cpu, 0);
  let used = 0;
  for (const { containers } of others) {
    for (const { request = 0 } of containers.values()) used += request;
  }
  if (requested + used <= allocatableCPU) return undefined;
  const message =
    `Node didn't have enough resource: cpu, requested: ${requested}, used: ${used}, ` +
    `capacity: ${allocatableCPU}`;
  return { type: "PodResizePending", reason: "Deferred", message };
}

/** The kubelet's status of a running pod. */
function reportOf(local: LocalPod, conditions: readonly ResizeCondition[]): PodReport {
  return {
    phase: "Running",
    ready: true,
    resizeConditions: conditions,
    containers: [...local.containers].map(([name, { id, limit, request }]) => ({
      name,
      containerID: SCHEME + id,
      ready: true,
      applied: {
        requests: request === undefined ? {} : { cpu: request },
        limits: limit === undefined ? {} : { cpu: limit },
      },
    })),
  };
}

/** A container's limit before and after, millicores; absent: no limit. */
export interface LimitStep {
  /** Hex id. */
  readonly containerID: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** One write of a quota, millicores. */
export type QuotaStep =
  | { readonly containerID: string; readonly millicores: number }
  | { readonly pod: true; readonly millicores: number | undefined };

/** The quota of a limit, millicores: a kubelet sets at least 1 ms of a period of 100 ms. */
export function containerQuota(limit: number): number {
  return Math.max(LEAST_CPU, limit);
}

/** Quota of the pod level, millicores: the sum where all containers have a limit, else none. */
export function podQuota(limits: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const limit of limits) {
    if (limit === undefined) return undefined;
    sum += containerQuota(limit);
  }
  return sum;
}

/**
 * The writes that lead from one set of limits to another. `containers` holds all containers of the
 * pod. The pod level is raised first and lowered last, and containers are lowered before others are
 * raised, so the containers' quotas never add up to more than the pod's. Source: the kubelet's
 * `doPodResizeAction`.
 */
export function quotaSteps(containers: readonly LimitStep[]): readonly QuotaStep[] {
  const before = podQuota(containers.map(({ from }) => from)) ?? Infinity;
  const to = podQuota(containers.map((container) => container.to));
  const after = to ?? Infinity;
  const change = ({ from, to: next }: LimitStep): number => (next ?? Infinity) - (from ?? Infinity);
  const own: QuotaStep[] = containers
    .filter((container) => container.to !== undefined && container.to !== container.from)
    .sort((a, b) => Number(change(a) > 0) - Number(change(b) > 0))
    .map(({ containerID, to: limit }) => ({ containerID, millicores: containerQuota(limit ?? 0) }));
  if (after === before) return own;
  const pod: QuotaStep = { pod: true, millicores: to };
  return after > before ? [pod, ...own] : [...own, pod];
}
