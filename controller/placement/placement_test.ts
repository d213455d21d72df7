import assert from "node:assert/strict";
import { cacheSources, createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import { podRequest } from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_appliers.ts";
import { createCaches, namedCaches } from "../caches.ts";
import { connectPlacementAPI } from "./connect.ts";
import { createPlacement, type PlacementParts } from "./placement.ts";

/** Placement on an empty server, with informers that run until the end. */
function stage({ webhook, observer }: Pick<PlacementParts, "webhook" | "observer">) {
  const clock = createVirtualClock({ wallStart: 0 });
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const options = { clock, random: seededRandom(1), log };
  const api = createSimulatedAPI(options);
  const caches = createCaches(cacheSources(api), options);
  const placement = createPlacement({
    ...options,
    api: {
      sources: {
        replicaSets: api.listWatch("ReplicaSet"),
        budgets: api.listWatch("PodDisruptionBudget"),
        volumes: api.listWatch("PersistentVolume"),
      },
      store: keptCheckpoints(),
      statuses: keptCheckpoints(),
      evictor: api.podEvictor,
      costs: api.deletionCostWriter,
      events: { emit() {} },
    },
    caches,
    settings: () => PLACEMENT_DEFAULTS,
    webhook,
    ...(observer === undefined ? {} : { observer }),
  });
  const end = new AbortController();
  for (const [, copy] of namedCaches(caches)) void copy.run(end.signal);
  for (const copy of Object.values(placement.informers)) void copy.run(end.signal);
  const running = placement.lead(end.signal);
  return {
    clock,
    placement,
    warned,
    async stop() {
      end.abort();
      await settleVirtually(clock, running);
    },
  };
}

Deno.test("createPlacement() restarts after a failure, and ends with the term", async () => {
  const leads: boolean[] = [];
  const { clock, stop, placement, warned } = stage({
    webhook: false,
    observer: {
      leads(isLeader) {
        leads.push(isLeader);
        if (leads.length === 1) throw new Error("Cannot count");
      },
    },
  });
  await clock.runUntil(60_000);
  assert.deepEqual(leads, [true, true]);
  await stop();
  assert.deepEqual(leads, [true, true, false]);
  assert.deepEqual([placement.mutators.length, warned.length], [0, 1]);
});

Deno.test("createPlacement() decides about new pods only while it leads and has settled", async () => {
  const results: string[] = [];
  const { clock, placement, stop, warned } = stage({
    webhook: true,
    observer: { admitted: ({ result }) => void results.push(result) },
  });
  const signal = new AbortController().signal;
  const admit = async (): Promise<void> => {
    for (const mutator of placement.mutators) await mutator.mutate(podRequest("1"), signal);
  };
  await admit();
  await clock.runUntil(1000);
  await admit();
  await clock.runUntil(5000);
  const decided = admit();
  await clock.runUntil(5100);
  await decided;
  await stop();
  await admit();
  assert.deepEqual(results, ["NoLeader", "LeaderUnsettled", "CopyBehind", "NoLeader"]);
  assert.deepEqual(warned, []);
});

Deno.test("connectPlacementAPI() labels its ConfigMaps", async () => {
  await using server = serveCanned(() => ({ items: [] }));
  const { store, statuses } = connectPlacementAPI(server.connection, {
    namespace: "mbcas-system",
    events: { emit() {} },
    random: seededRandom(1),
    log: silentLog,
  });
  const { signal } = new AbortController();
  await store.list(signal);
  await statuses.apply({ name: "mbcas-placement-shop", data: { "Deployment.web": "{}" } }, signal);
  const [list, apply] = server.requests;
  assert.equal(list?.path, "/api/v1/namespaces/mbcas-system/configmaps");
  assert.equal(list?.query.labelSelector, "spotalis.io/memory=true");
  assert.equal(apply?.path, "/api/v1/namespaces/mbcas-system/configmaps/mbcas-placement-shop");
  assert.equal(apply?.query.fieldManager, "mbcas-placement");
  assert.match(JSON.stringify(apply?.body), /"labels":\{"spotalis.io\/placement-status":"true"\}/);
});
