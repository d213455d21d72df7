/**
 * The product's own figures.
 *
 * @module
 */
import { createKubectl } from "../kubectl.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { type Component, podsOf, PRODUCT_NAMESPACE } from "./product.ts";
import type { RealNode } from "./real_node.ts";

const PORTS: Readonly<Record<Component, number>> = {
  "mbcas-agent": 8081,
  "mbcas-controller": 8080,
};
const kubectl = createKubectl();

/**
 * Values by series, for instance `mbcas_bounds{reason="NodeSize"}`; of several pods of the component
 * the largest, since only one of the controllers works, or what `combine` makes of two.
 */
export async function productMetrics(
  node: Pick<RealNode, "connection">,
  component: Component,
  { combine = Math.max }: { readonly combine?: (a: number, b: number) => number } = {},
): Promise<ReadonlyMap<string, number>> {
  const values = new Map<string, number>();
  for (const { metadata: { name } } of await podsOf(node, component)) {
    const where = `${name}:${PORTS[component]}`;
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${where}/proxy/metrics`;
    for (const line of (await kubectl.must(["get", "--raw", path])).split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      const at = line.lastIndexOf(" ");
      const series = line.slice(0, at);
      const value = Number(line.slice(at + 1));
      const before = values.get(series);
      values.set(series, before === undefined ? value : combine(before, value));
    }
  }
  return values;
}

/** How many pods the controllers have given their own limits back to for this cause so far. */
export async function restoresFor(
  node: Pick<RealNode, "connection">,
  cause: EnforcementReason,
): Promise<number> {
  const combine = (a: number, b: number): number => a + b;
  const metrics = await productMetrics(node, "mbcas-controller", { combine });
  return metrics.get(`mbcas_restores_total{cause="${cause}"}`) ?? 0;
}
