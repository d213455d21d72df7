/**
 * The installed product, as tests look at it and disturb it.
 *
 * @module
 */
import type { Pod } from "../../../../shared/api/pod.ts";
import { parseLease } from "../../../../adapters/kube/kinds/leases.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import { listOf, objectOf } from "../../../../adapters/kube/client/json_fields.ts";
import type { RealNode } from "../real_node.ts";
import { until } from "../until.ts";

/** Where the product is installed. */
export const PRODUCT_NAMESPACE = "mbcas-system";
const PODS = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${PRODUCT_NAMESPACE}/leases`;

/** A part of the product. */
export type Component = "mbcas-agent" | "mbcas-controller";

/** The living pods of a component. */
export async function podsOf(
  { connection }: Pick<RealNode, "connection">,
  component: Component,
): Promise<readonly Pod[]> {
  const query = { labelSelector: `app.kubernetes.io/name=${component}` };
  const answer = objectOf(await connection.request({ path: PODS, query }));
  return listOf(answer["items"]).map(parsePod).filter(({ metadata }) => !metadata.terminating);
}

/** The holder of the leader's Lease: a pod's name and an identity of one of its lives; or empty. */
export async function leaseHolder(
  { connection }: Pick<RealNode, "connection">,
): Promise<string> {
  return parseLease(await connection.request({ path: `${LEASES}/mbcas-controller` })).holder;
}

/** Name of the pod that leads; undefined while none does. */
export async function leader(node: Pick<RealNode, "connection">): Promise<string | undefined> {
  const holder = await leaseHolder(node);
  if (holder === "") return undefined;
  const pods = await podsOf(node, "mbcas-controller");
  return pods.find(({ metadata }) => holder.startsWith(metadata.name))?.metadata.name;
}

/** Ends a pod; `graceSeconds` 0 is a crash as far as the API shows. */
export async function deletePod(
  { connection }: Pick<RealNode, "connection">,
  name: string,
  { graceSeconds }: { readonly graceSeconds?: number } = {},
): Promise<void> {
  await connection.request({
    method: "DELETE",
    path: `${PODS}/${name}`,
    ...(graceSeconds === undefined ? {} : { query: { gracePeriodSeconds: String(graceSeconds) } }),
  });
}

/** Resolves when that many pods of the component are ready. */
export async function whenReady(
  node: Pick<RealNode, "connection">,
  component: Component,
  count: number,
): Promise<void> {
  await until(`${count} ready pods of ${component}`, async () => {
    const ready = (await podsOf(node, component)).filter(({ ready }) => ready);
    return ready.length >= count ? true : undefined;
  }, { timeoutMs: 90_000 });
}
