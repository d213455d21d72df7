/**
 * What the installed controllers count of themselves.
 *
 * @module
 */
import type { Kubectl } from "../../tests/cluster/kubectl.ts";
import { PRODUCT_NAMESPACE } from "../../tests/cluster/scene/product.ts";
import { type CounterLine, parseCounters } from "./counters.ts";

/** The counters of one controller, the leader or not. */
export interface ControllerCounters {
  readonly pod: string;
  readonly counters: readonly CounterLine[];
}

const NAMES = ["mbcas_resizes_total", "mbcas_held_total", "mbcas_market_enabled", "mbcas_leader"];
const PORT = 8080;

/** Those of all running controllers, through the API server. */
export async function scrapeControllers(kubectl: Kubectl): Promise<ControllerCounters[]> {
  const pods = await kubectl.must([
    ...["get", "pods", "-n", PRODUCT_NAMESPACE, "-l", "app.kubernetes.io/name=mbcas-controller"],
    ...["--field-selector=status.phase=Running", "-o", "jsonpath={.items[*].metadata.name}"],
  ]);
  const names = pods.split(" ").filter((name) => name !== "");
  return await Promise.all(names.map(async (pod) => {
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${pod}:${PORT}/proxy/metrics`;
    const text = await kubectl.must(["get", "--raw", path]);
    return { pod, counters: parseCounters(text, NAMES) };
  }));
}
