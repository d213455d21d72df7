/**
 * Placement through a real server, scheduler and webhook: new pods are divided exactly, manifests stay
 * as they are, replicas fall back while there are no spot nodes, and one of the product's replicas
 * answers for all, also after it was killed.
 */
import assert from "node:assert/strict";
import { objectOf } from "../../adapters/kube/client/json_fields.ts";
import { createEndpointSliceStore } from "../../adapters/kube/writers/webhook_stores.ts";
import { ENDPOINT_SLICES } from "../../controller/webhook/webhook_objects.ts";
import { createKubectl } from "./kubectl.ts";
import { PLACEMENT_TIMES } from "./scene/all_components.ts";
import {
  admissionProbe,
  countsOf,
  placedWorkload,
  type PlacedWorkloadOptions,
  placementBed,
  placementTest,
} from "./scene/placement_bed.ts";
import { deletePod, leader, metricsByPod, PRODUCT_NAMESPACE, whenReady } from "./scene/product.ts";
import { eventTexts, podPath, whenReported } from "./scene/real_node.ts";
import { until } from "./scene/until.ts";

const SCENE = "split";
const SHORTAGE = "shortage";
const kubectl = createKubectl();

// Pods without placement go to all nodes alike.
const bed = placementBed([
  { name: "split-spot-1", class: "spot", scene: SCENE },
  { name: "split-spot-2", class: "spot", scene: SCENE },
  { name: "split-steady-1", class: "on-demand", scene: SCENE },
  { name: "split-steady-2", class: "on-demand", scene: SCENE },
  { name: "shortage-steady-1", class: "on-demand", scene: SHORTAGE },
]);

/**
 * Pods of 100 that the webhook leaves as they are sent, as it has no answer in time where the machine
 * has more to do than it can. A quiet one has none.
 */
const LATE = 10;

type Wanted = Omit<PlacedWorkloadOptions, "namespace" | "scene">;

function manifest(wanted: Wanted, scene = SCENE): Record<string, unknown> {
  return placedWorkload({ ...wanted, namespace: bed.namespace, scene });
}

async function apply(wanted: Wanted, scene = SCENE): Promise<void> {
  await kubectl.must(["apply", "-f", "-"], manifest(wanted, scene));
}

/** The value of a series at each controller. */
async function reported(series: string): Promise<readonly number[]> {
  const pods = await metricsByPod(bed.node, "mbcas-controller");
  return [...pods.values()].map((one) => one.get(series) ?? 0);
}

const PLACED =
  'spotalis_webhook_requests_total{operation="CREATE",resource_kind="Pod",result="Placed"}';

placementTest(
  "100 pods created at once through the leader's webhook at P = 70 are exactly 70 and 30",
  async () => {
    const before = await reported(PLACED);
    const late = new Set<string>();
    const moments = bed.replicas.everyMoment("burst", (replicas) => {
      for (const { uid, label } of replicas) if (label === undefined) late.add(uid);
    });
    await apply({ name: "burst", replicas: 100, share: "70%" });
    const pods = await bed.replicas.whenDivided("burst", { spot: 70, "on-demand": 30 }, {
      timeoutMs: 60_000,
    });
    const after = await reported(PLACED);
    // Both serve metrics, and one of them was asked.
    const grown = after.filter((count, index) => count > (before[index] ?? 0));
    assert.deepEqual([after.length, grown.length], [2, 1], `${before} ${after}`);
    assert.ok(moments.end() > 0);
    assert.ok(late.size <= LATE, `${late.size} pods were not placed`);
    for (const { class: one, label = one } of pods) assert.equal(label, one);
    const place = { namespace: bed.namespace, name: "burst" };
    const moves = await eventTexts(bed.node, { ...place, reason: "PodRescheduled" });
    assert.ok(moves.length <= late.size, `${moves} of ${late.size}`);
    await kubectl.must(["delete", "deployment/burst", "-n", bed.namespace]);
  },
);

placementTest("manifests of Spotalis' users work as they are, and stay as they are", async () => {
  const workloads: readonly Wanted[] = [
    { name: "label-percent", replicas: 10, share: "60%", floor: 2 },
    { name: "annotated-bare", replicas: 10, share: "60", floor: 2, enabledBy: "annotation" },
    { kind: "StatefulSet", name: "set", replicas: 10, share: "60", floor: 2 },
  ];
  await Promise.all(workloads.map((one) => apply(one)));
  for (const { name } of workloads) {
    // A move takes a look, an eviction, a new pod and the cooldown; the machine may be slow.
    await bed.replicas.whenDivided(name, { spot: 6, "on-demand": 4 }, { timeoutMs: 60_000 });
  }
  const items = workloads.map((one) => manifest(one));
  const diff = await kubectl.run(["diff", "-f", "-"], { apiVersion: "v1", kind: "List", items });
  assert.deepEqual(diff, { ok: true, stdout: "", stderr: "" });
});

