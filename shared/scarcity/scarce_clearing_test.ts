import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { exactSum } from "../../tests/fixtures/market/clearing_residual.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { clearMarket } from "../market/solver.ts";
import { GRID } from "../quantity.ts";
import { nextLoad, type RecentLoad } from "../market/market_container.ts";
import { clearScarce, DIVIDED_FACTOR, type ScarceBidder } from "./scarce_clearing.ts";
import {
  newNodeState,
  nextNodeState,
  type NodeStateMemory,
  stateAfterClearing,
} from "./node_state.ts";

/**
 * Differences from a container at its ceiling of 4000 m that uses 1000 m, and over 1 s nothing; null:
 * no PSI.
 */
interface Change extends Partial<Omit<ScarceBidder, "load" | "memory">> {
  readonly limit?: number;
  readonly usage?: number;
  readonly usage1s?: number;
  readonly usage400ms?: number;
  readonly waiting?: number | null;
}

function bidder(change: Change = {}): ScarceBidder {
  const { limit = 4000, usage = 1000, usage1s = 0, usage400ms = usage, waiting = 0, ...rest } =
    change;
  return {
    ...{ ceiling: 4000, weight: 100, memory: { limit }, originalLimit: 500 },
    load: { usage400ms, usage1s, usage1500ms: usage, ...(waiting === null ? {} : { waiting }) },
    ...rest,
  };
}

/** The first containers' bids, shares, parts or waiting. */
function cleared(
  of: "bid" | "wanted" | "share" | "part" | "partOfUsed" | "waiting",
  changes: readonly Change[],
  capacity: number,
): number[] {
  const bidders = changes.map(bidder);
  const isFull = bidders.reduce((sum, { load }) => sum + load.usage1s, 0) >= capacity;
  return clearScarce(bidders, { capacity, isFull }).shares.map((one) => Math.round(one[of]));
}

pure("clearScarce() lets containers bid by usage, part and ceiling", () => {
  const other: Change = {};
  const rival = { usage: 3900, waiting: 1 };
  // Its part of 1.08 × 4000 is 2880.
  const victim = { weight: 200, multiplier: 2, waiting: 0.2 };
  const binds = { limit: 700, usage: 561, usage1s: 561 };
  const rows: readonly (readonly [readonly Change[], bids: number[]])[] = [
    // At the ceiling 1.05 of usage: 1056.3 → 1060; below a step 1 to 9. The mean of 0.4 s counts.
    [[1000, 1006, 0, 8, 3900].map((usage) => ({ usage })), [1050, 1060, 1, 9, 4000]],
    [[{ usage: 1000, usage400ms: 500 }, { usage: 500, usage400ms: 1000 }], [530, 1050]],
    // One that waits twice as much, within its weight's part of 1.08 × 4000: 2160. Without PSI it may wait.
    [[{ waiting: 0.2, usage: 900 }, other], [1890, 1050]],
    [[{ waiting: 0.19, usage: 900 }, other], [950, 1050]],
    [[{ waiting: null, usage: 900 }, other], [1890, 1050]],
    [[{ waiting: 1, usage: 2000 }, other], [2160, 1050]],
    [[{ waiting: 1, usage: 2200 }, other], [2310, 1050]],
    [[{ waiting: 0.2, usage: 900, usage400ms: 500 }, other], [1890, 1050]],
    // Its part, up to the ceiling, if it gets less than 0.95 of that for the time in which it waits.
    [[{ ...victim, usage: 547 }, rival], [2880, 4000]],
    [[{ ...victim, usage: 548 }, rival], [1160, 4000]],
    [[{ ...victim, usage: 100, waiting: 0.19 }, rival], [110, 4000]],
    [[{ ...victim, usage: 100, ceiling: 2500 }, rival], [2500, 4000]],
    // Not where the kernel gives it as much.
    [[{ waiting: 0.2, usage: 400 }, rival], [840, 4000]],
    // A limit below the ceiling that binds: the ceiling.
    [[binds, other], [4000, 1050]],
    [[{ limit: 2000, usage: 1700, usage1s: 1700, waiting: 1 }, other], [4000, 1050]],
    // By usage again where it does not bind, and at the ceiling.
    [[{ ...binds, usage1s: 560 }, other], [590, 1050]],
    [[{ ...binds, limit: 4000 }, other], [590, 1050]],
  ];
  for (const [changes, bids] of rows) assert.deepEqual(cleared("bid", changes, 4000), bids);
});

