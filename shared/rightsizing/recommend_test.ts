import fc from "fast-check";
import assert from "node:assert/strict";
import { formatBytes, formatCPU, parseBytes, parseCPU } from "../quantity.ts";
import { type ContainerUsage, distributionOfSamples } from "./distribution.ts";
import type { Percentile } from "./policy_spec.ts";
import {
  type ContainerRecommendation,
  type Corrections,
  recommend,
  type RecommendationRule,
  recommendWorkload,
} from "./recommend.ts";

const MEBI = 2 ** 20;
const DAY_MS = 86_400_000;
const WINDOW = { nowMs: 1_800_000_000_000, windowMs: DAY_MS } as const;
const WIDE = { min: 0, max: Number.MAX_SAFE_INTEGER } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function rule(fields: Partial<RecommendationRule> = {}): RecommendationRule {
  return {
    windowMs: DAY_MS,
    percentile: "P90",
    safetyFactor: 1.2,
    minSamples: 1,
    bounds: { cpu: { min: 50, max: 2000 }, memory: { min: 64 * MEBI, max: 1024 * MEBI } },
    updateStrategy: { updateRequestsOnly: true, limitMultipliers: { cpu: 1, memory: 1.1 } },
    ...fields,
  };
}

function usage(cpu: readonly number[], memory: readonly number[]): ContainerUsage {
  const samples = (values: readonly number[]) =>
    distributionOfSamples(values.map((value) => ({ atMs: WINDOW.nowMs, value })), WINDOW);
  return { container: "app", cpu: samples(cpu), memory: samples(memory) };
}

function recommended(
  of: ContainerUsage,
  by: RecommendationRule,
  { corrections }: { corrections?: Corrections } = {},
): ContainerRecommendation {
  const options = corrections === undefined ? { rule: by } : { rule: by, corrections };
  return recommend(of, options) ?? assert.fail();
}

const cpuValues = fc.array(fc.nat({ max: 64_000 }), { minLength: 1, maxLength: 60 });
const memoryValues = fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1, maxLength: 60 });
const percentile = fc.constantFrom<Percentile>("P50", "P90", "P95", "P99");
/** Hundredths, as people write them. */
const factor = fc.integer({ min: 100, max: 1000 });
const bound = (most: number) =>
  fc.tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 1, max: most }))
    .map(([a, b]) => ({ min: Math.min(a, b), max: Math.max(a, b) }));
const bounds = fc.record({ cpu: bound(100_000), memory: bound(2 ** 41) });
const corrections = fc.record({
  oomKills: fc.array(fc.record({ hadBytes: fc.nat({ max: 2 ** 38 }) }), { maxLength: 2 }),
  throttling: fc.record({
    share: fc.nat({ max: 1000 }).map((thousandths) => thousandths / 1000),
    demand: fc.nat({ max: 64_000 }),
  }),
});

pure("recommend() makes 336m of [100,200,300] and 88617123 of 73847603 with P90 and 1.2", () => {
  const { explanation, ...values } = recommended(
    usage([100, 200, 300], [73_847_603, 73_847_603]),
    rule(),
  );
  assert.deepEqual(values, { container: "app", cpu: 336, memory: 88_617_123 });
  assert.match(
    explanation,
    /CPU 336m: P90 of 3 .*24h .*280m, .* 1\.2 .*336m, .*50m to 2\. Memory 88617123: P90 of 2 .*73847603, .*1\.2 .*88617123, .*64Mi to 1024Mi$/,
  );
});

pure("recommend() explains which bound moved it", () => {
  const { cpu, memory, explanation } = recommended(usage([10], [2048 * MEBI]), rule());
  assert.deepEqual([cpu, memory], [50, 1024 * MEBI]);
  assert.match(explanation, /^CPU 50m: .* 12m, .*minimum .* 50m to 2\./);
  assert.match(explanation, /Memory 1024Mi: .*, .*maximum .* 64Mi to 1024Mi$/);
});

