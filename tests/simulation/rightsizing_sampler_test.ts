/**
 * Property 19 at the sampler: metrics-server is asked only for a policy that wants it.
 *
 * @module
 */
import fc from "fast-check";
import assert from "node:assert/strict";
import { createSampledPods } from "../../controller/rightsizing/sources/pod_owners.ts";
import { UsageSampler } from "../../controller/rightsizing/sources/usage_sampler.ts";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { autoPolicy } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { worldProperty } from "../fixtures/rightsizing/rightsizing_worlds.ts";

const INTERVAL_MS = 30_000;

const policy = fc.record({
  mode: fc.constantFrom("Auto" as const, "Recommend" as const, "Disabled" as const),
  provider: fc.constantFrom("prometheus" as const, "metrics-server" as const),
}).map((fields) => autoPolicy({}, fields));

worldProperty(
  "property 19 at the sampler: metrics-server is read while an enabled policy wants it, and never otherwise",
  [fc.array(fc.array(policy, { maxLength: 3 }), { minLength: 1, maxLength: 6 })],
  async (steps) => {
    const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
    const end = new AbortController();
    const state = { policies: steps[0] ?? [], reads: 0 };
    const sampler = new UsageSampler({
      metrics: {
        read() {
          state.reads++;
          return Promise.resolve({ pods: [], unreadable: 0 });
        },
      },
      owners: createSampledPods({
        pods: { get: () => undefined },
        workload: () => undefined,
        replicaSet: () => undefined,
        workloadUIDs: () => new Set(),
        policies: () => state.policies,
        policyOf: () => undefined,
        clock,
      }),
      store: {
        list: () => Promise.resolve([]),
        apply: () => Promise.resolve(),
        remove: () => Promise.resolve(),
      },
      clock,
      log: silentLog,
      intervalMs: () => INTERVAL_MS,
    });
    const running = sampler.run(end.signal);
    await clock.runUntil(INTERVAL_MS / 2);
    for (const policies of steps) {
      state.policies = policies;
      const before = state.reads;
      await clock.runUntil(clock.monotonic() + 4 * INTERVAL_MS);
      const isWanted = policies.some(({ mode, provider }) =>
        mode !== "Disabled" && provider === "metrics-server"
      );
      assert.equal(state.reads - before, isWanted ? 4 : 0);
    }
    end.abort();
    await clock.runUntil(clock.monotonic());
    await running;
  },
);
