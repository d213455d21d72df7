import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { autoPolicy, MI } from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import { amountText, truncatedProduct } from "./amounts.ts";
import { type ContainerUsage, samplesDistribution } from "./distribution.ts";
import type { Percentile, PolicySpec } from "./policy_spec.ts";
import {
  bytesBeforeOOM,
  type ContainerRecommendation,
  type Corrections,
  recommend,
  recommendWorkload,
} from "./recommend.ts";

const WIDE = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;
const FREE = { bounds: { cpu: WIDE, memory: WIDE } } as const;
const BOUNDS = { cpu: { min: 50, max: 2000 }, memory: { min: 64 * MI, max: 1024 * MI } };
const TIMES = { oldestMs: 1, newestMs: 1 };

type Fields = Partial<PolicySpec> & {
  readonly strategy?: Parameters<typeof autoPolicy>[0];
  readonly corrections?: Corrections;
};

function usage(cpu: readonly number[], memory: readonly number[]): ContainerUsage {
  const [ofCPU, ofMemory] = [cpu, memory].map((all) =>
    samplesDistribution(Float64Array.from(all), TIMES)
  );
  return { container: "app", cpu: ofCPU!, memory: ofMemory! };
}

/** By default P90 × 1.2 within 50 m to 2 and 64 Mi to 1024 Mi. */
function recommended(
  of: ContainerUsage,
  { strategy, corrections = {}, ...fields }: Fields = {},
): ContainerRecommendation {
  const policy = autoPolicy(strategy, { minSamples: 1, bounds: BOUNDS, ...fields });
  return recommend(of, { policy, corrections }) ?? assert.fail("nothing is recommended");
}

function requestsFor(
  cpu: readonly number[],
  memory: readonly number[],
  fields: Fields = {},
): unknown {
  const found = recommended(usage(cpu, memory.map((one) => one * MI)), fields);
  return [found.cpu, found.memory / MI];
}

const cpuValues = fc.array(fc.nat({ max: 64_000 }), { minLength: 1, maxLength: 60 });
const memoryValues = fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1, maxLength: 60 });
const percentile = fc.constantFrom<Percentile>("P50", "P90", "P95", "P99");
/** Hundredths, as people write them. */
const factor = fc.integer({ min: 100, max: 1000 }).map((hundredths) => hundredths / 100);
const bound = (most: number) =>
  fc.tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 1, max: most }))
    .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
const bounds = fc.record({ cpu: bound(100_000), memory: bound(2 ** 41) });
const share = fc.nat({ max: 1000 }).map((thousandths) => thousandths / 1000);
const corrections = fc.record({
  oomKills: fc.array(fc.record({ hadBytes: fc.nat({ max: 2 ** 38 }) }), { maxLength: 2 }),
  throttling: fc.record({ share, demand: fc.nat({ max: 64_000 }) }),
});

pure("recommend() makes 336m of [100,200,300] and 88617123 of 73847603 with P90 and 1.2", () => {
  const { explanation: _text, ...values } = recommended(
    usage([100, 200, 300], [73_847_603, 73_847_603]),
  );
  assert.deepEqual(values, { container: "app", cpu: 336, memory: 88_617_123 });
  const percentiles = (["P50", "P90", "P95", "P99"] as const).map((one) =>
    recommended(usage([100, 200, 300], [1]), { percentile: one, safetyFactor: 1 }).cpu
  );
  assert.deepEqual(percentiles, [200, 280, 290, 298]);
});

forAll("property 4: recommend() stays within bounds, and moves nothing inside", [
  cpuValues,
  memoryValues,
  fc.record({ percentile, safetyFactor: factor, corrections }),
  bounds,
], (cpu, memory, base, within) => {
  const of = usage(cpu, memory);
  const [bounded, free] = [{ bounds: within }, FREE].map((one) =>
    recommended(of, { ...base, ...one })
  );
  for (const resource of ["cpu", "memory"] as const) {
    const { min, max } = within[resource];
    const [found = NaN, before = NaN] = [bounded?.[resource], free?.[resource]];
    assert.equal(found, Math.min(max, Math.max(min, before)));
    const text = resource === "cpu" ? parseCPU(formatCPU(found)) : parseBytes(formatBytes(found));
    assert.equal(text, found, "it is whole, and reads back");
  }
}, 1);

const SHARES = { P50: 50n, P90: 90n, P95: 95n, P99: 99n } as const;