placementTest(
  "kubectl shows warnings about annotations that only the product can judge",
  async () => {
    // Only the controller knows time zones.
    const annotations = {
      "spotalis.io/disruption-schedule": "CRON_TZ=Atlantis/Capital 0 2 * * *",
      "spotalis.io/disruption-duration": "2h",
    };
    const probe = await admissionProbe(bed, { scene: SCENE, annotations });
    const workload = manifest({ name: "unreadable", replicas: 3, share: "50%", annotations });
    for (const object of [probe.pod, workload]) {
      const { ok, stderr } = await kubectl.run(["create", "--dry-run=server", "-f", "-"], object);
      assert.ok(ok, stderr);
      assert.match(stderr, /^Warning: .*disruption-schedule/m);
    }
  },
);

/** The specification's bound on a fallback, and delays of server, scheduler and machine around it. */
const FALLS_BACK_WITHIN_MS = PLACEMENT_TIMES.scheduleTimeoutMs + 15_000 + 15_000;
/** From the end of the fallback: a move each, with its cooldown. */
const RETURNS = { timeoutMs: PLACEMENT_TIMES.fallbackMs + 60_000 } as const;

placementTest("no spot nodes → on-demand, and back when spot returns", async () => {
  const place = { namespace: bed.namespace, name: SHORTAGE };
  const begunMs = performance.now();
  await apply({ name: SHORTAGE, replicas: 6, share: "70%", floor: 1 }, SHORTAGE);
  await whenReported(bed.node, { ...place, reason: "SpotFallback" });
  const tookMs = performance.now() - begunMs;
  assert.ok(tookMs <= FALLS_BACK_WITHIN_MS, `it took ${tookMs} ms`);
  await bed.replicas.whenDivided(SHORTAGE, { spot: 0, "on-demand": 6 });
  const moments = bed.replicas.everyMoment(SHORTAGE, (replicas) => {
    const ready = replicas.filter((one) => one.ready).length;
    assert.ok(ready >= 5, `${ready} of 6 are Ready while one after the other returns`);
    assert.ok(countsOf(replicas)["on-demand"] >= 1, "the floor holds");
  });
  await bed.nodes.add({ name: "shortage-spot-9", class: "spot", scene: SHORTAGE });
  await bed.replicas.whenDivided(SHORTAGE, { spot: 4, "on-demand": 2 }, RETURNS);
  moments.end();
  await whenReported(bed.node, { ...place, reason: "SpotReturned" });
});

/** True once the webhook's Service leads to the leader, and to no other pod. */
async function leadsToLeader(): Promise<true | undefined> {
  const { connection } = bed.node;
  const place = { namespace: PRODUCT_NAMESPACE, name: ENDPOINT_SLICES[0], labels: {} };
  const slice = await createEndpointSliceStore(connection, place).read();
  const addresses = slice?.endpoints.flatMap((one) => one.ready ? one.addresses : []);
  const name = await leader(bed.node);
  if (name === undefined) return undefined;
  const path = podPath({ namespace: PRODUCT_NAMESPACE, name });
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
  await kubectl.must(["delete", "endpointslice", ENDPOINT_SLICES[0], "-n", PRODUCT_NAMESPACE]);
  await until("Service that is repaired", leadsToLeader);
  const name = "killed";
  const old = await until("a leader", () => leader(bed.node));
  await apply({ name, replicas: 100, share: "70%" });
  await until("a part of the burst", () => bed.replicas.of(name).length >= 20 || undefined, {
    everyMs: 10,
  });
  await deletePod(bed.node, old, { graceSeconds: 0 });
  await bed.replicas.whenReady(name, 100);
  await whenReady(bed.node, "mbcas-controller", 2);
  await until("one leader of two", one, { timeoutMs: 60_000 });
  assert.equal(most, 1);
  await until("Service that leads to the next leader", leadsToLeader);
  // Exactly, after repair: a Lease of 15 s, two to settle, then each pod without placement is moved, one
  // after the other.
  await bed.replicas.whenDivided(name, { spot: 70, "on-demand": 30 }, { timeoutMs: 180_000 });
  await kubectl.must(["scale", `deployment/${name}`, "-n", bed.namespace, "--replicas=0"]);
});
