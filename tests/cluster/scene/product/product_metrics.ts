/**
 * The product's own figures.
 *
 * @module
 */
import { createKubectl } from "../../kubectl.ts";
import type { EnforcementReason } from "../../../../shared/api/reasons/enforcement_reasons.ts";
import { type Component, podsOf, PRODUCT_NAMESPACE } from "./product.ts";
import type { RealNode } from "../real_node.ts";

const PORTS: Readonly<Record<Component, number>> = {
  "mbcas-agent": 8081,
  "mbcas-controller": 8080,
};
const kubectl = createKubectl();

/** Values by series, for instance `mbcas_bounds{reason="NodeSize"}`, of each pod of the component. */
export async function metricsByPod(
  node: Pick<RealNode, "connection">,
  component: Component,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const pods = new Map<string, ReadonlyMap<string, number>>();
  for (const { metadata: { name } } of await podsOf(node, component)) {
    const where = `${name}:${PORTS[component]}`;
    const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${where}/proxy/metrics`;
    pods.set(name, seriesIn(await kubectl.must(["get", "--raw", path])));
  }
  return pods;
}

/** Values by series in the text that a program serves. */
export function seriesIn(text: string): ReadonlyMap<string, number> {
  return new Map(
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/**
 * Values by series; of several pods of the component the largest, since only one of the controllers
 * works, or what `combine` makes of two.
 */
export async function productMetrics(
  node: Pick<RealNode, "connection">,
  component: Component,
  { combine = Math.max }: { readonly combine?: (a: number, b: number) => number } = {},
): Promise<ReadonlyMap<string, number>> {
  const values = new Map<string, number>();
  for (const series of (await metricsByPod(node, component)).values()) {
    for (const [name, value] of series) {
      const before = values.get(name);
      values.set(name, before === undefined ? value : combine(before, value));
    }
  }
  return values;
}

/** How many pods the controllers have given their original limits back to for this cause so far. */
export async function restoresFor(
  node: Pick<RealNode, "connection">,
  cause: EnforcementReason,
): Promise<number> {
  const combine = (a: number, b: number): number => a + b;
  const metrics = await productMetrics(node, "mbcas-controller", { combine });
  return metrics.get(`mbcas_restores_total{cause="${cause}"}`) ?? 0;
}
