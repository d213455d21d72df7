import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Desired,
  type PodAllocation,
  podAllocationSchema,
} from "../shared/api/pod_allocation.ts";
import { silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../tests/contract/support/sample_objects.ts";
import {
  boundedAllocation,
  sampleID,
  sampleReading,
} from "../tests/fixtures/market/sample_participants.ts";
import { runNodeLoop } from "./loop.ts";

const wrongNumber = fc.oneof(
  fc.constantFrom(0, 50, -1, 0.5, NaN, Infinity, -Infinity, Number.MAX_VALUE, 5e-324, 2 ** 53),
  fc.double(),
  fc.integer({ min: 0, max: 3000 }),
);
const amount = wrongNumber.filter((number) => number >= 0 && number < Infinity);
const whole = amount.filter(Number.isSafeInteger);
const wrongText = fc.oneof(
  fc.constantFrom("0", "100m", "0.0001", ".5", "1n", "99999999999999k"),
  fc.integer({ min: 0 }).map(String),
);
const name = fc.constantFrom("app", "side");
/** Mostly right: a single wrong field must not hide behind another one. */
function mostly<T>(right: T, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: wrong });
}
const garbageBounds = fc.record({
  name,
  containerID: mostly(
    `containerd://${sampleID("bad")}`,
    fc.oneof(fc.constantFrom("containerd://", "containerd://zz"), fc.string({ minLength: 1 })),
  ),
  floor: mostly(100, whole),
  ceiling: mostly(2000, whole),
  weight: mostly(100, amount.filter((number) => number > 0)),
  held: fc.constantFrom(undefined, "lower" as const, "both" as const),
});
const limits = fc.array(fc.record({ name, cpuLimit: mostly("500m", wrongText) }), { maxLength: 3 });
const originals = fc.array(
  fc.record({ name, cpu: mostly("500m", wrongText) }, { requiredKeys: ["name"] }),
  {
    maxLength: 3,
  },
);
const market = fc.record({
  mode: fc.constantFrom("congested" as const, "overloaded" as const),
  price: amount,
  demand: amount,
  need: amount,
  credit: amount,
  reason: fc.constant("Throttled" as const),
  observedBounds: whole,
});

/** An allocation that its schema admits and that holds what it should not, parts of it missing. */
const garbage: fc.Arbitrary<PodAllocation> = fc.record({
  pod: fc.constantFrom("bad", "worse", "a", "z"),
  spec: fc.record({ containers: limits, market, desiredCPULimit: wrongText }, { requiredKeys: [] }),
  status: fc.record({
    bounds: fc.record({
      revision: whole,
      reason: fc.constant(""),
      containers: fc.array(garbageBounds, { minLength: 1, maxLength: 2 }),
    }),
    originalLimits: originals,
  }, { requiredKeys: [] }),
}).map(({ pod, spec, status }) => boundedAllocation(pod, { spec, status } as object))
  .filter((allocation) => podAllocationSchema.safeParse(allocation).success);

/** Runs the loop over these allocations for ten seconds; what was written last, by pod. */
async function runOver(all: readonly PodAllocation[]): Promise<Map<string, Desired>> {
  const clock = createVirtualClock({ wallStart: 0 });
  const written = new Map<string, Desired>();
  const abort = new AbortController();
  const ended = runNodeLoop(
    {
      allocations: { all: () => all, synced: true },
      sample: (at) => {
        const samples = ["good", "bad"].map((pod) =>
          sampleReading(pod, { at, usage: 500, throttledMsPerS: 400, throttledPeriods: 2 })
        );
        const containers = new Map(samples.map((sample) => [sample.containerID, sample]));
        return { at, containers, unmanaged: 0 };
      },
      writer: {
        writeDesired: (allocation, desired) => {
          written.set(allocation.name, desired);
          return Promise.resolve("2");
        },
      },
      link: { node: () => Promise.resolve(sampleNode("n")), renewLease: () => Promise.resolve() },
      clock,
      random: seededRandom(1),
      log: silentLog,
    },
    abort.signal,
  );
  await clock.runUntil(10_000);
  abort.abort();
  await clock.runUntil(20_000);
  await ended;
  return written;
}

pure("runNodeLoop() survives garbage in allocations, and the others go on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(garbage, { maxLength: 4 }), async (bad) => {
      const written = await runOver([...bad, boundedAllocation("good")]);
      assert.equal(written.get("good")?.market?.observedBounds, 1);
    }),
  );
});
