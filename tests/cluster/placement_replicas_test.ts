/**
 * The product's own replicas while pods are placed: one leads and answers for all, and the other one
 * takes over.
 *
 * @module
 */
import assert from "node:assert/strict";
import { createEndpointSliceStore } from "../../adapters/kube/writers/webhook_stores.ts";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import { ENDPOINT_SLICES } from "../../controller/webhook/webhook_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { placedWorkload, placementBed, placementTest } from "./scene/placement_bed.ts";
import { deletePod, leader, metricsByPod, PRODUCT_NAMESPACE, whenReady } from "./scene/product.ts";
import { until } from "./scene/until.ts";

const SCENE = "replicas";
const kubectl = createKubectl();

// Pods without placement go to all nodes alike.
const bed = placementBed([
  { name: "replicas-spot-1", class: "spot", scene: SCENE },
  { name: "replicas-spot-2", class: "spot", scene: SCENE },
  { name: "replicas-steady-1", class: "on-demand", scene: SCENE },
  { name: "replicas-steady-2", class: "on-demand", scene: SCENE },
]);

/** A Lease of 15 s, two to settle, then each pod without placement is moved, one after the other. */
const REPAIRED = { timeoutMs: 180_000 } as const;

/** The value of a series at each controller. */
async function reported(series: string): Promise<readonly (number | undefined)[]> {
  const pods = await metricsByPod(bed.node, "mbcas-controller");
  return [...pods.values()].map((one) => one.get(series));
}

/** True once the webhook's Service leads to the leader, and to no other pod. */
async function leadsToLeader(): Promise<true | undefined> {
  const { connection } = bed.node;
  const place = { namespace: PRODUCT_NAMESPACE, name: ENDPOINT_SLICES[0], labels: {} };
  const slice = await createEndpointSliceStore(connection, place).read();
  const addresses = slice?.endpoints.flatMap((one) => one.ready ? one.addresses : []);
  const name = await leader(bed.node);
  if (name === undefined) return undefined;
  const path = `/api/v1/namespaces/${PRODUCT_NAMESPACE}/pods/${name}`;
  const { podIP } = objectOf(objectOf(await connection.request({ path })).status);
  return addresses?.join() === podIP || undefined;
}

placementTest("several instances → exactly one leader, also after it was killed", async () => {
  let most = 0;
  const one = async (): Promise<true | undefined> => {
    const leads = await reported("spotalis_leader_election_status");
    const leading = leads.filter((value) => value === 1).length;
    most = Math.max(most, leading);
    return leads.length === 2 && leading === 1 || undefined;
  };
  await until("one leader of two", one);
  await until("Service that leads to the leader", leadsToLeader);
  await kubectl.must(["delete", "endpointslice", ENDPOINT_SLICES[0], "-n", PRODUCT_NAMESPACE]);
  await until("Service that is repaired", leadsToLeader);
  const name = "killed";
  const workload = placedWorkload({
    name,
    namespace: bed.namespace,
    scene: SCENE,
    replicas: 100,
    share: "70%",
  });
  const old = await until("a leader", () => leader(bed.node));
  await kubectl.must(["apply", "-f", "-"], workload);
  await until("a part of the burst", () => bed.replicas.of(name).length >= 20 || undefined, {
    everyMs: 10,
  });
  await deletePod(bed.node, old, { graceSeconds: 0 });
  await bed.replicas.whenReady(name, 100);
  await whenReady(bed.node, "mbcas-controller", 2);
  await until("one leader of two", one, { timeoutMs: 60_000 });
  assert.equal(most, 1);
  await until("Service that leads to the next leader", leadsToLeader);
  // Exactly, after repair.
  await bed.replicas.whenDivided(name, { spot: 70, "on-demand": 30 }, REPAIRED);
  await kubectl.must(["scale", `deployment/${name}`, "-n", bed.namespace, "--replicas=0"]);
});
