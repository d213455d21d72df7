import assert from "node:assert/strict";
import fc from "fast-check";
import { sampleQuota } from "../../../tests/contract/support/sample_objects.ts";
import { giveBack, quotaMissing } from "./give_back.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("quotaMissing() is what the quota lacks, by its own count or the pods', whichever is less", () => {
  const { hardLimitsCPU: _none, ...ofMemory } = sampleQuota();
  const of = (used: number, kept: number, one = sampleQuota()) =>
    quotaMissing(one, "limits", { used, kept });
  assert.equal(of(700, 200), 0);
  assert.equal(of(700, 350), 50);
  assert.equal(of(600, 350), 0);
  assert.equal(of(900, 350), 50);
  assert.equal(of(700, 350, sampleQuota({ hardLimitsCPU: 800 })), 250);
  assert.equal(of(9000, 9000, ofMemory), 0);
});

/** What each of these raises gives back of what is missing. */
function parts(missing: number, ...raises: readonly number[]): readonly number[] {
  const all = raises.reduce((sum, raise) => sum + raise, 0);
  return raises.map((own) => giveBack({ missing, own, all }));
}

test("giveBack() divides what is missing by the raises, in steps", () => {
  assert.deepEqual(parts(40, 100, 50), [30, 20]);
  assert.deepEqual(parts(1000, 100, 50), [100, 50]);
  assert.deepEqual([parts(0, 100), parts(-40, 100), parts(40, 0, 50)], [[0], [0], [0, 40]]);
});

test("giveBack() brings together what is missing, or all that was raised, and no more than a step each", () => {
  const raise = fc.integer({ min: 1, max: 4000 });
  fc.assert(
    fc.property(fc.array(raise, { minLength: 1, maxLength: 8 }), raise, (sizes, missing) => {
      const given = parts(missing, ...sizes);
      const sum = given.reduce((total, part) => total + part, 0);
      const all = sizes.reduce((total, size) => total + size, 0);
      assert.ok(sum >= Math.min(missing, all), `${sum} of ${missing}`);
      assert.ok(sum < missing + 10 * sizes.length + 1e-6);
      for (const [index, part] of given.entries()) {
        assert.ok(part >= 0 && part <= (sizes[index] ?? 0));
      }
    }),
  );
});
