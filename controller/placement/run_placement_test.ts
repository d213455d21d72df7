import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../shared/placement/node_departure.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_class_presets.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { settleVirtually } from "../../tests/contract/settle_virtually.ts";
import { keptCheckpoints } from "../../tests/fixtures/kept_checkpoints.ts";
import { createCaches } from "../allocation/caches.ts";
import { createPlacementCopies } from "./placement_copies.ts";
import { placementRights } from "./placement_rights.ts";
import { keepPlacement } from "./run_placement.ts";

Deno.test("keepPlacement() begins anew after a failure, and ends when it is told to", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const options = { clock, random: seededRandom(1), log: silentLog };
  const api = createSimulatedAPI(options);
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementCopies({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { pods, nodes, namespaces, deployments, statefulSets } = caches;
  const { replicaSets, budgets, volumes } = caches;
  const end = new AbortController();
  for (
    const copy of [nodes, namespaces, deployments, statefulSets, replicaSets, budgets, volumes]
  ) {
    void copy.run(end.signal);
  }
  void pods.run(end.signal);
  const heard: boolean[] = [];
  const running = keepPlacement({
    api: {
      store: keptCheckpoints(),
      evictor: api.podEvictor,
      costs: api.deletionCostWriter,
      events: { emit() {} },
    },
    caches,
    clock,
    log: silentLog,
    config: {
      scope: { ownNamespace: "mbcas-system" },
      classes: NODE_CLASS_PRESETS.karpenter,
      departures: DEFAULT_DEPARTURE_SIGNS,
      readOnly: false,
      resyncPeriodMs: 30_000,
      workers: 1,
      cooldownMs: 10_000,
      evictions: { perSecond: 1, burst: 1 },
      shortage: {},
    },
    observer: {
      leads(isLeader) {
        heard.push(isLeader);
        if (heard.length === 1) throw new Error("Cannot count");
      },
    },
  }, end.signal);
  await clock.runUntil(60_000);
  assert.deepEqual(heard, [true, true]);
  end.abort();
  await settleVirtually(clock, running);
  assert.deepEqual(heard, [true, true, false]);
});

Deno.test("placementRights() evicts and never deletes pods, and keeps to its own ConfigMaps", () => {
  const rights = placementRights("mbcas-system");
  const verbsOf = (resource: string): readonly string[] =>
    rights.filter((one) => one.resource === resource).map(({ verb, subresource, namespace }) =>
      [verb, subresource, namespace].filter(Boolean).join(" ")
    );
  assert.deepEqual(verbsOf("pods"), ["create eviction", "patch"]);
  assert.deepEqual(verbsOf("configmaps"), [
    "list mbcas-system",
    "create mbcas-system",
    "patch mbcas-system",
    "delete mbcas-system",
  ]);
});
