import assert from "node:assert/strict";
import fc from "fast-check";
import { mergeChanges } from "./merge_changes.ts";
import type { LimitChange, ResourceChange } from "./resize_patch.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const app = { name: "app", sidecar: false };
const proxy = { name: "proxy", sidecar: true };

test("mergeChanges() leaves limits.cpu to the market and all else to rightsizing", () => {
  const market = [{ ...app, limitCPU: 400 }, { ...proxy, limitCPU: 90 }];
  const rightsizing = [{ ...app, requestCPU: 120, requestMemory: 64, limitMemory: 80 }];
  assert.deepEqual(mergeChanges({ market, rightsizing }), [
    { ...app, requestCPU: 120, requestMemory: 64, limitMemory: 80, limitCPU: 400 },
    { ...proxy, limitCPU: 90 },
  ]);
  const own = [{ ...app, limitCPU: 700 }];
  assert.deepEqual(mergeChanges({ market: [], rightsizing: own }), own);
  assert.deepEqual(mergeChanges({ market: [{ ...app, limitCPU: 400 }], rightsizing: own }), [
    { ...app, limitCPU: 400 },
  ]);
});

test("mergeChanges() lets no limit fall below the new request, and keeps a request that moves", () => {
  const rightsizing = [{ ...app, requestCPU: 150 }];
  assert.deepEqual(mergeChanges({ market: [{ ...app, limitCPU: 120 }], rightsizing }), [
    { ...app, requestCPU: 150, limitCPU: 150 },
  ]);
  const moving = [{ ...app, limitCPU: 120, requestCPU: 120 }];
  assert.deepEqual(mergeChanges({ market: moving, rightsizing }), moving);
});

test("mergeChanges() has each container once, whatever both want, and no request above its limit", () => {
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
  const amount = fc.integer({ min: 1, max: 4000 });
  const lists = fc.tuple(names, names, fc.array(amount, { minLength: 8, maxLength: 8 }));
  fc.assert(fc.property(lists, ([limited, requested, amounts]) => {
    const sidecar = false;
    const market = limited.map((name, index): LimitChange => ({
      name,
      sidecar,
      limitCPU: amounts[index] as number,
    }));
    const rightsizing = requested.map((name, index): ResourceChange => ({
      name,
      sidecar,
      requestCPU: amounts[4 + index] as number,
    }));
    const merged = mergeChanges({ market, rightsizing });
    assert.deepEqual(
      merged.map(({ name }) => name).sort(),
      [...new Set([...limited, ...requested])].sort(),
    );
    for (const { requestCPU = 0, limitCPU = Infinity } of merged) {
      assert.ok(requestCPU <= limitCPU);
    }
  }));
});
