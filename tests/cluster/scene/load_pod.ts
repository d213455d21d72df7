/**
 * Pods with a load that a test controls: idle until signalled, then busy for some seconds.
 *
 * @module
 */
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { productMetrics } from "./product.ts";
import type { RealNode } from "./real_node.ts";
import { until } from "./until.ts";

/** A container that can be loaded. CPU as quantities, for instance `100m`. */
export interface LoadContainer {
  readonly name: string;
  readonly request?: string;
  readonly limit?: string;
  /** Request and limit, for instance `64Mi`: what a Guaranteed pod needs beside its CPU. */
  readonly memory?: string;
  /** Busy threads of a burst. @default {1} */
  readonly threads?: number;
  readonly burstSeconds?: number;
  /** Busy from the start, without a command. @default {false} */
  readonly busy?: boolean;
  /** From the start, again and again: counts to `count`, then sleeps. A load with a known end. */
  readonly beat?: { readonly count: number; readonly sleepMs: number };
  readonly resizePolicy?: "NotRequired" | "RestartContainer";
  /** Ready once this file is there. */
  readonly readyFile?: string;
  /** Ends with an error, again and again. @default {false} */
  readonly crashes?: boolean;
}

export interface LoadPod {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly LoadContainer[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The image of loads; the harness has it, elsewhere it is pulled. */
const LOAD_IMAGE = "busybox:stable";

/** Idle; each SIGUSR1 starts a burst of busy loops that ends by itself. */
function script({ threads = 1, busy = false, burstSeconds = 20, beat }: LoadContainer): string {
  const loop = "while :; do :; done";
  const burn = (one: string): string => `for i in $(seq ${threads}); do ${one} & done`;
  return [
    `trap "${burn(`timeout ${burstSeconds} sh -c '${loop}'`).replaceAll("$", "\\$")}" USR1`,
    "trap 'exit 0' TERM",
    ...(busy ? [burn(`(${loop})`)] : []),
    ...(beat === undefined ? [] : [burn(`(${beatLoop(beat)})`)]),
    // A shell answers a signal when `wait` is interrupted, and at once.
    "sleep 2147483647 & idle=$!",
    "while :; do wait $idle; done",
  ].join("\n");
}

function beatLoop({ count, sleepMs }: NonNullable<LoadContainer["beat"]>): string {
  const work = `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); done`;
  return `while :; do ${work}; usleep ${1000 * sleepMs}; done`;
}

function containerSpec(container: LoadContainer): Record<string, unknown> {
  const { name, request, limit, memory, resizePolicy, readyFile, crashes = false } = container;
  const list = (cpu: string | undefined): Record<string, string> => ({
    ...(cpu === undefined ? {} : { cpu }),
    ...(memory === undefined ? {} : { memory }),
  });
  return {
    name,
    image: LOAD_IMAGE,
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", crashes ? "exit 1" : script(container)],
    ...(readyFile === undefined
      ? {}
      : { readinessProbe: { exec: { command: ["test", "-e", readyFile] }, periodSeconds: 2 } }),
    resources: { requests: list(request), limits: list(limit) },
    ...(resizePolicy === undefined
      ? {}
      : { resizePolicy: [{ resourceName: "cpu", restartPolicy: resizePolicy }] }),
  };
}

export function loadPod(pod: LoadPod): Record<string, unknown> {
  const { name, namespace, labels = {}, annotations = {} } = pod;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels, annotations },
    spec: podSpec(pod),
  };
}

/** A Deployment of such pods; its name is their label `app`. */
export function loadDeployment(pod: LoadPod, replicas = 1): Record<string, unknown> {
  const { name, namespace, labels = {}, annotations = {} } = pod;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: { labels: { ...labels, app: name }, annotations },
        spec: podSpec(pod),
      },
    },
  };
}

export function autoscalersPath(namespace: string): string {
  return `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
}

/** The HPA of the Deployment of the same name, for this use of CPU in percent. */
export function autoscalerOf(
  name: string,
  averageUtilization: number,
  { most }: { readonly most: number },
): Record<string, unknown> {
  const target = { type: "Utilization", averageUtilization };
  return {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      maxReplicas: most,
      metrics: [{ type: "Resource", resource: { name: "cpu", target } }],
    },
  };
}

function podSpec({ containers }: LoadPod): Record<string, unknown> {
  return { terminationGracePeriodSeconds: 0, containers: containers.map(containerSpec) };
}

/** Room for the scheduler: CPU free of requests may be less than the market's remaining capacity. */
const SCHEDULER_ROOM = 400;

/**
 * Makes a pod, idle and opted out, that leaves the market about this capacity, millicores, and waits
 * until the agent reckons with it. Leaves the node as it is where the market has no more anyway. CPU
 * that other pods hold by usage does not count: they hold less of it once this request defends CPU. The
 * requests of the product's own pods do.
 */
export async function ballast(
  node: RealNode,
  { namespace, leaves }: { readonly namespace: string; readonly leaves: number },
): Promise<void> {
  const { capacity, unmanaged, allocatable } = await nodeFigures(node);
  if (capacity < leaves + 10) return;
  const left = capacity + unmanaged - leaves - await requestedByProduct(node);
  const request = Math.min(Math.floor(left), allocatable - SCHEDULER_ROOM);
  await node.run(loadPod({
    name: "ballast",
    namespace,
    labels: { "mbcas.io/managed": "false" },
    containers: [{ name: "load", request: `${request}m`, limit: `${request}m` }],
  }));
  await until("smaller market", async () => {
    const now = await nodeFigures(node);
    if (now.capacity <= leaves + 150) return true;
    throw new Error(`its capacity is ${now.capacity} m`);
  }, { timeoutMs: 60_000, everyMs: 500 });
}

async function requestedByProduct(node: RealNode): Promise<number> {
  const pods = (await node.items("/api/v1/namespaces/mbcas-system/pods")).map(parsePod);
  return pods.flatMap(({ containers }) => containers)
    .reduce((sum, { requests }) => sum + (requests.cpu ?? 0), 0);
}

/** Figures of the node as its agent has them, millicores. */
async function nodeFigures(
  node: Pick<RealNode, "connection">,
): Promise<Readonly<Record<"allocatable" | "capacity" | "unmanaged", number>>> {
  const metrics = await productMetrics(node, "mbcas-agent");
  const of = (name: string): number => 1000 * (metrics.get(`mbcas_node_${name}_cores`) ?? NaN);
  return {
    allocatable: of("allocatable"),
    capacity: of("capacity"),
    unmanaged: of("unmanaged"),
  };
}