pure("property 4: recommend() stays within the bounds, and moves nothing that is inside", () => {
  const drawn = fc.tuple(cpuValues, memoryValues, percentile, factor);
  fc.assert(
    fc.property(
      drawn,
      bounds,
      corrections,
      ([cpu, memory, which, hundredths], within, corrected) => {
        const of = usage(cpu, memory);
        const base = { percentile: which, safetyFactor: hundredths / 100 };
        const bounded = recommended(of, rule({ ...base, bounds: within }), {
          corrections: corrected,
        });
        const free = recommended(of, rule({ ...base, bounds: { cpu: WIDE, memory: WIDE } }), {
          corrections: corrected,
        });
        for (const resource of ["cpu", "memory"] as const) {
          const { min, max } = within[resource];
          const [found, before] = [bounded[resource], free[resource]];
          assert.ok(min <= found && found <= max);
          if (min <= before && before <= max) assert.equal(found, before);
          else assert.equal(found, before < min ? min : max);
        }
      },
    ),
  );
});

pure("property 14: recommend() is percentile × factor before clamping, within a unit", () => {
  const SHARES = { P50: 50n, P90: 90n, P95: 95n, P99: 99n } as const;
  const free = { bounds: { cpu: WIDE, memory: WIDE } };
  fc.assert(
    fc.property(cpuValues, memoryValues, percentile, factor, (cpu, memory, which, hundredths) => {
      const found = recommended(
        usage(cpu, memory),
        rule({ ...free, percentile: which, safetyFactor: hundredths / 100 }),
      );
      for (const [values, amount] of [[cpu, found.cpu], [memory, found.memory]] as const) {
        // In whole numbers: the percentile in hundredths, the product in ten-thousandths.
        const ordered = values.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
        const rank = SHARES[which] * BigInt(values.length - 1);
        const low = ordered[Number(rank / 100n)]!;
        const high = ordered[Number(rank / 100n) + 1] ?? low;
        const exact = (100n * low + (high - low) * (rank % 100n)) * BigInt(hundredths) / 10_000n;
        const off = Math.abs(amount - Number(exact));
        assert.ok(off <= 1, `${amount} for ${exact}`);
      }
    }),
  );
});

pure("recommend() gives whole amounts with quantities that read back", () => {
  fc.assert(
    fc.property(cpuValues, memoryValues, bounds, corrections, (cpu, memory, within, corrected) => {
      const strategy = { updateRequestsOnly: false, limitMultipliers: { cpu: 1, memory: 1.1 } };
      const found = recommended(
        usage(cpu, memory),
        rule({ bounds: within, updateStrategy: strategy }),
        { corrections: corrected },
      );
      for (const millicores of [found.cpu, found.cpuLimit ?? -1]) {
        assert.equal(parseCPU(formatCPU(millicores)), millicores);
      }
      for (const bytes of [found.memory, found.memoryLimit ?? -1]) {
        assert.equal(parseBytes(formatBytes(bytes)), bytes);
      }
    }),
  );
});

pure("recommend() leaves limits alone unless they are wanted", () => {
  const found = recommended(usage([100], [100 * MEBI]), rule());
  assert.ok(!("cpuLimit" in found) && !("memoryLimit" in found));
  assert.doesNotMatch(found.explanation, /[Ll]imit/);
});

