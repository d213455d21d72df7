import assert from "node:assert/strict";
import fc from "fast-check";
import { autoPolicy, MI } from "../../../tests/fixtures/rightsizing_facts.ts";
import { liftMemory } from "./lift_memory.ts";
import { leastSafeMemory, steppedMemory } from "./memory_decrease.ts";
import type { ResourcePair } from "./wanted_resources.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

interface Choice {
  readonly peak?: number;
  readonly own?: ResourcePair;
  readonly percent?: number;
  readonly max?: number;
}

/** What becomes of the pair; by default with a peak of 100 Mi, for which 115 Mi are safe. */
function lifted(
  pair: ResourcePair,
  { peak = 100 * MI, own = {}, percent = 10, max = 2 ** 40 }: Choice = {},
): ResourcePair {
  const bounds = { cpu: { min: 1, max: 1000 }, memory: { min: 1, max } };
  const { request, limit } = own;
  return liftMemory({ container: "app", resource: "memory", pair }, {
    peak,
    author: {
      ...(request === undefined ? {} : { requestMemory: request }),
      ...(limit === undefined ? {} : { limitMemory: limit }),
    },
    policy: autoPolicy({ changeThresholdPercent: percent }, { bounds }),
  }).pair;
}

const PLENTY = { request: 1024 * MI, limit: 2048 * MI };

test("liftMemory() goes by the threshold beyond what is safe, with request and limit at once", () => {
  const safe = { request: 115 * MI, limit: 115 * MI };
  assert.deepEqual(lifted(safe, { own: PLENTY }), safe);
  const both = { request: 126.5 * MI, limit: 126.5 * MI };
  assert.deepEqual(lifted({ request: 114 * MI, limit: 120 * MI }, { own: PLENTY }), both);
  assert.deepEqual(lifted({ request: 114 * MI, limit: 114 * MI }, { own: PLENTY }), both);
  const wide = { request: 114 * MI, limit: 200 * MI };
  assert.deepEqual(lifted(wide, { own: PLENTY }), { request: 126.5 * MI, limit: 200 * MI });
  assert.deepEqual(lifted({ request: 114 * MI }, { own: PLENTY, percent: 100 }), {
    request: 230 * MI,
  });
  assert.deepEqual(lifted({ request: 114 * MI }, { own: PLENTY, percent: 0 }), {
    request: steppedMemory(100 * MI, autoPolicy({ changeThresholdPercent: 5 })),
  });
});

test("liftMemory() goes no further than the author has, and not beyond the bounds for the step", () => {
  const low = { request: 80 * MI, limit: 90 * MI };
  const own = { request: 100 * MI, limit: 120 * MI };
  assert.deepEqual(lifted(low, { own }), own);
  assert.deepEqual(lifted(low, { own: { request: 64 * MI, limit: 85 * MI } }), low);
  const open = { request: 80 * MI, limit: 126.5 * MI };
  assert.deepEqual(lifted(low, { own: {} }), open, "no limit of the author's bounds none");
  const within = { request: 120 * MI, limit: 120 * MI };
  assert.deepEqual(lifted(low, { own: PLENTY, max: 120 * MI }), within);
  const safety = { request: 126.5 * MI, limit: 126.5 * MI };
  assert.deepEqual(lifted(low, { own: PLENTY, max: 110 * MI }), safety);
});

test("liftMemory() leaves CPU alone, and memory whose peak is not known", () => {
  const { updateStrategy, bounds } = autoPolicy();
  const facts = { author: {}, policy: { updateStrategy, bounds } };
  const cpu = { container: "app", resource: "cpu", pair: { request: 10 } } as const;
  assert.equal(liftMemory(cpu, { ...facts, peak: 100 * MI }), cpu);
  const memory = { ...cpu, resource: "memory" } as const;
  assert.equal(liftMemory(memory, { ...facts, peak: undefined }), memory);
});

const amount = fc.integer({ min: MI, max: 4096 * MI });
const wholePair = fc.tuple(amount, amount).map(([one, other]) => ({
  request: Math.min(one, other),
  limit: Math.max(one, other),
}));

test("liftMemory() is safe as far as the author allows, and lasts until a peak has grown by a step", () => {
  fc.assert(
    fc.property(
      fc.record({
        first: wholePair,
        own: wholePair,
        percent: fc.integer({ min: 0, max: 100 }),
        max: fc.oneof(amount, fc.constant(2 ** 40)),
        // A leak, noise, or both: each peak is some thousandths more or less than the one before.
        from: amount,
        moves: fc.oneof(
          fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 50, maxLength: 200 }),
          fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 50, maxLength: 200 }),
        ),
      }),
      ({ first, own, percent, max, from, moves }) => {
        let peak = from;
        let value: ResourcePair = first;
        const seen = [from];
        let changes = 0;
        for (const thousandths of moves) {
          peak = Math.ceil(peak * (1000 + thousandths) / 1000);
          seen.push(peak);
          const next = lifted(value, { peak, own, percent, max });
          for (const side of ["request", "limit"] as const) {
            const [was = 0, is = 0] = [value[side], next[side]];
            assert.ok(is >= was && is >= Math.min(leastSafeMemory(peak), own[side]));
            assert.ok(is === was || is <= own[side], "the author has said how much");
          }
          assert.ok((next.request ?? 0) <= (next.limit ?? 0));
          if (next.request !== value.request || next.limit !== value.limit) changes++;
          value = next;
        }
        const steps = Math.log(Math.max(...seen) / Math.min(...seen)) /
          Math.log1p(Math.max(percent, 5) / 100);
        // One more where the first is only up to the bounds, or a limit is all that is left to lift.
        assert.ok(changes <= Math.floor(steps) + 2, `${changes} of ${steps}`);
      },
    ),
  );
});
