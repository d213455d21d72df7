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

/** Values by series, for instance `mbcas_bounds{reason="NodeSize"}`, of one pod of the component. */
export async function productMetrics(
  node: Pick<RealNode, "connection">,
  component: Component,
): Promise<ReadonlyMap<string, number>> {
  const [pod] = await podsOf(node, component);
  if (pod === undefined) throw new Error(`Cannot read metrics: ${component} has no pod`);
  const where = `${pod.metadata.name}:${PORTS[component]}`;
  const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${where}/proxy/metrics`;
  const text = await kubectl.must(["get", "--raw", path]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const at = line.lastIndexOf(" ");
    return [line.slice(0, at), Number(line.slice(at + 1))];
  }));
}
