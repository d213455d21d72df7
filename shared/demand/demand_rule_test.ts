import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { exponential, logNormal, type Random, seededRandom } from "../random.ts";
import {
  commonWait,
  createDemandRule,
  createUsageLevel,
  demandOf,
  type LevelOptions,
  MOST_WAIT_MS,
  queueingNeed,
  type SharingContainer,
  type UsageLevel,
  WAIT_TARGET_MS,
} from "./demand_rule.ts";
import type { DemandSignal } from "./saturation.ts";

const INTERVAL_MS = 250;

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return {
    ...{ intervalMs: INTERVAL_MS, usage: 0, throttledMsPerS: 0, periods: 4, throttledPeriods: 0 },
    ...{ scarcity: 0, waitMs: WAIT_TARGET_MS },
    ...fields,
  };
}

pure("createDemandRule() tries four times the quota for threads that wait, then all of it", () => {
  const busy = { usage: 200, throttledMsPerS: 800, throttledPeriods: 4, quota: 200 };
  assert.ok(Math.abs(createDemandRule()(signal({ ...busy, scarcity: 1 })).trial - 300) < 1e-9);
  const rule = createDemandRule();
  assert.equal(rule(signal(busy)).trial, 800);
  const still = { ...busy, usage: 800, throttledMsPerS: 200, quota: 800 };
  let trial = 0;
  for (let at = 0; at < 1000; at += INTERVAL_MS) trial = rule(signal(still)).trial;
  assert.equal(trial, 1000);
});

forAll("createDemandRule() settles on constant usage, whatever came before", [
  fc.array(fc.nat(4000), { maxLength: 100 }),
  fc.nat(4000),
], (before, usage) => {
  const rule = createDemandRule();
  for (const past of before) rule(signal({ usage: past }));
  let last = rule(signal({ usage }));
  // Twenty time constants of the mean, e^-20 of 4000 m; the block that holds both fades, too.
  for (let at = 0; at < 300_000; at += INTERVAL_MS) last = rule(signal({ usage }));
  assert.ok(Math.abs(last.mean - usage) <= 1e-3, `${last.mean} for ${usage}`);
  assert.equal(last.trial, 0);
}, 0.3);

pure("demandOf() is the need, or what is tried out if that is more", () => {
  const of = (trial: number) => demandOf({ mean: 1000, burstinessMs: 0, trial }, 75);
  assert.deepEqual([0, 1049, 4000].map(of), [1050, 1050, 4000]);
});

/** Chance of a wait beyond which work counts as late, and least headroom, as the module has them. */
const LATE = 0.01;
const LEAST_HEADROOM = 0.05;

const mean = fc.double({ min: 1, max: 100_000, noNaN: true });
const burstiness = fc.double({ min: 0, max: 10_000, noNaN: true });
const wait = fc.double({ min: 1, max: 10_000, noNaN: true });

pure("queueingNeed() is several times a small mean, a tenth above a large one", () => {
  assert.equal(queueingNeed({ mean: 1000, burstinessMs: 0 }, 75), 1050);
  assert.equal(queueingNeed({ mean: 0, burstinessMs: 100 }, 75), 0);
  // c = (m + √(m² + 2 m × 20 × ln 100 / 75)) / 2 with 2 × 20 × ln 100 / 75 = 2.4561:
  // m = 0.1: (0.1 + √0.25561) / 2 = 0.3028; m = 10: (10 + √124.561) / 2 = 10.5804.
  for (const [of, need] of [[100, 302.8], [10_000, 10_580.4]] as const) {
    assert.ok(Math.abs(queueingNeed({ mean: of, burstinessMs: 20 }, 75) - need) < 0.1);
  }
});

forAll("queueingNeed() makes 1 % late, by its formula", [mean, burstiness, wait], (m, b, x) => {
  const c = queueingNeed({ mean: m, burstinessMs: b }, x);
  const late = Math.exp(-2 * (c - m) / 1000 * c * x / (b * m));
  assert.ok(c >= m * (1 + LEAST_HEADROOM) * (1 - 1e-12) && late <= LATE * (1 + 1e-6));
  const isLeast = c <= m * (1 + LEAST_HEADROOM) * (1 + 1e-9);
  assert.ok(isLeast || Math.abs(late / LATE - 1) < 1e-6, `P is ${late} for c = ${c}`);
}, 1);

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

/** The bisection's step in the logarithm is below this, so waits are exact within this share. */
const PRECISION = 0.01;
/** Needs may exceed the room by the last digits, millicores. */
const ROUNDING = 1e-6;

