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
import { sampleContainer } from "../contract/sample_objects.ts";
import { mutatedJSON } from "../fixtures/mutated_json.ts";
import { RAW_OBJECTS } from "../fixtures/raw_objects.ts";
import { type ControllerScene, sceneTest } from "./controller_scene.ts";
import { createFailureLog } from "./failure_log.ts";

const { spec: { market }, status: whole } = RAW_OBJECTS.PodAllocation;
// The scene looks whether applied values are the kubelet's.
const { containers: _applied, appliedCPULimit: _total, ...status } = whole;

/** Values of desired limits, from nothing to more than all numbers. */
const LIMIT = fc.oneof(
  fc.nat({ max: 10_000 }).map((millicores) => `${millicores}m`),
  fc.constantFrom("0", "0.0001", "1n", "9999999999999999999", "99999999999999k", ".5", "4000000"),
);

const SPEC = fc.record({
  containers: fc.array(
    fc.record({
      name: fc.constantFrom("app", "app", "proxy", "nobody"),
      cpuLimit: LIMIT,
    }),
    { minLength: 1, maxLength: 3 },
  ),
  desiredCPULimit: LIMIT,
  market: fc.oneof(mutatedJSON(market), fc.constant(market), fc.constant(undefined)),
}, { requiredKeys: [] });

const STATUS = fc.oneof(mutatedJSON(status), fc.constant({}), fc.constant(undefined));

/** What is written over the halves of an allocation; members that are left out stay. */
const WRITTEN: fc.Arbitrary<object> = fc.oneof(
  { weight: 3, arbitrary: SPEC.map((spec) => ({ spec: { market, ...spec } })) },
  { weight: 1, arbitrary: STATUS.map((one) => ({ status: one })) },
  { weight: 1, arbitrary: fc.record({ spec: SPEC, status: STATUS }) },
);

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
    let cases = 0;
    let taken = 0;
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(WRITTEN, { minLength: 1, maxLength: 3 }), async (writes) => {
        const name = `fuzzed-${++cases}`;
        const { metadata } = scene.createPod(name, {
          containers: [sampleContainer(), sampleContainer({ name: "proxy" })],
        });
        const witness = 200 + 100 * (1 + cases % 2);
        scene.want("witness", witness);
        await scene.pass(5000);
        for (const written of writes) {
          if (overwrite(scene, `shop/${metadata.uid}`, written)) taken++;
          await scene.pass(5000);
          for (
            const { name, requestCPU = 0, limitCPU = 0 } of scene.pod(`fuzzed-${cases}`).containers
          ) {
            assert.ok(limitCPU >= requestCPU && limitCPU <= 3600, `${name} has ${limitCPU}m`);
            if (limitCPU !== 200) moved++;
          }
        }
        assert.deepEqual(failures(), []);
        assert.equal(scene.limits("witness").applied, witness);
        scene.api.store.tables.Pod.remove(`shop/${name}`);
        await scene.pass(3000);
      }),
      { numRuns: 150 },
    );
    // Otherwise nothing was tried.
    assert.ok(taken > cases && moved > cases / 2, `${taken} taken, ${moved} moved of ${cases}`);
  },
);