forAll("property 14: recommend() is percentile × factor before clamping, within a unit", [
  cpuValues,
  memoryValues,
  percentile,
  factor,
], (cpu, memory, which, safetyFactor) => {
  const found = recommended(usage(cpu, memory), { ...FREE, percentile: which, safetyFactor });
  for (const [values, amount] of [[cpu, found.cpu], [memory, found.memory]] as const) {
    // In whole numbers: the percentile in hundredths, the product in ten-thousandths.
    const ordered = values.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
    const rank = SHARES[which] * BigInt(values.length - 1);
    const low = ordered[Number(rank / 100n)]!;
    const high = ordered[Number(rank / 100n) + 1] ?? low;
    const hundredths = BigInt(Math.round(safetyFactor * 100));
    const exact = (100n * low + (high - low) * (rank % 100n)) * hundredths / 10_000n;
    assert.ok(Math.abs(amount - Number(exact)) <= 1, `${amount} for ${exact}`);
  }
}, 1);

pure("recommend() makes limits of requests, never below them", () => {
  const of = usage([100], [100 * MI]);
  const plain = recommended(of);
  assert.ok(!("cpuLimit" in plain) && !("memoryLimit" in plain));
  const limited = (cpu: number, memory: number) => {
    const strategy = { updateRequestsOnly: false, limitMultipliers: { cpu, memory } };
    const { cpuLimit, memoryLimit = 0 } = recommended(of, { strategy });
    return [cpuLimit, memoryLimit / MI];
  };
  assert.deepEqual([limited(1, 1.1), limited(0.5, 0.9)], [[120, 132], [120, 120]]);
});

pure("recommend() needs minSamples of each resource, and one where a policy asks for none", () => {
  const ten = Array.from({ length: 10 }, () => 100);
  const of = (cpu: readonly number[], memory: readonly number[], minSamples: number) =>
    recommend(usage(cpu, memory), { policy: autoPolicy({}, { minSamples }) }) !== undefined;
  const found = [of(ten, ten.slice(3), 10), of([], ten, 10), of(ten, ten, 10)];
  assert.deepEqual([...found, of([], [], 0), of([1], [1], 0)], [false, false, true, false, true]);
});

pure("recommend() raises memory after a kill by a fifth or 100 Mi, within the bounds", () => {
  const killed = (used: number, ...hadMebi: readonly number[]) => {
    const oomKills = hadMebi.map((one) => ({ hadBytes: one * MI }));
    return requestsFor([100], [used], { corrections: { oomKills } });
  };
  const rows = [
    [killed(200), 240],
    [killed(200, 200, 256, 100), 356],
    [killed(200, 1000), 1024],
    // It has more already.
    [killed(200, 100), 240],
    [killed(200, 140), 240],
    [killed(100, 500), 600],
    [killed(100, 800), 960],
  ] as const;
  for (const [found, memory] of rows) assert.deepEqual(found, [120, memory]);
  const unlimited = (hadMebi: number, used: readonly number[]) =>
    requestsFor([100], used, {
      safetyFactor: 1,
      percentile: "P50",
      corrections: { oomKills: [{ hadBytes: hadMebi * MI, unlimited: true }] },
    });
  // A container without a limit had its largest sample, or its request where that is more.
  assert.deepEqual(unlimited(64, [100, 400, 200]), [100, 500]);
  assert.deepEqual(unlimited(500, [100, 400, 200]), [100, 600]);
  // Without usage there is nothing to raise.
  assert.deepEqual(unlimited(0, [0]), [100, 64]);
});

pure("recommend() ends kills that repeat, and bytesBeforeOOM() finds back what was raised", () => {
  const after = (hadBytes: number) =>
    recommended(usage([1], [0]), { ...FREE, corrections: { oomKills: [{ hadBytes }] } }).memory;
  let [hadBytes, kills] = [10 * MI, 0];
  while (hadBytes < 3000 * MI && kills < 100) {
    hadBytes = after(hadBytes);
    kills++;
  }
  // Five of 100Mi to 510Mi, then ten of a fifth: 510 × 1.2^10 = 3158.
  assert.equal(kills, 15);
  fc.assert(fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (had) => {
    const raise = after(had) - had;
    assert.ok(Number.isInteger(raise) && raise >= 100 * MI && raise >= had / 5 - 1);
    assert.ok(raise === 100 * MI || raise <= had / 5);
    const before = bytesBeforeOOM(after(had));
    assert.ok(before === had || before === had - 1, `${before}`);
  }));
  assert.ok(bytesBeforeOOM(64 * MI) < 0);
});

/** At a limit of 200 m for a fifth of the time. */
const CUT = [50, 60, 70, 80, 90, 100, 110, 120, 200, 200, 200];