function waiting(mean: number, burstinessMs: number, ceiling = 1e6): SharingContainer {
  return { estimate: { mean, burstinessMs, trial: 0, saturatedMs: 0 }, ceiling, part: ceiling };
}

function waitFor(containers: readonly SharingContainer[], room: number): number {
  return commonWait(containers, { room, targetMs: WAIT_TARGET_MS });
}

function needs(containers: readonly SharingContainer[], waitMs: number): number {
  const needOf = ({ estimate, ceiling }: SharingContainer): number =>
    Math.min(ceiling, queueingNeed(estimate, waitMs));
  return containers.reduce((sum, one) => sum + needOf(one), 0);
}

pure("commonWait() is the least where needs fit, and the most where no wait makes them fit", () => {
  const one = waiting(300, 50);
  assert.equal(waitFor([one], queueingNeed(one.estimate, WAIT_TARGET_MS)), WAIT_TARGET_MS);
  assert.equal(waitFor([], 0), WAIT_TARGET_MS);
  assert.equal(waitFor([waiting(1000, 0)], 1049), MOST_WAIT_MS);
  assert.equal(waitFor([one], -1), MOST_WAIT_MS);
});

pure("commonWait() finds the wait at which the needs fill the room", () => {
  // Two of m = 0.3 and b = 100 in 1280 m: (2 × 0.64 − 0.3)² − 0.09 = 0.8704 = 2 m b ln 100 / x.
  const exact = 2 * 0.3 * 100 * Math.log(100) / 0.8704;
  const found = waitFor([waiting(300, 100), waiting(300, 100)], 1280);
  assert.ok(found >= exact && found <= exact * (1 + PRECISION), `${found} for ${exact}`);
});

pure("commonWait() counts what a metric asks for, with its part at most", () => {
  const service = waiting(1000, 100);
  const alone = queueingNeed(service.estimate, WAIT_TARGET_MS);
  const isShort = (asked: number | undefined, room: number): boolean =>
    waitFor([service, { ...waiting(10, 1), part: 2000, asked }], alone + room) > WAIT_TARGET_MS;
  const rows = [[undefined, 300], [300, 300], [600, 300], [9000, 2000]] as const;
  assert.deepEqual(rows.map(([asked, room]) => isShort(asked, room)), [false, false, true, false]);
});

pure("commonWait() counts what was saturated for ten seconds with its part at most", () => {
  const wait = (saturatedMs: number, part = 4000): number => {
    const estimate = { mean: 5000, burstinessMs: 20, trial: 0, saturatedMs };
    return waitFor([waiting(1000, 20), { estimate, ceiling: 8000, part }], 6000);
  };
  assert.equal(wait(10_000), WAIT_TARGET_MS);
  assert.equal(wait(9999), MOST_WAIT_MS);
  // One that needs less than its part counts with what it needs.
  assert.equal(wait(10_000, 100_000), MOST_WAIT_MS);
});

const anyContainers = fc.array(
  fc.record({
    mean: fc.double({ min: 0, max: 4000, noNaN: true }),
    burstinessMs: fc.double({ min: 0, max: 500, noNaN: true }),
    ceiling: fc.integer({ min: 10, max: 8000 }),
  }).map(({ mean, burstinessMs, ceiling }) => waiting(mean, burstinessMs, ceiling)),
  { maxLength: 12 },
);
const anyRoom = fc.double({ min: -1000, max: 40_000, noNaN: true });

forAll("commonWait() is the shortest wait at which the needs fit", [
  anyContainers,
  anyRoom,
  anyRoom,
], (containers, room, other) => {
  const waitMs = waitFor(containers, room);
  assert.ok(waitMs >= WAIT_TARGET_MS * (1 - 1e-12) && waitMs <= MOST_WAIT_MS * (1 + 1e-12));
  if (needs(containers, MOST_WAIT_MS) <= room + ROUNDING) {
    assert.ok(needs(containers, waitMs) <= room + ROUNDING);
  } else assert.equal(waitMs, MOST_WAIT_MS);
  if (waitMs > WAIT_TARGET_MS) assert.ok(needs(containers, waitMs / (1 + PRECISION)) > room);
  const longer = Math.min(room, other);
  assert.ok(waitFor(containers, Math.max(room, other)) <= waitFor(containers, longer));
  assert.ok(waitFor(containers.slice(1), room) <= waitMs);
}, 1);
