/** The next steps that the controller publishes, and `kubectl coalloc placement` prints, are those that it takes. */
import assert from "node:assert/strict";
import type { PlacementView } from "../../cli/coalloc/placement/placement_view.ts";
import type { ShownWorkload } from "../../shared/view/placed_workloads.ts";
import { createCaches } from "../../controller/caches.ts";
import { createPlacementState } from "../../controller/placement/store.ts";
import { createPlacementInformers } from "../../controller/placement/caches.ts";
import { runPlacementLoop } from "../../controller/placement/loop.ts";
import { createStatusPublisher } from "../../controller/placement/publisher.ts";
import { silentLog } from "../../shared/log.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../shared/placement/node_departure.ts";
import type { PlacementConfig } from "../../shared/placement/settings.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/simulated_api.ts";
import type { CoallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/kept_checkpoints.ts";
import { NOW, placedScene, placementOf, shopNode } from "../fixtures/placement/placed_shop.ts";

const CONFIG: PlacementConfig = {
  scope: { ownNamespace: "mbcas-system" },
  classes: NODE_CLASS_PRESETS.karpenter,
  departures: DEFAULT_DEPARTURE_SIGNS,
  readOnly: false,
  resyncPeriodMs: 30_000,
  workers: 2,
  cooldownMs: 10_000,
  evictions: { perSecond: 5, burst: 5 },
  shortage: {},
};

/** Runs the controller for a while; resolves with the pods that it evicted. */
async function controlled(
  scene: CoallocScene,
  { readOnly, removed }: { readonly readOnly: boolean; readonly removed?: string },
): Promise<readonly string[]> {
  const { api, clock } = scene;
  const end = new AbortController();
  const options = { clock, random: seededRandom(8), log: silentLog };
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementInformers({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { pods, nodes, namespaces, deployments, statefulSets } = caches;
  const { replicaSets, budgets, volumes } = caches;
  for (const copy of [nodes, namespaces, deployments, statefulSets]) void copy.run(end.signal);
  for (const copy of [pods, replicaSets, budgets, volumes]) void copy.run(end.signal);
  const store = keptCheckpoints();
  const evicted: string[] = [];
  const loop = runPlacementLoop({
    ...options,
    caches,
    state: createPlacementState({ store, clock, log: silentLog }),
    config: { ...CONFIG, readOnly },
    publisher: createStatusPublisher({ statuses: store, clock, log: silentLog }),
    evictor: {
      evict(pod) {
        evicted.push(pod.name);
        return api.podEvictor.evict(pod);
      },
    },
    costs: { write: () => Promise.resolve(true) },
    events: { emit: () => {} },
  }, end.signal);
  await clock.runUntil(clock.monotonic() + 5000);
  if (removed !== undefined) {
    api.store.tables.Deployment.remove(removed);
    await clock.runUntil(clock.monotonic() + 5000);
  }
  end.abort();
  await clock.runUntil(clock.monotonic() + 1000);
  await loop;
  const { data = {} } = store.kept.get("mbcas-placement-shop") ?? {};
  for (const [key, text] of Object.entries(data)) scene.placement.published.set(key, text);
  return evicted;
}

async function shown(scene: CoallocScene): Promise<readonly ShownWorkload[]> {
  const [code, out] = await placementOf(scene, "-o", "json");
  assert.equal(code, 0);
  const view: PlacementView = JSON.parse(out);
  return view.workloads;
}

Deno.test("placementCommand() names the pods that the controller then evicts", async () => {
  const half = { "spot-percentage": "50" };
  const waits = {
    unschedulableSinceMs: NOW - 50_000,
    nodeSelector: { "karpenter.sh/capacity-type": "spot" },
  };
  const scene = placedScene(
    { nodes: ["spot-1", "spot-1", "spot-1", "spot-1", "od-1"] },
    { kind: "StatefulSet", name: "db", nodes: ["spot-1", "od-1", "spot-1"], annotations: half },
    { name: "fit", nodes: ["spot-1", "od-1"], annotations: half },
    { name: "rest", nodes: ["od-1", "od-1"], annotations: { ...half, paused: "true" } },
    { name: "dying", nodes: ["going", "od-1"], annotations: half },
    { name: "short", nodes: ["", "od-1"], annotations: half, changes: { 0: waits } },
  );
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  scene.api.store.tables.Node.seed(shopNode("going", "spot", { taints }));
  assert.deepEqual(await controlled(scene, { readOnly: true }), []);
  const before = await shown(scene);
  const foreseen = before.flatMap(({ next }) => next?.pod ?? []);
  assert.deepEqual(foreseen.toSorted(), ["db-0", "dying-0", "web-3"]);
  const short = before.find(({ name }) => name === "short");
  assert.match(short?.next?.action ?? "", /fall back .* pod short-0 /);
  // With a shortage the pod that waits goes at once.
  await scene.clock.runUntil(scene.clock.monotonic() + 10_000);
  const evicted = await controlled(scene, { readOnly: false });
  assert.deepEqual(evicted.toSorted(), [...foreseen, "short-0"].toSorted());
  const phases = Object.fromEntries((await shown(scene)).map(({ name, phase }) => [name, phase]));
  assert.equal(phases["short"], "Fallback");
  assert.deepEqual([phases["fit"], phases["rest"]], ["AsSpecified", "Paused"]);
  await scene.close();
});

Deno.test("runPlacementLoop() deletes the status of a deleted workload at once", async () => {
  const scene = placedScene({ nodes: ["od-1"] }, { name: "gone", nodes: ["od-1"] });
  await controlled(scene, { readOnly: true, removed: "shop/gone" });
  assert.deepEqual([...scene.placement.published.keys()], ["Deployment.web"]);
  await scene.close();
});