pure("recommend() raises throttled CPU to the demand, or by the share", () => {
  const of = (which: Percentile, share: number, demand?: number) => {
    const throttling = { share, ...(demand === undefined ? {} : { demand }) };
    return requestsFor(CUT, [100], { percentile: which, corrections: { throttling } });
  };
  const rows = [
    [of("P90", 0.2, 700), 840],
    // Just in what was cut off, and below it.
    [of("P90", 0.1, 700), 840],
    [of("P90", 0.05, 700), 240],
    [of("P50", 0.2, 700), 120],
    [of("P90", 0.25), 300],
    [of("P90", 1), 480],
    [of("P90", 0, 9000), 240],
    [of("P90", 0.5, 10), 240],
  ] as const;
  for (const [found, cpu] of rows) assert.deepEqual(found, [cpu, 120]);
});

forAll("property 13: throttling keeps percentiles in order, and lowers none", [
  cpuValues,
  share,
  fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }),
], (drawn, throttled, demand) => {
  const throttling = { share: throttled, ...(demand === undefined ? {} : { demand }) };
  const ranks = (corrections: Corrections) =>
    (["P50", "P90", "P95", "P99"] as const).map((percentile) =>
      recommended(usage(drawn, [1]), { ...FREE, percentile, safetyFactor: 1, corrections }).cpu
    );
  const [before, after] = [ranks({}), ranks({ throttling })];
  assert.deepEqual(after, after.toSorted((a, b) => a - b));
  for (const [index, was] of before.entries()) {
    assert.ok(after[index]! >= was && after[index]! <= Math.max(2 * was + 1, demand ?? 0));
  }
}, 1);

pure("recommendWorkload() has each container with samples, in order", () => {
  const usageOf = (container: string, samples: number): ContainerUsage => {
    const values = (value: number) => Array.from({ length: samples }, () => value);
    return { ...usage(values(100), values(100 * MI)), container };
  };
  const found = recommendWorkload(["proxy", "fresh", "app", "few"], {
    usages: [usageOf("app", 5), usageOf("gone", 5), usageOf("proxy", 5), usageOf("few", 1)],
    policy: autoPolicy({}, { minSamples: 2 }),
    corrections: new Map([["proxy", { oomKills: [{ hadBytes: 128 * MI }] }]]),
  });
  assert.deepEqual(found.map(({ container, cpu, memory }) => [container, cpu, memory / MI]), [
    ["proxy", 120, 228],
    ["app", 120, 120],
  ]);
});

pure("amountText() writes CPU in millicores and memory in bytes or Mi", () => {
  const rows = [
    ["cpu", 250, "250m"],
    ["cpu", 2000, "2"],
    ["cpu", 3.781021962, "3.781m"],
    ["cpu", 279.9999999, "280m"],
    ["memory", 64 * 2 ** 20, "64Mi"],
    ["memory", 88_617_123, "88617123"],
    ["memory", 450_035_712.4, "450035712"],
  ] as const;
  for (const [resource, amount, text] of rows) assert.equal(amountText(resource, amount), text);
});

forAll("amountText() is a quantity that Kubernetes reads, and memory never has an m", [
  fc.oneof(
    fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000),
  ),
], (drawn) => {
  assert.doesNotThrow(() => parseCPU(amountText("cpu", drawn)));
  const text = amountText("memory", drawn);
  assert.match(text, /^\d+(Mi)?$/);
  assert.equal(parseBytes(text), Math.trunc(Math.min(drawn, Number.MAX_SAFE_INTEGER)));
});

pure("truncatedProduct() is no less than decimals would be", () => {
  assert.ok(100 * 1.15 < 115 && 1.001 * 1000 < 1001, "binary fractions");
  const rows = [
    [73_847_603, 1.2, 88_617_123],
    [100, 1.15, 115],
    [1.001 * 1000, 1, 1001],
    [280, 1.2, 336],
    [0, 10, 0],
    [0.9, 1, 0],
    [Number.MAX_SAFE_INTEGER, 10, Number.MAX_SAFE_INTEGER],
    [Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER],
  ] as const;
  for (const [value, factor, product] of rows) {
    assert.equal(truncatedProduct(value, factor), product, `${value} × ${factor}`);
  }
});

forAll("truncatedProduct() is exact for four decimals, one below at most for any", [
  fc.nat({ max: 2 ** 48 }),
  fc.integer({ min: 10_000, max: 100_000 }),
  fc.maxSafeNat().map((parts) => parts / 2 ** 13),
  fc.nat({ max: 9e6 }).map((millionths) => 1 + millionths / 1e6),
], (value, tenThousandths, amount, by) => {
  const exact = BigInt(value) * BigInt(tenThousandths) / 10_000n;
  assert.equal(truncatedProduct(value, tenThousandths / 10_000), Number(exact));
  const found = truncatedProduct(amount, by);
  // A millionth of the amount, times ten, is what its rounding may add.
  assert.ok(Number.isInteger(found) && found <= amount * by + 1e-2 && found > amount * by - 1.01);
});
