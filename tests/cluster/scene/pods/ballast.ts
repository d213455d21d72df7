/**
 * A small market on a large node: a pod outside of it holds the rest by its request.
 *
 * @module
 */
import { parseCPU } from "../../../../shared/quantity.ts";
import { loadPod } from "./load_pod.ts";
import { productMetrics } from "../product/product_metrics.ts";
import type { RealNode } from "../real_node.ts";
import { until } from "../until.ts";

/** What is free of requests may be a little less than what is left of the market's capacity. */
const SCHEDULER_ROOM = 400;

/**
 * Makes a pod, idle and opted out, that leaves the market about this capacity, millicores, and waits
 * until the agent reckons with it. Leaves the node as it is where the market has no more anyway.
 * What other pods hold by usage does not count: they hold less of it once this request defends CPU.
 * What the product's own pods request does.
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

/** CPU that the product's pods request, millicores. */
async function requestedByProduct({ connection }: RealNode): Promise<number> {
  const list = await connection.request({
    method: "GET",
    path: "/api/v1/namespaces/mbcas-system/pods",
  }) as { readonly items: readonly { readonly spec: PodSpec }[] };
  return list.items.flatMap(({ spec }) => spec.containers).reduce(
    (sum, { resources }) => sum + parseCPU(resources?.requests?.cpu ?? "0"),
    0,
  );
}

interface PodSpec {
  readonly containers: readonly { readonly resources?: { readonly requests?: { cpu?: string } } }[];
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
