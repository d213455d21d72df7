/**
 * The product's own figures.
 *
 * @module
 */
import { createKubectl } from "../kubectl.ts";
import { type Component, podsOf, PRODUCT_NAMESPACE } from "./product.ts";
import type { RealNode } from "./real_node.ts";

const PORTS: Readonly<Record<Component, number>> = {
  "mbcas-agent": 8081,
  "mbcas-controller": 8080,
};
const kubectl = createKubectl();

/**
 * Values by series, for instance `mbcas_bounds{reason="NodeSize"}`; of several pods of the component
 * the largest, since only one of the controllers works.
 */
export async function productMetrics(
  node: Pick<RealNode, "connection">,
  component: Component,
): Promise<ReadonlyMap<string, number>> {
  const values = new Map<string, number>();
  for (const { metadata: { name } } of await podsOf(node, component)) {
    const where = `${name}:${PORTS[component]}`;
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${where}/proxy/metrics`;
    for (const line of (await kubectl.must(["get", "--raw", path])).split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      const at = line.lastIndexOf(" ");
      const series = line.slice(0, at);
      values.set(series, Math.max(values.get(series) ?? -Infinity, Number(line.slice(at + 1))));
    }
  }
  return values;
}
