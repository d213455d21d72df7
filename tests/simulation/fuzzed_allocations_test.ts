/**
 * Whatever an administrator's hand makes of allocations, as far as the server takes it: limits stay
 * within what the pod may have, and the others are served.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../shared/api/api_error.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { sampleContainer } from "../contract/support/sample_objects.ts";
import { WRITTEN } from "../fixtures/market/written_allocations.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { createFailureLog } from "./failure_log.ts";

/** The record of a pod's original limits. */
const OWN = [{ name: "app", cpu: "200m" }, { name: "proxy", cpu: "200m" }];

/** Writes what the server takes of it; true when it takes it. */
function overwrite({ api }: ControllerScene, key: string, written: object): boolean {
  try {
    api.store.tables.PodAllocation.modify(key, (stored) => {
      const { spec = {}, ...rest } = written as Partial<PodAllocation>;
      const next = { ...stored, ...rest, spec: { ...stored.spec, ...spec } };
      const { market } = next.spec;
      // What the agent would have seen: stale clearings are held for that alone.
      const observedBounds = next.status?.bounds?.revision;
      if (market === undefined || observedBounds === undefined) return next;
      return { ...next, spec: { ...next.spec, market: { ...market, observedBounds } } };
    });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 422) return false;
    throw error;
  }
}

sceneTest(
  "runAllocationLoop() keeps limits within bounds whatever is written into allocations",
  async (scene) => {
    const { log, taken: failures } = createFailureLog();
    scene.startController({}, { log });
    scene.createPod("witness");
    const { PodAllocation: allocations } = scene.api.store.tables;
    let cases = 0;
    let taken = 0;
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(WRITTEN, { minLength: 1, maxLength: 3 }), async (writes) => {
        const name = `fuzzed-${++cases}`;
        const { metadata } = scene.createPod(name, {
          containers: OWN.map(({ name }) =>
            sampleContainer({ name, limitManagers: ["kubectl-create"] })
          ),
        });
        const key = `shop/${metadata.uid}`;
        const witness = 200 + 100 * (1 + cases % 2);
        scene.want("witness", witness);
        await scene.pass(5000);
        for (const written of writes) {
          if (overwrite(scene, key, written)) taken++;
          const { containers: before } = scene.pod(name);
          await scene.pass(5000);
          const { originalLimits, bounds } = allocations.get(key)?.status ?? {};
          // Whatever was written, the pod has its original limits itself.
          if (originalLimits !== undefined) assert.deepEqual(originalLimits, OWN);
          for (const [index, container] of scene.pod(name).containers.entries()) {
            const { requests: { cpu: requestCPU = 0 }, limits: { cpu: limitCPU = 0 } } = container;
            assert.ok(limitCPU >= requestCPU && limitCPU <= 3600, `it has ${limitCPU}m`);
            const present = before[index]?.limits.cpu;
            const { floor = present, ceiling = present } = bounds?.containers.find((one) =>
              one.name === container.name
            ) ?? {};
            assert.ok(floor !== undefined && ceiling !== undefined);
            assert.ok(
              limitCPU >= floor && limitCPU <= ceiling,
              `${limitCPU}m: ${floor} ${ceiling}`,
            );
            if (limitCPU !== 200) moved++;
          }
        }
        assert.deepEqual(failures(), []);
        assert.equal(scene.limits("witness").applied, witness);
        scene.api.store.tables.Pod.remove(`shop/${name}`);
        await scene.pass(3000);
      }),
    );
    // Otherwise nothing was tried.
    assert.ok(taken > cases && moved > cases / 3, `${taken}, ${moved} of ${cases}`);
  },
);
