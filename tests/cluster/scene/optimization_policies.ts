/**
 * Policies of rightsizing that look soon and often, and what comes of them.
 *
 * @module
 */
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseRecommendationReport } from "../../../adapters/kube/kinds/optimization_policies.ts";
import { recordsOf } from "../../../shared/rightsizing/reports.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import type { Kubectl } from "../kubectl.ts";
import type { LoadContainer } from "./load_pod.ts";
import type { PodName, RealNode } from "./real_node.ts";
import { until } from "./until.ts";

const GROUP = "/apis/optipod.io/v1alpha1";

/** Sampling, cycles, and the kubelet's confirmation of a resize. */
export const CYCLES = { timeoutMs: 180_000, everyMs: 500 };

/** Uses some 30 m, many times its request. */
export const UNDERSIZED: LoadContainer = {
  name: "load",
  request: "5m",
  limit: "500m",
  memory: "64Mi",
  beat: { count: 1000, sleepMs: 100 },
};

interface PolicyChoice {
  readonly mode: "Auto" | "Recommend";
  /** Where it lives and acts. */
  readonly namespace: string;
  /** @default {"metrics-server"} */
  readonly provider?: "metrics-server" | "prometheus";
  /** Beside a cooldown of 10 s. @default {{}} */
  readonly strategy?: Readonly<Record<string, unknown>>;
}

/** The object `all`: 10 to 400 m, 16 to 256 Mi, each 10 s. */
export function optimizationPolicy(
  { mode, namespace, provider = "metrics-server", strategy = {} }: PolicyChoice,
): Record<string, unknown> {
  return {
    apiVersion: "optipod.io/v1alpha1",
    kind: "OptimizationPolicy",
    metadata: { name: "all", namespace },
    spec: {
      mode,
      selector: { namespaces: { allow: [namespace] } },
      metricsConfig: { provider, rollingWindow: "10m", minSamples: 3 },
      resourceBounds: {
        cpu: { min: "10m", max: "400m" },
        memory: { min: "16Mi", max: "256Mi" },
      },
      updateStrategy: { cooldown: "10s", ...strategy },
      reconciliationInterval: "10s",
    },
  };
}

/** The workload as the report of its namespace has it. */
export async function recordOf(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
): Promise<WorkloadRecord | undefined> {
  const path = `${GROUP}/namespaces/${namespace}/recommendationreports`;
  const { items } = objectOf(await connection.request({ path }));
  return recordsOf(listOf(items).map(parseRecommendationReport), namespace)
    .find(({ workload }) => workload.name === name);
}

/** Waits until the workload's record is as wanted; says the last one otherwise. */
export async function whenRecord(
  node: Pick<RealNode, "connection">,
  workload: PodName,
  isWanted: (record: WorkloadRecord) => boolean,
): Promise<WorkloadRecord> {
  return await until(`such a record of ${workload.name}`, async () => {
    const record = await recordOf(node, workload);
    if (record !== undefined && isWanted(record)) return record;
    throw new Error(`${record?.status} ${record?.reason} ${record?.message}`);
  }, CYCLES);
}

/** Generation, annotations and specification of a Deployment, as a text to compare. */
export async function deploymentText(
  kubectl: Kubectl,
  { namespace, name }: PodName,
): Promise<string> {
  return await kubectl.must([
    ...["get", `deployment/${name}`, "-n", namespace],
    ...["-o", "jsonpath={.metadata.generation} {.metadata.annotations} {.spec}"],
  ]);
}
