import assert from "node:assert/strict";
import { createCaches, namedCaches } from "../allocation/caches.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { rightsizingFacts } from "../../tests/fixtures/rightsizing_facts.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { createCreationSurroundings } from "./creation_surroundings.ts";

const WEB = { kind: "Deployment", name: "web" };

/** Deployment `web` under an HPA, a VPA, a LimitRange and a quota that can't be read. */
function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const random = seededRandom(1);
  const api = createSimulatedAPI({ clock, random });
  const { tables } = api.store;
  const { workload: { kind, metadata, rollout, ...makes } } = rightsizingFacts();
  tables.Deployment.create({ kind, metadata, rollout, makes });
  tables.HorizontalPodAutoscaler.create(sampleHPA());
  tables.VerticalPodAutoscaler.create(sampleVPA("Auto"));
  const named = { name: "caps", namespace: "shop", uid: "", resourceVersion: "" };
  tables.LimitRange.create({ metadata: named, items: [{ type: "Container", max: 200 }] });
  const odd = { ...named, name: "odd" };
  tables.LimitRange.create({ metadata: odd, items: [], unreadable: "odd" });
  tables.Node.create({
    metadata: { name: "node-1", uid: "", resourceVersion: "" },
    allocatableCPU: 200,
    ready: true,
    pressures: [],
  });
  const caches = createCaches(cacheSources(api), { clock, random, log: silentLog });
  return { api, clock, caches, surroundingsOf: createCreationSurroundings(caches) };
}

Deno.test({
  name: "createCreationSurroundings() tells who has a say, and what of it can't be read",
  permissions: "none",
  async fn() {
    const { clock, caches, surroundingsOf } = stage();
    const end = new AbortController();
    const work = namedCaches(caches).map(([, copy]) => copy.run(end.signal));
    await clock.runUntil(1000);
    const found = surroundingsOf("shop", WEB);
    assert.equal(found?.autoscalers.length, 1);
    assert.equal(found.verticalAutoscalers.length, 1);
    assert.equal(found.ranges?.cpu?.container.max, 200);
    assert.deepEqual(found.largestNode, { allocatableCPU: 200, allocatableMemory: Infinity });
    assert.deepEqual(found.unreadable, ["LimitRange odd: odd"]);
    assert.equal(found.workload.template.containers.length, 1);
    assert.equal(surroundingsOf("shop", { kind: "StatefulSet", name: "web" }), undefined);
    assert.equal(surroundingsOf("shop", { kind: "Job", name: "web" }), undefined);
    end.abort();
    await clock.runUntil(60_000);
    await Promise.all(work);
  },
});

Deno.test({
  name: "createCreationSurroundings() knows nothing until all copies are whole",
  permissions: "none",
  async fn() {
    for (
      const lacks of ["verticalPodAutoscalers", "limitRanges", "resourceQuotas", "nodes"] as const
    ) {
      const { clock, caches, surroundingsOf } = stage();
      const end = new AbortController();
      const copies = Object.entries(caches).filter(([name]) => name !== lacks);
      const work = copies.map(([, copy]) => copy.run(end.signal));
      await clock.runUntil(1000);
      assert.equal(surroundingsOf("shop", WEB), undefined, lacks);
      end.abort();
      await clock.runUntil(60_000);
      await Promise.all(work);
    }
  },
});
