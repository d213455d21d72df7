/**
 * A small market on a large node: a pod outside of it holds the rest by its request.
 *
 * @module
 */
import { loadPod } from "./load_pod.ts";
import { productMetrics } from "./product_metrics.ts";
import type { RealNode } from "./real_node.ts";
import { until } from "./until.ts";

/** What is free of requests may be a little less than what is left of the market's capacity. */
const SCHEDULER_ROOM = 400;

/**
 * Makes a pod, idle and opted out, that leaves the market about this capacity, millicores, and waits
 * until the agent reckons with it. Leaves the node as it is where the market has no more anyway.
 * What other pods hold by usage does not count: they hold less of it once this request defends CPU.
 */
export async function ballast(
  node: RealNode,
  { namespace, leaves }: { readonly namespace: string; readonly leaves: number },
): Promise<void> {
  const { capacity, unmanaged, allocatable } = await nodeFigures(node);
  if (capacity < leaves + 10) return;
  const request = Math.min(Math.floor(capacity + unmanaged - leaves), allocatable - SCHEDULER_ROOM);
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

/** Figures of the node as its agent has them, millicores. */
export async function nodeFigures(
  node: Pick<RealNode, "connection">,
): Promise<Readonly<Record<"allocatable" | "capacity" | "unmanaged" | "committed", number>>> {
  const metrics = await productMetrics(node, "mbcas-agent");
  const of = (name: string): number => 1000 * (metrics.get(`mbcas_node_${name}_cores`) ?? NaN);
  return {
    allocatable: of("allocatable"),
    capacity: of("capacity"),
    unmanaged: of("unmanaged"),
    committed: of("committed"),
  };
}
