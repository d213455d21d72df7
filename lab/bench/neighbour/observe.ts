/**
 * What a stretch of time costs: resizes by the API server's audit log, the agent by its cgroup and
 * its metrics.
 *
 * @module
 */
import { auditLog } from "../../../tests/cluster/harness/component.ts";
import { DEFAULT_NAME, instanceNamed } from "../../../tests/cluster/harness/instance.ts";
import { cpuAccount, podDirectories } from "../../../tests/cluster/scene/node_cgroups.ts";
import { podsOf, productMetrics } from "../../../tests/cluster/scene/product.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { markAudit, readAuditSince, type ResizeAnswer } from "../audit_log.ts";
import type { AgentFigures, Resizes, Stretch } from "./report.ts";

const LATENESS = "mbcas_sample_lateness_seconds";

/** Begins to observe; the function returns what was seen since. */
export async function observe(
  node: RealNode,
  namespace: string,
): Promise<() => Promise<Stretch>> {
  const mark = await markAudit(
    auditLog(instanceNamed(Deno.env.get("COALLOCATOR_CLUSTER") ?? DEFAULT_NAME)),
  );
  const start = await lookAtAgent(node);
  return async () => {
    const end = await lookAtAgent(node);
    const answers = (await readAuditSince(mark)).filter((one) => one.namespace === namespace);
    const seconds = (end.at - start.at) / 1000;
    return { resizes: resizesOf(answers, seconds), agent: agentFigures(start, end) };
  };
}

function resizesOf(answers: readonly ResizeAnswer[], seconds: number): Resizes {
  const byPod = Map.groupBy(answers, ({ pod }) => pod);
  const mostOfOnePod = Math.max(0, ...Array.from(byPod.values(), ({ length }) => length));
  return { seconds, all: answers.length, mostOfOnePod };
}

interface AgentLook {
  readonly at: number;
  readonly usageMs: number;
  readonly metrics: ReadonlyMap<string, number>;
}

async function lookAtAgent(node: RealNode): Promise<AgentLook> {
  const [agent] = await podsOf(node, "mbcas-agent");
  if (agent === undefined) {
    throw new Error("Cannot look at the agent: the product is not installed");
  }
  const { usageMs } = cpuAccount(podDirectories(agent));
  return {
    at: performance.now(),
    usageMs,
    metrics: await productMetrics(node, "mbcas-agent"),
  };
}

function agentFigures(start: AgentLook, end: AgentLook): AgentFigures {
  const ms = end.at - start.at;
  const growth = (series: string): number =>
    (end.metrics.get(series) ?? 0) - (start.metrics.get(series) ?? 0);
  const looks = growth(`${LATENESS}_count`);
  const bounds = [...end.metrics.keys()].flatMap((series) => {
    const [, bound] = /^mbcas_sample_lateness_seconds_bucket\{le="(.+)"\}$/.exec(series) ?? [];
    return bound !== undefined && growth(series) >= 0.99 * looks
      ? [bound === "+Inf" ? Infinity : 1000 * Number(bound)]
      : [];
  });
  return {
    millicores: 1000 * (end.usageMs - start.usageMs) / ms,
    memoryMB: (end.metrics.get("process_resident_memory_bytes") ?? NaN) / 1e6,
    looksPerSecond: 1000 * looks / ms,
    lateP99Ms: Math.min(Infinity, ...bounds),
  };
}