pure("clearScarce() without PSI lets a container that waits bid its part", () => {
  const blind = { waiting: null, request: 100 };
  // The burst of the second has just begun: it uses what its request gives it, and its part is more.
  const node = (change: Change = {}): Change[] => [
    { ...blind, usage: 1400, usage1s: 1400, usage400ms: 700 },
    { ...blind, weight: 300, multiplier: 3, usage: 40, usage1s: 40, usage400ms: 600, ...change },
    { ...blind, usage: 0 },
  ];
  assert.deepEqual(cleared("waiting", node(), 1400), [1, 1, 0]);
  assert.deepEqual(cleared("bid", node(), 1400), [1470, 1020, 1]);
  // On a node that is not full, or of less than its request gives it, only what it uses now counts.
  assert.deepEqual(cleared("bid", node(), 1500), [740, 980, 1]);
  assert.deepEqual(cleared("wanted", node(), 1500), [740, 630, 1]);
  assert.deepEqual(cleared("bid", node({ usage400ms: 400 }), 1400), [1470, 840, 1]);
});

/** Has used no CPU yet, on a kernel without PSI. */
const IDLE: Change = { usage: 0, waiting: null };

/** Which containers wait on a full node without PSI, by usage and request. */
const waits = (...pairs: readonly (readonly [usage: number, request: number])[]): number[] =>
  cleared("waiting", pairs.map(([usage, request]) => ({ usage, request, waiting: null })), 0);

pure("clearScarce() takes containers for waiting that use what their weights give them", () => {
  assert.deepEqual(waits([100, 100], [900, 100], [1000, 100]), [0, 1, 1]);
  // A burst that has only begun to be seen uses nearly what its request gives it, a sixth.
  assert.deepEqual(waits([1400, 500], [231, 100]), [1, 0]);
  assert.deepEqual(waits([1400, 500], [232, 100]), [1, 1]);
  // Idle containers have most of the requests, and leave their CPU to the others.
  assert.deepEqual(waits([1, 1000], [1, 1000], [1500, 500], [300, 100]), [0, 0, 1, 1]);
  // A request that is not known counts for nothing.
  assert.deepEqual(waits([500, 0], [900, 100]), [0, 1]);
  assert.deepEqual([waits([500, 0]), waits()], [[0], []]);
  // Where pods outside of the market hold all CPU, one that has used none yet may wait.
  assert.deepEqual([waits([0, 100]), cleared("bid", [{ ...IDLE, request: 100 }], 0)], [[1], [1]]);
});

pure("clearScarce() divides 1.08 of the capacity by weight, original limits first", () => {
  const greedy = { usage: 4000, originalLimit: 4000 };
  const raised = { usage: 3000, originalLimit: 500, weight: 900 };
  const idle = Array.from({ length: 100 }, () => ({ usage: 0.3, originalLimit: 20 }));
  const busy = [{ usage: 3000 }, { usage: 3000, weight: 300 }, ...idle];
  // A service of twice the priority that gets less than its limit beside a neighbour far above its own.
  const service = { usage: 240, originalLimit: 300, waiting: 1, weight: 200, multiplier: 2 };
  const neighbour = { usage: 850, originalLimit: 400, weight: 400, waiting: 1 };
  const rows: readonly (readonly [readonly Change[], number, shares: number[]])[] = [
    [[{}, { usage: 3060 }], 4000, [1050, 3220]],
    [[greedy, greedy], 2000, [1080, 1080]],
    [[greedy, { ...greedy, weight: 300 }], 2000, [540, 1620]],
    // 2160 of which a light container takes its 210.
    [[greedy, { usage: 200 }], 2000, [1950, 210]],
    // 1575 → 1580 for the second, what is left for the first, beyond its original limit.
    [[raised, { usage: 1500, originalLimit: 2000 }], 2000, [580, 1580]],
    // Original limits alone don't fit any more: 500 m for the first, though its part is 1944.
    [[raised, { usage: 3000, originalLimit: 3000 }], 2000, [500, 1660]],
    // The services divide the rest of 1080 beside the neighbour's original limit.
    [[service, service, neighbour], 1000, [340, 340, 400]],
    // 1080 − 100 by weight, at most the original limit of 500 m; 1160 − 100 by weight beyond it.
    [busy, 1000, [480, 500, 1]],
    [busy, 2000, [770, 1290, 1]],
  ];
  for (const [changes, capacity, shares] of rows) {
    assert.deepEqual(cleared("share", changes, capacity).slice(0, 3), shares);
  }
  assert.deepEqual(cleared("bid", [service, service, neighbour], 1000), [340, 340, 900]);
  assert.deepEqual(cleared("part", [service, service, neighbour], 1000), [340, 340, 400]);
  // By weight where original limits do not fit; more where one that does not wait leaves of its own.
  const larger = { ...neighbour, originalLimit: 600 };
  const quiet = { ...service, usage: 50, waiting: 0 };
  assert.deepEqual(cleared("part", [service, service, larger], 1000), [270, 270, 540]);
  assert.deepEqual(cleared("part", [service, quiet, larger], 1000), [420, 270, 600]);
});

