import assert from "node:assert/strict";
import fc from "fast-check";
import {
  asking,
  asks,
  assertDecisions,
  autoPolicy,
  LIMITS,
  MI,
  sized,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { pair, type ResourcePair } from "../../resize/inputs/resources.ts";
import { leastSafeMemory, liftMemory, safeMemory, steppedMemory } from "./memory_decrease.ts";

const peaks = (app: number, log = 0) => ({
  memoryPeaks: new Map([["app", app * MI], ["log", log * MI]]),
});

pure("unsafeMemoryDecrease() lowers to the recent peak + 15 %", () => {
  const less = asks(100, 46);
  const tall = {
    containers: [sized([100, 128], [200, 1024])],
    ...asks(100, 240, { cpuLimit: 200, memoryLimit: 264 }),
    strategy: LIMITS,
  };
  const large = {
    containers: [sized([100, 4096], [200, 4096])],
    ...asks(100, 1018, { cpuLimit: 200, memoryLimit: 1119 }),
    ...peaks(1060),
  };
  const guaranteed = {
    ...large,
    containers: [sized([100, 4096], [100, 4096])],
    ...asks(100, 1018, { cpuLimit: 100, memoryLimit: 1119 }),
    strategy: LIMITS,
  };
  const log = templateContainer({ name: "log" });
  const two = {
    containers: [templateContainer(), log],
    recommendations: [asking(150, 46), asking(150, 46, { container: "log" })],
  };
  const unsafe = "UnsafeMemoryDecrease";
  assertDecisions([
    [{ ...less, ...peaks(40) }, "InPlace: app memory 46Mi - BelowThreshold"],
    [{ ...less, ...peaks(40.5) }, `InPlace: app memory 48837428 - ${unsafe} - BelowThreshold`],
    [{ ...less, ...peaks(60) }, `${unsafe} - ${unsafe}`],
    [{ ...less, memoryPeaks: new Map() }, `${unsafe} - ${unsafe}`],
    [
      { ...tall, ...peaks(300) },
      `InPlace: app memory 240Mi (limit 345Mi) - ${unsafe} - BelowThreshold`,
    ],
    // A limit where there was none lowers it, too; what is not known is not guessed.
    [
      { ...tall, containers: [sized([100, 128], [200])], ...peaks(300) },
      `InPlace: app memory 240Mi (limit 345Mi) - ${unsafe} - BelowThreshold`,
    ],
    [{ ...tall, memoryPeaks: new Map() }, `InPlace: app memory 240Mi - ${unsafe} - BelowThreshold`],
    [peaks(4000), "InPlace: app cpu 150m, app memory 96Mi"],
    [large, `InPlace: app memory 1219Mi - ${unsafe} - BelowThreshold`],
    // The limit keeps its ratio to the request.
    [
      { ...large, strategy: LIMITS },
      `InPlace: app memory 1219Mi (limit 1405031067) - ${unsafe} - BelowThreshold`,
    ],
    [
      guaranteed,
      `InPlace: app memory 1219Mi (limit 1219Mi) - QoSWouldChange - ${unsafe} - BelowThreshold`,
    ],
    [
      { ...two, ...peaks(60, 20) },
      `InPlace: app cpu 150m, log cpu 150m, log memory 46Mi - ${unsafe}`,
    ],
    // The safe value is more than a new pod's limit, which stays: two guards that pull to and fro.
    [
      {
        ...asks(150, 100),
        ...peaks(200),
        pods: [workloadPod("web-1", [sized([100, 512], [200, 512])])],
      },
      `InPlace: app cpu 150m - ${unsafe} - RequestAboveLimit`,
    ],
  ]);
});

const bytes = fc.option(fc.oneof(fc.constant(0), fc.nat(2 ** 33)), { nil: undefined });

pure("safeMemory() gives whole numbers at least as large as asked, also for a request of 0", () => {
  const anyPair = fc.tuple(bytes, bytes).map(([request, limit]) =>
    pair(request, limit === undefined ? undefined : Math.max(limit, request ?? 0))
  );
  const drawn = [anyPair, anyPair, bytes, fc.nat(30)] as const;
  fc.assert(fc.property(...drawn, (asked, had, peak, thresholdPercent) => {
    const safe = safeMemory(asked, { present: [had], peak, thresholdPercent });
    for (const side of ["request", "limit"] as const) {
      const value = safe[side];
      if (value === undefined) continue;
      assert.ok(Number.isSafeInteger(value) && value >= (asked[side] ?? 0), `${side}: ${value}`);
    }
  }));
});

interface Choice {
  readonly peak?: number;
  readonly own?: ResourcePair;
  readonly percent?: number;
  readonly max?: number;
}

/** What becomes of the pair, in Mi as all values; 115 are safe beside a peak of 100. */
function lifted(
  { request, limit }: ResourcePair,
  { peak = 100, own = {}, percent = 10, max = 2 ** 20 }: Choice = {},
): ResourcePair {
  const mebi = (value: number | undefined) => value === undefined ? undefined : value * MI;
  const asked = pair(mebi(request), mebi(limit));
  const side = (value: number | undefined) => value === undefined ? {} : { memory: value * MI };
  const bounds = { cpu: { min: 1, max: 1000 }, memory: { min: 1, max: max * MI } };
  const next = liftMemory({ container: "app", resource: "memory", pair: asked }, {
    peak: peak * MI,
    author: { requests: side(own.request), limits: side(own.limit) },
    policy: autoPolicy({ changeThresholdPercent: percent }, { bounds }),
  }).pair;
  return pair(next.request && next.request / MI, next.limit && next.limit / MI);
}

pure("liftMemory() goes a threshold beyond what is safe, within bounds", () => {
  const plenty = { own: { request: 1024, limit: 2048 } };
  const own = { request: 100, limit: 120 };
  const low = { request: 80, limit: 90 };
  const five = steppedMemory(100 * MI, autoPolicy({ changeThresholdPercent: 5 })) / MI;
  const rows: readonly (readonly [ResourcePair, Choice, ResourcePair])[] = [
    [{ request: 115, limit: 115 }, plenty, { request: 115, limit: 115 }],
    [{ request: 114, limit: 120 }, plenty, { request: 126.5, limit: 126.5 }],
    [{ request: 114, limit: 114 }, plenty, { request: 126.5, limit: 126.5 }],
    [{ request: 114, limit: 200 }, plenty, { request: 126.5, limit: 200 }],
    [{ request: 114 }, { ...plenty, percent: 100 }, { request: 230 }],
    [{ request: 114 }, { ...plenty, percent: 0 }, { request: five }],
    [low, { own }, own],
    [low, { own: { request: 64, limit: 85 } }, low],
    [low, {}, { request: 80, limit: 126.5 }],
    [low, { ...plenty, max: 120 }, { request: 120, limit: 120 }],
    [low, { ...plenty, max: 110 }, { request: 126.5, limit: 126.5 }],
  ];
  for (const [from, choice, to] of rows) {
    assert.deepEqual(lifted(from, choice), to, JSON.stringify([from, choice]));
  }
  const facts = { author: sized([1, 1024]), policy: autoPolicy() };
  const cpu = { container: "app", resource: "cpu", pair: { request: 10 } } as const;
  assert.equal(liftMemory(cpu, { ...facts, peak: 100 * MI }), cpu);
  const memory = { ...cpu, resource: "memory" } as const;
  assert.equal(liftMemory(memory, { ...facts, peak: undefined }), memory);
});

const amount = fc.integer({ min: 1, max: 4096 });
const wholePair = fc.tuple(amount, amount).map(([one, other]) => ({
  request: Math.min(one, other),
  limit: Math.max(one, other),
}));

pure("liftMemory() is safe, and lasts until a peak has grown by a step", () => {
  const drawn = fc.record({
    first: wholePair,
    own: wholePair,
    percent: fc.integer({ min: 0, max: 100 }),
    max: fc.oneof(amount, fc.constant(2 ** 20)),
    // A leak, noise, or both: each peak is some thousandths more or less than the one before.
    from: amount,
    moves: fc.oneof(
      fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 50, maxLength: 200 }),
      fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 50, maxLength: 200 }),
    ),
  });
  fc.assert(fc.property(drawn, ({ first, own, percent, max, from, moves }) => {
    let peak = from;
    let value: ResourcePair = first;
    const seen = [from];
    let changes = 0;
    for (const thousandths of moves) {
      peak = Math.ceil(peak * MI * (1000 + thousandths) / 1000) / MI;
      seen.push(peak);
      const next = lifted(value, { peak, own, percent, max });
      for (const side of ["request", "limit"] as const) {
        const [was = 0, is = 0] = [value[side], next[side]];
        assert.ok(is >= was && is >= Math.min(leastSafeMemory(peak * MI) / MI, own[side]));
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
  }));
});