pure("recommend() makes limits of requests, never below them", () => {
  const strategy = { updateRequestsOnly: false, limitMultipliers: { cpu: 1, memory: 1.1 } };
  const found = recommended(usage([100], [100 * MEBI]), rule({ updateStrategy: strategy }));
  assert.deepEqual([found.cpu, found.cpuLimit], [120, 120]);
  assert.deepEqual([found.memory, found.memoryLimit], [120 * MEBI, 132 * MEBI]);
  assert.match(found.explanation, /Limits: CPU 120m, .* 1; memory 132Mi, .* 1\.1$/);
  const low = { updateRequestsOnly: false, limitMultipliers: { cpu: 0.5, memory: 0.9 } };
  const never = recommended(usage([100], [100 * MEBI]), rule({ updateStrategy: low }));
  assert.deepEqual([never.cpuLimit, never.memoryLimit], [120, 120 * MEBI]);
  const multiplier = fc.integer({ min: 100, max: 1000 }).map((hundredths) => hundredths / 100);
  fc.assert(
    fc.property(
      cpuValues,
      memoryValues,
      multiplier,
      multiplier,
      (cpu, memory, forCPU, forMemory) => {
        const limitMultipliers = { cpu: forCPU, memory: forMemory };
        const one = recommended(
          usage(cpu, memory),
          rule({ updateStrategy: { updateRequestsOnly: false, limitMultipliers } }),
        );
        assert.ok((one.cpuLimit ?? 0) >= one.cpu && (one.memoryLimit ?? 0) >= one.memory);
        assert.ok(Math.abs((one.cpuLimit ?? 0) - one.cpu * forCPU) <= 1);
        assert.ok(Math.abs((one.memoryLimit ?? 0) - one.memory * forMemory) <= 1);
      },
    ),
  );
});

pure("recommend() needs minSamples of each resource, and one where a policy asks for none", () => {
  const ten = Array.from({ length: 10 }, () => 100);
  const of = (cpu: readonly number[], memory: readonly number[], minSamples: number) =>
    recommend(usage(cpu, memory), { rule: rule({ minSamples }) }) !== undefined;
  assert.deepEqual([of(ten, ten.slice(3), 10), of([], ten, 10), of(ten, ten, 10)], [
    false,
    false,
    true,
  ]);
  assert.deepEqual([of([], [], 0), of([1], [1], 0)], [false, true]);
});

pure("recommend() raises memory after a kill above percentile × factor, within the bounds", () => {
  const of = usage([100], [200 * MEBI]);
  const killed = (hadBytes: number) =>
    recommended(of, rule(), { corrections: { oomKills: [{ hadBytes }] } });
  assert.equal(recommended(of, rule()).memory, 240 * MEBI);
  assert.equal(killed(256 * MEBI).memory, 356 * MEBI);
  assert.equal(killed(256 * MEBI).cpu, 120);
  assert.match(killed(256 * MEBI).explanation, /1\.2 .*240Mi, .*256Mi, .*356Mi, within/);
  assert.equal(killed(1000 * MEBI).memory, 1024 * MEBI, "the bound");
  assert.equal(killed(100 * MEBI).memory, 240 * MEBI, "it has more already");
});

pure("recommend() raises CPU that a limit throttled, before the factor", () => {
  const of = usage([200], [100 * MEBI]);
  const throttling = { share: 0.4, demand: 500 };
  const found = recommended(of, rule(), { corrections: { throttling } });
  assert.equal(found.cpu, 600);
  assert.equal(found.memory, 120 * MEBI);
  assert.match(
    found.explanation,
    /is 200m, .*500m .* 40 % .*, times 1\.2 is 600m, within/,
  );
  assert.equal(recommended(of, rule(), { corrections: { throttling: { share: 0 } } }).cpu, 240);
});

function usageOf(container: string, samples: number): ContainerUsage {
  const values = (value: number) => Array.from({ length: samples }, () => value);
  return { ...usage(values(100), values(100 * MEBI)), container };
}

pure(
  "recommendWorkload() has each container with enough samples once, in order, and corrects the killed one",
  () => {
    const found = recommendWorkload(["proxy", "fresh", "app", "proxy", "few"], {
      usages: [usageOf("app", 5), usageOf("gone", 5), usageOf("proxy", 5), usageOf("few", 1)],
      rule: rule({ minSamples: 2 }),
      corrections: new Map([["proxy", { oomKills: [{ hadBytes: 128 * MEBI }] }]]),
    });
    assert.deepEqual(found.map(({ container, cpu, memory }) => [container, cpu, memory]), [
      ["proxy", 120, 228 * MEBI],
      ["app", 120, 120 * MEBI],
    ]);
  },
);