pure("clearScarce() takes requests for what original limits leave, priority for all", () => {
  const [light, heavy] = [{ usage: 3000, originalLimit: 500 }, { usage: 3000, originalLimit: 200 }];
  const rows: readonly (readonly [Change, Change, shares: number[]])[] = [
    // 1080 − 700 by weight.
    [light, heavy, [690, 390]],
    [light, { ...heavy, weight: 300 }, [600, 480]],
    // At twice the priority 690 : 2 × 390.
    [light, { ...heavy, weight: 200, multiplier: 2 }, [510, 570]],
    [{ ...light, weight: 50, multiplier: 0.5 }, heavy, [510, 570]],
  ];
  for (const [first, second, shares] of rows) {
    assert.deepEqual(cleared("share", [first, second], 1000), shares);
  }
});

pure("clearScarce() finds each part of what is used, by the larger mean", () => {
  const heavier = { usage1s: 1000, usage400ms: 200, weight: 300, waiting: 1 };
  const rows: readonly (readonly [usage400ms: number, parts: number[]])[] = [
    // Original limits, and 800 or 1000 by weight.
    [1200, [700, 1100]],
    [1800, [750, 1250]],
  ];
  for (const [usage400ms, parts] of rows) {
    const changes = [{ usage1s: 800, usage400ms, waiting: 1 }, heavier];
    assert.deepEqual(cleared("partOfUsed", changes, 1000), parts);
  }
});

pure("clearScarce() gives nothing of nothing", () => {
  for (const capacity of [0, 4000]) {
    const nothing = { mode: "uncongested", price: 0, shares: [] };
    assert.deepEqual(clearScarce([], { capacity, isFull: true }), nothing);
  }
  const two = [{}, { limit: 500 }];
  assert.equal(clearScarce(two.map(bidder), { capacity: 0, isFull: true }).price, Infinity);
  assert.deepEqual(cleared("bid", two, 0), [1050, 1050]);
  assert.deepEqual([...cleared("share", two, 0), ...cleared("part", two, 0)], [0, 0, 0, 0]);
});

const tens = (min: number, max: number) => fc.integer({ min, max }).map((n) => n * GRID);

const anyBidder: fc.Arbitrary<ScarceBidder> = fc.record({
  floor: tens(1, 20),
  wide: tens(0, 400),
  weight: fc.integer({ min: 1, max: 1000 }),
  multiplier: fc.double({ min: 0.1, max: 10, noNaN: true }),
  limitAt: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  originalLimit: fc.integer({ min: 10, max: 3000 }),
  usage: fc.double({ min: 0, max: 4000, noNaN: true }),
  usage400ms: fc.double({ min: 0, max: 4000, noNaN: true }),
  usage1s: fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 4000, noNaN: true })),
  waiting: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
}).map(({ floor, wide, limitAt, ...rest }) => {
  const limit = Math.ceil((floor + limitAt * wide) / GRID) * GRID;
  return bidder({ ...rest, ceiling: floor + wide, limit });
});

/** The optimum of the bids: what each is due by request and original limit, times its multiplier. */
function optimum(bidders: readonly ScarceBidder[], bids: readonly number[], divided: number) {
  const within = bidders.map(({ originalLimit }, i) => Math.min(bids[i] ?? 0, originalLimit));
  const fits = exactSum(within) <= divided;
  const beyond = clearMarket(
    bidders.map(({ weight, multiplier = 1 }, i) => {
      const ceiling = (bids[i] ?? 0) - (within[i] ?? 0);
      return { weight: weight / multiplier, floor: 0, ceiling, demand: ceiling };
    }),
    Math.max(0, divided - exactSum(within)),
  ).shares;
  const market = bidders.map(({ weight, multiplier = 1 }, i) => {
    const [bid = 0, least = 0] = [bids[i], within[i]];
    const ceiling = fits ? bid : least;
    const due = multiplier * (least + (beyond[i] ?? 0));
    return { weight: fits ? due : weight, floor: fits ? least : 0, ceiling, demand: ceiling };
  });
  return { ...clearMarket(market, divided), fits, within };
}

const seen = new Set<string>();

