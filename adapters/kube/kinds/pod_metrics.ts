/**
 * The present usage of pods, from metrics-server.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { parseBytes, parseNanoCPU } from "../../../shared/quantity.ts";
import type { KubeConnection } from "../client/connection.ts";
import { listOf, objectOf, textOf } from "../client/json_fields.ts";
import { parseTime } from "./object_fields.ts";

/** The usage of one pod. */
export interface KubePodUsage {
  readonly namespace: string;
  readonly pod: string;
  /** When it was measured, ms since 1970, by its node's clock. */
  readonly timeMs: number;
  /** Millicores, fractions among them, and bytes. */
  readonly containers: readonly {
    readonly name: string;
    readonly cpu: number;
    readonly memory: number;
  }[];
}

/** Usage of all pods, and the number of unreadable entries; or why there is none. */
export type KubePodMetrics = {
  readonly pods: readonly KubePodUsage[];
  readonly unreadable: number;
} | {
  readonly problem: "unreachable" | "refused" | "unreadable" | "unavailable";
  /** In a sentence. */
  readonly message: string;
};

/** Reads the usage of pods. */
export interface KubePodMetricsReader {
  /** Reads all pods in one request. Never rejects; `signal` ends the wait. */
  read(signal: AbortSignal): Promise<KubePodMetrics>;
}

const PATH = "/apis/metrics.k8s.io/v1beta1/pods";

/** Reads with the rights of the connection. */
export function createPodMetrics(connection: KubeConnection): KubePodMetricsReader {
  return {
    async read(signal) {
      let raw: unknown;
      try {
        raw = await connection.request({ path: PATH, signal });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return problemOf(error);
      }
      const { kind, items } = objectOf(raw);
      if (kind !== "PodMetricsList" || !Array.isArray(items)) {
        return { problem: "unreadable", message: `${PATH}: the answer is not a PodMetricsList` };
      }
      const pods = items.map(podUsage);
      const readable = pods.filter((pod) => pod !== undefined);
      return { pods: readable, unreadable: pods.length - readable.length };
    },
  };
}

function problemOf({ status, reason, message }: ApiError): KubePodMetrics {
  if (status === 404) {
    const remedy = "metrics.k8s.io is not served: is metrics-server installed?";
    return { problem: "unavailable", message: remedy };
  }
  if (status === 503) return { problem: "unavailable", message: `metrics.k8s.io: ${message}` };
  if (status >= 400 && status < 500 && status !== 429) return { problem: "refused", message };
  return { problem: reason === "BadAnswer" ? "unreadable" : "unreachable", message };
}

/** One pod; undefined where any container can't be read: the sum would be too low. */
function podUsage(raw: unknown): KubePodUsage | undefined {
  const { metadata, timestamp, containers } = objectOf(raw);
  const { name, namespace } = objectOf(metadata);
  const [pod, where, timeMs] = [textOf(name), textOf(namespace), parseTime(timestamp)];
  if (pod === undefined || where === undefined || timeMs === undefined) return undefined;
  const usage = listOf(containers).map(containerUsage);
  return usage.every((one) => one !== undefined)
    ? { namespace: where, pod, timeMs, containers: usage }
    : undefined;
}

function containerUsage(raw: unknown): KubePodUsage["containers"][number] | undefined {
  const { name, usage } = objectOf(raw);
  const { cpu, memory } = objectOf(usage);
  const [named, cpuText, memoryText] = [textOf(name), textOf(cpu), textOf(memory)];
  if (named === undefined || cpuText === undefined || memoryText === undefined) return undefined;
  try {
    return { name: named, cpu: parseNanoCPU(cpuText) / 1e6, memory: parseBytes(memoryText) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
