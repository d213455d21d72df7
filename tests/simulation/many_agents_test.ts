/** Agents of many nodes fall silent at once: what that costs does not grow with nodes times pods. */
import assert from "node:assert/strict";
import { runAllocationLoop } from "../../controller/allocation/allocation_loop.ts";
import { createCaches, namedCaches } from "../../controller/caches.ts";
import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import { agentLeaseRef, type Lease } from "../../shared/api/lease.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createMetricAnswers } from "../../lab/simulation/metric_answers.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../contract/support/sample_objects.ts";

const NODES = 40;
/** More at once have another cause than the agents. */
const SILENT = 4;

function leaseOf(nodeName: string): Lease {
  return {
    metadata: { ...agentLeaseRef(nodeName), uid: "", resourceVersion: "" },
    holder: nodeName,
    durationSeconds: 60,
    acquireTimeMs: 0,
    renewTimeMs: 0,
    transitions: 0,
  };
}

function renewed(lease: Lease): Lease {
  return { ...lease, renewTimeMs: (lease.renewTimeMs ?? 0) + 1 };
}

Deno.test({
  name: "runAllocationLoop() looks through no other node's allocations when agents fall silent",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
    const api = createSimulatedAPI({ clock, random: seededRandom(1) });
    const { Node: nodes, Namespace: namespaces, Pod: pods, Lease: leases } = api.store.tables;
    namespaces.create({
      metadata: { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations: {} },
    });
    for (let one = 0; one < NODES; one++) {
      nodes.create(sampleNode(`node-${one}`));
      pods.create(samplePod(`web-${one}`, { nodeName: `node-${one}` }));
      pods.modify(`shop/web-${one}`, (pod) => ({ ...pod, phase: "Running" }));
      if (one >= SILENT) leases.create(leaseOf(`node-${one}`));
    }
    const informers = createCaches(cacheSources(api), {
      clock,
      random: seededRandom(2),
      log: silentLog,
    });
    let walks = 0;
    const allocations: typeof informers.allocations = Object.create(informers.allocations, {
      all: {
        value(): Iterable<PodAllocation> {
          walks++;
          return informers.allocations.all();
        },
      },
    });
    let looks = 0;
    let silent = 0;
    let silentAtMs = NaN;
    let reconciled = 0;
    const stop = new AbortController();
    const loop = runAllocationLoop({
      caches: { ...informers, allocations },
      store: api.allocationStore,
      resizer: api.podResizer(),
      templates: { limitsOf: () => Promise.resolve(undefined) },
      events: api.events,
      instantQueries: createMetricAnswers(clock),
      clock,
      random: seededRandom(3),
      log: silentLog,
      config: DEFAULT_MARKET_CONFIG,
      observer: {
        agents: (verdict) => {
          looks++;
          if (silent === 0 && verdict.silent.size > 0) silentAtMs = clock.monotonic();
          silent = verdict.silent.size;
        },
        reconciled: () => void (clock.monotonic() - silentAtMs < 1000 && reconciled++),
      },
    }, stop.signal);
    const runs = namedCaches(informers).map(([, informer]) => informer.run(stop.signal));
    await clock.runUntil(60_000);
    assert.equal(silent, 0);
    const before = walks - looks;
    while (silent === 0 && clock.monotonic() < 3_600_000) {
      for (const { metadata } of [...leases.all()]) {
        leases.modify(`${metadata.namespace}/${metadata.name}`, renewed);
      }
      await clock.runUntil(clock.monotonic() + 10_000);
    }
    assert.equal(silent, SILENT);
    assert.equal(walks - looks, before);
    // Their pods are looked at there and then.
    assert.ok(reconciled >= SILENT, `${reconciled}`);
    stop.abort();
    await clock.runUntil(clock.monotonic() + 1000);
    await Promise.all([loop, ...runs]);
  },
});
