import assert from "node:assert/strict";
import { agentLeaseRef } from "../../../shared/api/agent_lease.ts";
import type { Lease } from "../../../shared/api/lease.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { createVirtualClock } from "../../../simulation/virtual_clock.ts";
import { sampleAllocation, samplePod } from "../../../tests/contract/sample_objects.ts";
import { type AgentWatch, createAgentWatch } from "./agent_watch.ts";

const NODE = "node-1";

interface Stage {
  readonly watch: AgentWatch;
  /** Nodes that were told of, in order. */
  readonly told: string[];
  /** The allocations that there are. */
  readonly allocations: PodAllocation[];
  /** The agent of the node renews its lease, and the watch looks. */
  renew(): Promise<void>;
  pass(): Promise<void>;
}

/** A watch over one node that runs while `check` does. */
async function watching(check: (stage: Stage) => Promise<void>): Promise<void> {
  const clock = createVirtualClock({ wallStart: 0 });
  const told: string[] = [];
  const allocations = [sampleAllocation(samplePod("web"))];
  let renewTimeMs = 0;
  const lease = (): Lease => ({
    metadata: { ...agentLeaseRef(NODE), uid: "l", resourceVersion: `${renewTimeMs}` },
    holder: NODE,
    durationSeconds: 60,
    acquireTimeMs: 0,
    renewTimeMs,
    transitions: 0,
  });
  const unused = {
    byIndex: () => [],
    whenSynced: () => Promise.resolve(true),
    subscribe: () => () => {},
    run: () => Promise.resolve(),
  };
  const watch = createAgentWatch({
    caches: {
      leases: { ...unused, synced: true, get: lease, all: () => [lease()] },
      allocations: { ...unused, synced: true, get: () => undefined, all: () => allocations },
      nodes: { ...unused, synced: true, get: () => undefined, all: () => [] },
    },
    clock,
    config: { agentSilentAfterMs: 300_000 },
    onChange: (nodeName) => told.push(nodeName),
    observe: () => {},
  });
  const stop = new AbortController();
  const pass = () => clock.runUntil(clock.monotonic() + 10_000);
  const run = watch.run(stop.signal);
  try {
    await pass();
    await check({
      watch,
      told,
      allocations,
      pass,
      async renew() {
        renewTimeMs++;
        await pass();
      },
    });
  } finally {
    stop.abort();
    await pass();
    await run;
  }
}

function test(name: string, check: (stage: Stage) => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn: () => watching(check) });
}

test("createAgentWatch() tells once of an agent that was asked for too early", async (stage) => {
  const { watch, told, pass, renew } = stage;
  assert.equal(watch.heardSinceStart(NODE), false);
  await pass();
  assert.deepEqual(told, []);
  await renew();
  assert.deepEqual([watch.heardSinceStart(NODE), told], [true, [NODE]]);
  await renew();
  assert.deepEqual(told, [NODE]);
});

test("createAgentWatch() tells nobody of an agent that nobody has asked for", async (stage) => {
  await stage.renew();
  assert.deepEqual([stage.watch.heardSinceStart(NODE), stage.told], [true, []]);
});

test("createAgentWatch() forgets who awaited an agent once its node has no pods", async (stage) => {
  const { watch, told, pass, renew, allocations } = stage;
  assert.equal(watch.heardSinceStart(NODE), false);
  const gone = allocations.splice(0);
  await pass();
  await renew();
  assert.deepEqual(told, []);
  allocations.push(...gone);
  await renew();
  assert.deepEqual([watch.heardSinceStart(NODE), told], [true, []]);
});
