import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { exponential, logNormal, type Random, seededRandom } from "../random.ts";
import { createUsageLevel, type LevelOptions, type UsageLevel } from "./usage_level.ts";

/** Length of a reading; four of them are a block. */
const INTERVAL_MS = 250;
const BLOCK_MS = 1000;

/** Feeds blocks of usage, millicores, in quarters. */
function feed(level: UsageLevel, blocks: readonly number[]): void {
  for (const usage of blocks) {
    for (let at = 0; at < BLOCK_MS; at += INTERVAL_MS) level.feed(usage, INTERVAL_MS);
  }
}

function levelAfter(blocks: readonly number[], options: LevelOptions = {}): UsageLevel {
  const level = createUsageLevel(options);
  feed(level, blocks);
  return level;
}

function constant(usage: number, blocks: number): number[] {
  return Array(blocks).fill(usage);
}

/** Work that comes at random: `perS` jobs a second, each as drawn, CPU ms. */
function randomWork(
  random: Random,
  { perS, job, seconds }: { perS: number; job: (random: Random) => number; seconds: number },
): number[] {
  const blocks = constant(0, seconds);
  for (let at = exponential(random, 1 / perS); at < seconds; at += exponential(random, 1 / perS)) {
    const block = Math.floor(at);
    // A CPU ms in a second is a millicore.
    blocks[block] = (blocks[block] ?? 0) + job(random);
  }
  return blocks;
}

pure("createUsageLevel() begins with the first reading, and with a usual burstiness", () => {
  const level = createUsageLevel();
  assert.deepEqual([level.mean, level.burstinessMs], [0, 20]);
  level.feed(300, INTERVAL_MS);
  assert.equal(level.mean, 300);
});

forAll(
  "createUsageLevel() has the exact mean of constant usage, and sees that it is even",
  [fc.double({ min: 0, max: 64_000, noNaN: true })],
  (usage) => {
    const level = levelAfter(constant(usage, 120));
    assert.ok(Math.abs(level.mean - usage) <= 1e-9 * usage);
    assert.ok(level.burstinessMs < 0.01, `${level.burstinessMs}`);
  },
  1,
);

pure("createUsageLevel() lets the usual burstiness fade as blocks come", () => {
  // After n differences of 0, about n fading ones: 20 u / (u + n) with u = 10 e^(−n / 10).
  const usual = 10 * Math.exp(-1);
  const { burstinessMs } = levelAfter(constant(500, 11));
  assert.ok(Math.abs(burstinessMs - 20 * usual / (usual + 10)) < 0.2, `${burstinessMs}`);
});

pure("createUsageLevel() averages what chance explains, and moves at once to another level", () => {
  const { mean } = levelAfter([...constant(300, 60), 305]);
  assert.ok(Math.abs(mean - (300 + 5 * (1 - Math.exp(-1 / 15)))) < 1e-9, `${mean}`);
  const slow = levelAfter([...constant(300, 60), 305], { meanMs: 30_000 });
  assert.ok(Math.abs(slow.mean - (300 + 5 * (1 - Math.exp(-1 / 30)))) < 1e-9, `${slow.mean}`);
  const level = levelAfter([...constant(300, 60), 900]);
  assert.equal(level.mean, 900);
  feed(level, [...constant(900, 20), 100]);
  assert.equal(level.mean, 100);
});

pure("createUsageLevel() finds a small shift in more blocks than a large one", () => {
  // Burstiness is 80 ms, so a level of 1000 + s varies by √(80 (1000 + s)) a block. Five times that is
  // less than s from 2732 m on, over eight blocks from 640 m on.
  const noisy = Array.from({ length: 100 }, (_, i) => i % 2 === 0 ? 800 : 1200);
  const shiftedBy = (by: number, blocks: number) => {
    const level = levelAfter(noisy, { meanMs: 1e9 });
    const before = level.mean;
    feed(level, constant(1000 + by, blocks));
    return level.mean - before > by / 2;
  };
  const rows = [[3000, 1], [1000, 1], [1000, 8], [100, 8]] as const;
  assert.deepEqual(rows.map(([by, blocks]) => shiftedBy(by, blocks)), [true, false, true, false]);
});

pure("createUsageLevel() stays at the level that it has moved to", () => {
  // The block in which demand falls holds some of both.
  const level = levelAfter([...constant(900, 300), 700]);
  for (const usage of constant(50, 10)) {
    feed(level, [usage]);
    assert.equal(Math.round(level.mean), 50);
  }
  feed(level, constant(900, 8));
  assert.ok(Math.abs(level.mean - 900) < 1e-9, `${level.mean}`);
});

pure("createUsageLevel() estimates E[S²] / E[S] of work that comes at random", () => {
  // Exponential jobs: 2 E[S]. Log-normal ones of variation v: (1 + v²) E[S].
  const cases = [
    { perS: 40, job: (random: Random) => exponential(random, 10), truth: 20 },
    { perS: 10, job: () => 30, truth: 30 },
    { perS: 20, job: (random: Random) => logNormal(random, { mean: 20, variation: 1 }), truth: 40 },
  ];
  for (const { perS, job, truth } of cases) {
    const estimates = [1, 2, 3, 4, 5].map((seed) => {
      const work = randomWork(seededRandom(seed), { perS, job, seconds: 900 });
      return levelAfter(work).burstinessMs;
    });
    const average = estimates.reduce((sum, one) => sum + one, 0) / estimates.length;
    // 300 blocks count, half of them twice: √(3 / 600) = 7 % for one seed, and more for rare jobs.
    assert.ok(Math.abs(average / truth - 1) < 0.15, `${average} for ${truth}`);
    for (const one of estimates) assert.ok(Math.abs(one / truth - 1) < 0.35, `${one} for ${truth}`);
  }
});

pure("createUsageLevel() takes neither a shift nor a drift for burstiness", () => {
  const job = (random: Random): number => exponential(random, 10);
  const quiet = randomWork(seededRandom(7), { perS: 20, job, seconds: 900 });
  const before = levelAfter(quiet).burstinessMs;
  // Three times as much at once: one difference of 400 m, where 63 m are usual.
  const more = randomWork(seededRandom(8), { perS: 60, job, seconds: 30 });
  assert.ok(levelAfter([...quiet, ...more]).burstinessMs < before * 1.35);
  const drifting = levelAfter(quiet.map((usage, second) => usage + second));
  assert.ok(drifting.burstinessMs < before * 1.05, `${drifting.burstinessMs}`);
});

forAll(
  "createUsageLevel() stays within what was used, however long readings are",
  [fc.array(
    fc.record({
      // As counters of whole microseconds give it.
      usage: fc.nat(64_000_000).map((micro) => micro / 1000),
      intervalMs: fc.integer({ min: 10, max: 60_000 }),
    }),
    { minLength: 1, maxLength: 100 },
  )],
  (readings) => {
    const level = createUsageLevel();
    for (const { usage, intervalMs } of readings) level.feed(usage, intervalMs);
    const used = readings.map(({ usage }) => usage);
    assert.ok(level.mean >= Math.min(...used) * (1 - 1e-9));
    assert.ok(level.mean <= Math.max(...used) * (1 + 1e-9));
    assert.ok(level.burstinessMs >= 0 && Number.isFinite(level.burstinessMs));
  },
  1,
);