forAll("clearScarce() is within a step of the optimum of its bids, and original limits go first", [
  fc.array(anyBidder, { minLength: 1, maxLength: 10 }),
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 20_000_000 }).map((n) => n / 1000) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
], (drawn, capacity) => {
  const bidders = [...drawn, ...drawn.slice(0, 1)];
  const divided = DIVIDED_FACTOR * capacity;
  const { price, mode, shares } = clearScarce(bidders, { capacity, isFull: capacity % 2 < 1 });
  const best = optimum(bidders, shares.map(({ bid }) => bid), divided);
  seen.add(`${mode}, ${best.fits}`);
  assert.deepEqual([price > 0, mode], [best.price > 0, best.mode]);
  assert.ok(exactSum(shares.map(({ share }) => share)) <= divided * (1 + 1e-12));
  for (const [i, { bid, share, part }] of shares.entries()) {
    assert.ok(Math.abs(share - (best.shares[i] ?? NaN)) < GRID);
    assert.ok(share >= 0 && share <= bid && (share % GRID === 0 || bid < GRID));
    assert.ok(part >= 0 && part <= divided + 1e-9);
    if (mode === "uncongested" && best.fits) assert.equal(share, bid);
    if (!best.fits) assert.ok(share < (best.within[i] ?? 0) + GRID);
  }
  const [first, last] = [shares[0], shares.at(-1)];
  assert.equal(first?.bid, last?.bid);
  assert.ok(Math.abs((first?.share ?? NaN) - (last?.share ?? NaN)) <= GRID, "equal containers");
});

pure("clearScarce() was compared with the optimum in all modes", () => {
  const modes = ["congested, false", "congested, true", "uncongested, true"];
  assert.deepEqual(modes.filter((mode) => !seen.has(mode)), []);
});

const rounded = (load: RecentLoad): object =>
  Object.fromEntries(Object.entries(load).map(([name, value]) => [name, value.toFixed(6)]));

pure("nextLoad() fades usage with 0.4 s, 1 s and 1.5 s, waiting with 1.5 s from 0 on", () => {
  const blind = { usage400ms: 100, usage1s: 100, usage1500ms: 100 };
  const sample = { usage: 1100, pressure: 1, intervalMs: 1000 };
  const grown = (seconds: number) => 100 + 1000 * (1 - Math.exp(-1 / seconds));
  const waiting = 1 - Math.exp(-1 / 1.5);
  assert.deepEqual(
    rounded(nextLoad({ ...blind, waiting: 0.5 }, sample)),
    rounded({
      ...{ usage400ms: grown(0.4), usage1s: grown(1), usage1500ms: grown(1.5) },
      waiting: 0.5 + 0.5 * waiting,
    }),
  );
  const first = { usage400ms: 1100, usage1s: 1100, usage1500ms: 1100, waiting };
  assert.deepEqual(rounded(nextLoad(undefined, sample)), rounded(first));
  assert.deepEqual(nextLoad({ ...blind, waiting: 0.5 }, { usage: 100, intervalMs: 250 }), blind);
});

const scarce = (since: number, easedSince?: number): NodeStateMemory => ({
  ...{ state: "scarce", since },
  ...(easedSince === undefined ? {} : { easedSince }),
});
const ample = newNodeState;

pure("nextNodeState() is scarce at the capacity, ample after 10 s of clearly less", () => {
  const plays: readonly (readonly [
    capacity: number,
    ...(readonly [now: number, usage: number, wanted: number, NodeStateMemory])[],
  ])[] = [
    [1000, [100, 999, 5000, ample(0)], [200, 1000, 1000, scarce(200)]],
    [
      1000,
      [0, 1000, 1000, scarce(0)],
      [1000, 899, 899, scarce(0, 1000)],
      [10_999, 899, 899, scarce(0, 1000)],
      [11_000, 899, 899, ample(11_000)],
    ],
    [
      1000,
      [0, 1000, 1000, scarce(0)],
      [1000, 500, 500, scarce(0, 1000)],
      [9000, 500, 900, scarce(0)],
      [9100, 500, 500, scarce(0, 9100)],
      [19_000, 500, 500, scarce(0, 9100)],
      [19_100, 500, 500, ample(19_100)],
    ],
    // Without capacity scarce while anything is used.
    [
      0,
      [0, 0, 0, ample(0)],
      [1000, 1, 1, scarce(1000)],
      [2000, 0, 1, scarce(1000)],
      [3000, 0, 0, scarce(1000, 3000)],
      [13_000, 0, 0, ample(13_000)],
    ],
  ];
  for (const [capacity, ...readings] of plays) {
    let memory = newNodeState(0);
    for (const [now, usage, wanted, expected] of readings) {
      memory = nextNodeState(memory, { now, capacity, usage, wanted });
      assert.deepEqual(memory, expected);
    }
  }
});

pure("stateAfterClearing() is scarce since the first clearing in which needs do not fit", () => {
  const modes = ["uncongested", "congested", "overloaded", "uncongested"] as const;
  let memory = newNodeState(0);
  const states = modes.map((mode, now) => memory = stateAfterClearing(memory, { now, mode }));
  const found = states.map(({ state, since }) => `${state} ${since}`);
  assert.deepEqual(found, ["ample 0", "scarce 1", "scarce 1", "ample 3"]);
});
