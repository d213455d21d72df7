import { NO_RESOURCES } from "../../api/pod.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  autoPolicy,
  bareContainer,
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { ResourcePair } from "../../resize/inputs/resources.ts";
import { leastSafeMemory, liftMemory, safeMemory, steppedMemory } from "./memory_decrease.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const LIMITS = { updateRequestsOnly: false };
const less = [recommendation({ cpu: 100, memory: 46 * MI, memoryLimit: 92 * MI })];
const peaks = (mebibytes: number) => new Map([["app", mebibytes * MI]]);

test("leastSafeMemory() is the peak and 15 %, in whole bytes", () => {
  assert.equal(leastSafeMemory(40 * MI), 46 * MI);
  assert.equal(leastSafeMemory(1), 2);
});

test("unsafeMemoryDecrease() leaves what is below the recent peak + 15 % already, and lowers to above it", () => {
  assert.equal(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40) }),
    "InPlace: app memory 46Mi",
  );
  assert.match(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(40.5) }),
    /^InPlace: app memory 48837428$/,
  );
  assert.match(
    outcomeOf({ recommendations: less, memoryPeaks: peaks(60) }),
    /^UnsafeMemoryDecrease UnsafeMemoryDecrease: app to 46Mi: .* 60Mi, .* 69Mi$/,
  );
});

test("unsafeMemoryDecrease() lets a request rise while its limit would fall too far, and clamps the limit", () => {
  const given = {
    containers: [
      templateContainer({ requests: { memory: 128 * MI }, limits: { memory: 1024 * MI } }),
    ],
    recommendations: [
      recommendation({ cpu: 100, cpuLimit: 200, memory: 240 * MI, memoryLimit: 264 * MI }),
    ],
    memoryPeaks: peaks(300),
    strategy: LIMITS,
  };
  assert.equal(outcomeOf(given), "InPlace: app memory 240Mi (limit 345Mi)");
  assert.match(
    clampsOf(given)[0] ?? "",
    /^UnsafeMemoryDecrease .*: app to 264Mi: .* 300Mi, .* 345Mi$/,
  );
  // A limit where there was none lowers it, too; what is not known is not guessed.
  const open = [bareContainer("app", { requests: { memory: 128 * MI }, limits: {} })];
  assert.match(outcomeOf({ ...given, containers: open }), /app memory 240Mi \(limit 345Mi\)$/);
  const unknown = { ...given, memoryPeaks: new Map() };
  assert.equal(outcomeOf(unknown), "InPlace: app memory 240Mi");
  assert.match(outcomeOf({ memoryPeaks: peaks(4000) }), /^InPlace: app cpu 150m, app memory 96Mi/);
});

test("unsafeMemoryDecrease() lowers to what is safe, no further", () => {
  const given = {
    containers: [
      templateContainer({ requests: { memory: 4096 * MI }, limits: { memory: 4096 * MI } }),
    ],
    recommendations: [
      recommendation({ cpu: 100, cpuLimit: 200, memory: 1018 * MI, memoryLimit: 1119 * MI }),
    ],
    memoryPeaks: peaks(1060),
  };
  assert.equal(outcomeOf(given), "InPlace: app memory 1219Mi");
  assert.match(clampsOf(given)[0] ?? "", /^UnsafeMemoryDecrease .*app to 1018Mi: .*1219Mi$/);
  // The limit keeps its ratio to the request.
  assert.equal(
    outcomeOf({ ...given, strategy: LIMITS }),
    "InPlace: app memory 1219Mi (limit 1405031067)",
  );
  const guaranteed = [
    templateContainer({ requests: { memory: 4096 * MI }, limits: { cpu: 100, memory: 4096 * MI } }),
  ];
  const recommendations = [
    recommendation({ cpu: 100, cpuLimit: 100, memory: 1018 * MI, memoryLimit: 1119 * MI }),
  ];
  assert.equal(
    outcomeOf({ ...given, containers: guaranteed, recommendations, strategy: LIMITS }),
    "InPlace: app memory 1219Mi (limit 1219Mi)",
  );
});

test("unsafeMemoryDecrease() and another guard that pull to and fro leave the pair out, CPU goes on", () => {
  // The safe value is more than a new pod's limit, which stays.
  const given = {
    pods: [workloadPod("web-1", [
      templateContainer({ requests: { memory: 512 * MI }, limits: { memory: 512 * MI } }),
    ])],
    recommendations: [recommendation({ memory: 100 * MI })],
    memoryPeaks: peaks(200),
  };
  assert.equal(outcomeOf(given), "InPlace: app cpu 150m");
});

test("unsafeMemoryDecrease() takes no decrease for safe where the peak is not known", () => {
  const held = outcomeOf({ recommendations: less, memoryPeaks: new Map() });
  assert.match(held, /^UnsafeMemoryDecrease .*: app to 46Mi: .*not known$/);
});

test("unsafeMemoryDecrease() leaves other containers and CPU to go on", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const recommendations = [
    recommendation({ memory: 46 * MI }),
    recommendation({ container: "log", memory: 46 * MI }),
  ];
  const memoryPeaks = new Map([["app", 60 * MI], ["log", 20 * MI]]);
  const choice = { containers, recommendations, memoryPeaks };
  assert.equal(outcomeOf(choice), "InPlace: app cpu 150m, log cpu 150m, log memory 46Mi");
  assert.match(clampsOf(choice).join(), /UnsafeMemoryDecrease: app to 46Mi/);
});

test("safeMemory() gives whole numbers at least as large as asked, also for a request of 0", () => {
  const bytes = fc.option(fc.oneof(fc.constant(0), fc.nat(2 ** 33)), { nil: undefined });
  const pair = fc.record({ request: bytes, limit: bytes }).map(({ request, limit }) => ({
    ...(request === undefined ? {} : { request }),
    ...(limit === undefined ? {} : { limit: Math.max(limit, request ?? 0) }),
  }));
  fc.assert(fc.property(pair, pair, bytes, fc.nat(30), (asked, had, peak, thresholdPercent) => {
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
      requests: { ...(request === undefined ? {} : { memory: request }) },
      limits: { ...(limit === undefined ? {} : { memory: limit }) },
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

test("liftMemory() leaves CPU alone, and memory with an unknown peak", () => {
  const { updateStrategy, bounds } = autoPolicy();
  const facts = { author: NO_RESOURCES, policy: { updateStrategy, bounds } };
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
