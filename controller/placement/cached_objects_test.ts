import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import { createCaches } from "../allocation/caches.ts";
import { cachedObjects } from "./cached_objects.ts";
import { createPlacementCopies } from "./placement_copies.ts";

const NEW = { namespace: "shop", uid: "", resourceVersion: "" };

Deno.test("cachedObjects() finds in the copies what the chain of owners, nodes and claims name", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const options = { clock, random: seededRandom(1), log: silentLog };
  const api = createSimulatedAPI({ ...options, latencyMs: 0 });
  const { tables } = api.store;
  const pod = samplePod("web-1");
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-h", uid: "rs" };
  tables.Pod.seed({ ...pod, metadata: { ...pod.metadata, owner } });
  tables.Node.seed(sampleNode("node-1"));
  tables.ReplicaSet.seed({
    metadata: { ...NEW, name: "web-h", uid: "rs" },
    deployment: { name: "web", uid: "d" },
  });
  tables.PersistentVolume.seed({ metadata: { ...NEW, name: "pv" }, claim: "shop/data" });
  tables.PodDisruptionBudget.seed({
    metadata: { ...NEW, name: "web" },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
  });
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementCopies({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { signal } = new AbortController();
  for (const copy of [caches.pods, caches.nodes, caches.replicaSets]) void copy.run(signal);
  for (const copy of [caches.budgets, caches.volumes]) void copy.run(signal);
  await clock.runUntil(1000);
  const objects = cachedObjects(caches);
  const names = (list: Iterable<{ readonly metadata: { readonly name: string } }>) =>
    [...list].map(({ metadata }) => metadata.name);
  assert.deepEqual(names(objects.replicaSetsOwnedBy("d")), ["web-h"]);
  assert.deepEqual(names(objects.podsOwnedBy("rs")), ["web-1"]);
  assert.deepEqual(names(objects.podsOwnedBy("other")), []);
  assert.deepEqual(names(objects.nodes()), ["node-1"]);
  assert.equal(objects.node("node-1")?.ready, true);
  assert.deepEqual(names(objects.budgetsIn("shop")), ["web"]);
  assert.deepEqual(names(objects.volumesOf("shop/data")), ["pv"]);
  assert.equal(objects.namespace("shop"), undefined);
});
