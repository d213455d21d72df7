import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { createInformer } from "../shared/control/informer.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createSimulatedAPI } from "../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../tests/contract/support/sample_objects.ts";
import { watchConfirmations } from "./confirmation_watch.ts";
import { createControllerMetrics, createDropCounter } from "./metrics.ts";
import type { ControllerSettings } from "./settings.ts";

Deno.test("createControllerMetrics() counts reasons of other versions under one reason", async () => {
  const rules = ["NodeSize", "NodeSize", "Later", "Latest"].map((reason) => ({
    ...{ reason, message: "as published" },
  }));
  const statuses: readonly PodAllocation["status"][] = [
    undefined,
    { phase: "Applied", reason: "Applied" },
    { phase: "Failed", reason: "OfALaterVersion" },
    { bounds: { revision: 1, reason: "", containers: [], rules } },
  ];
  const registry = new Registry();
  createControllerMetrics(registry, {
    allocations: () =>
      statuses.map((status) => ({ ...sampleAllocation(samplePod("web")), status })),
    synced: () => [],
    settings: () => ({ market: true, dryRun: false }) as ControllerSettings,
    settingsValid: () => true,
  });
  const lines = (await registry.metrics()).split("\n").filter((line) => line.includes("reason="));
  assert.deepEqual(lines, [
    'mbcas_allocations{phase="Pending",reason="Waiting"} 2',
    'mbcas_allocations{phase="Applied",reason="Applied"} 1',
    'mbcas_allocations{phase="Failed",reason="OtherVersion"} 1',
    'mbcas_bounds{reason="NodeSize"} 1',
    'mbcas_bounds{reason="OtherVersion"} 1',
  ]);
  assert.deepEqual(
    (await registry.metrics()).split("\n").filter((one) => one.includes("reason=")),
    lines,
  );
});

Deno.test("createDropCounter() counts each line", async () => {
  const registry = new Registry();
  const drop = createDropCounter(registry);
  drop();
  drop();
  assert.match(await registry.metrics(), /^mbcas_audit_lines_dropped_total 2$/m);
});

pure(
  "watchConfirmations() counts from a decision that it saw come to the pod's status",
  async () => {
    const clock = createVirtualClock({ wallStart: 0 });
    const api = createSimulatedAPI({ clock, random: seededRandom(1), latencyMs: 2 });
    const { Pod: pods, PodAllocation: allocations } = api.store.tables;
    const stop = new AbortController();
    const parts = { clock, random: seededRandom(2), log: silentLog };
    const informers = {
      pods: createInformer({ ...parts, source: api.listWatch("Pod"), name: "Pod" }),
      allocations: createInformer({
        ...{ ...parts, source: api.listWatch("PodAllocation"), name: "PodAllocation" },
      }),
    };
    const runs = Object.values(informers).map((one) => one.run(stop.signal));
    const waits: number[] = [];
    const onConfirmed = (waitedMs: number) => void waits.push(Math.round(waitedMs / 50) * 50);
    watchConfirmations({ ...informers, clock, onConfirmed });
    const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
    const pod = pods.seed(samplePod("web"));
    const { metadata: { name } } = allocations.seed(sampleAllocation(pod));
    const want = (cpuLimit: string): void =>
      void allocations.modify(`shop/${name}`, (old) => ({
        ...old,
        spec: { ...old.spec, containers: [{ name: "app", cpuLimit }] },
      }));
    const apply = (cpu: number): void => {
      const containers = [sampleContainer({ limits: { cpu }, applied: { limits: { cpu } } })];
      pods.modify("shop/web", (old) => ({ ...old, containers }));
    };
    await pass(100);
    want("300m");
    await pass(200);
    want("400m");
    await pass(300);
    for (const [limit, seen] of [[300, []], [400, [400]], [400, [400]]] as const) {
      apply(limit);
      await pass(100);
      assert.deepEqual(waits, seen);
    }
    allocations.remove(`shop/${name}`);
    stop.abort();
    await pass(100);
    await Promise.all(runs);
    assert.deepEqual(waits, [400]);
  },
);
