import assert from "node:assert/strict";
import type { Pod } from "../shared/api/pod.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import { createInformer, type Informer, type ListWatch } from "../shared/control/informer.ts";
import type { ApiObject } from "../shared/api/object.ts";
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

Deno.test({
  name: "watchConfirmations() counts from a decision that it saw come to the pod's status",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const api = createSimulatedAPI({ clock, random: seededRandom(1), latencyMs: 2 });
    const { Pod: pods, PodAllocation: allocations } = api.store.tables;
    const stop = new AbortController();
    const runs: Promise<void>[] = [];
    function follow<T extends ApiObject>(name: string, source: ListWatch<T>): Informer<T> {
      const informer = createInformer({
        source,
        clock,
        random: seededRandom(2),
        log: silentLog,
        name,
      });
      runs.push(informer.run(stop.signal));
      return informer;
    }
    const waits: number[] = [];
    watchConfirmations({
      pods: follow<Pod>("Pod", api.listWatch("Pod")),
      allocations: follow<PodAllocation>("PodAllocation", api.listWatch("PodAllocation")),
      clock,
      onConfirmed: (waitedMs) => void waits.push(Math.round(waitedMs / 50) * 50),
    });
    const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
    const pod = pods.seed(samplePod("web"));
    const key = `${pod.metadata.namespace}/web`;
    const allocation = allocations.seed(sampleAllocation(pod));
    const allocationKey = `${pod.metadata.namespace}/${allocation.metadata.name}`;
    const want = (cpuLimit: string): void => {
      allocations.modify(allocationKey, (old) => ({
        ...old,
        spec: { ...old.spec, containers: [{ name: "app", cpuLimit }] },
      }));
    };
    const apply = (limitCPU: number): void => {
      const containers = [
        sampleContainer({ limits: { cpu: limitCPU }, applied: { limits: { cpu: limitCPU } } }),
      ];
      pods.modify(key, (old) => ({ ...old, containers }));
    };
    await pass(100);
    want("300m");
    await pass(200);
    want("400m");
    await pass(300);
    apply(300);
    await pass(100);
    assert.deepEqual(waits, []);
    apply(400);
    await pass(100);
    assert.deepEqual(waits, [400]);
    apply(400);
    allocations.remove(allocationKey);
    await pass(100);
    assert.deepEqual(waits, [400]);
    stop.abort();
    await pass(100);
    await Promise.all(runs);
  },
});
