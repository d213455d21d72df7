import assert from "node:assert/strict";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { DEFAULT_PACE } from "../shared/pacing/pace_options.ts";
import { newPaceMemory } from "../shared/pacing/paced_container.ts";
import { nodeViewSchema } from "../shared/view/node_view.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
  sampleSeats,
} from "../tests/fixtures/sample_seat.ts";
import type { RoundResult, SeatResult } from "./market_round.ts";
import { nodeView } from "./node_view.ts";
import { QUOTA_OFF_MS } from "./quota_off.ts";

const CONTEXT = {
  node: {
    metadata: { name: "node-1", uid: "n", resourceVersion: "1" },
    allocatableCPU: 2000,
    ready: true,
    pressures: [],
  },
  sample: { at: 0, containers: new Map(), unmanaged: 300 },
  wallMs: Date.UTC(2026, 0, 1),
  pace: DEFAULT_PACE,
} as const;

const TWO = {
  status: {
    bounds: {
      revision: 7,
      reason: "quota",
      containers: [sampleBounds("a"), {
        ...sampleBounds("b", { held: "lower" }),
        name: "sidecar",
      }],
    },
    originalLimits: [{ name: "app", cpu: "500m" }, { name: "sidecar", cpu: "500m" }],
  },
};

/** A pod of two containers; the first has readings where `used` is given, the second never. */
const SCARCE = { state: "scarce", since: 0 } as const;

function roundOf(
  { used, price = 0.5, reason }: { used?: number; price?: number; reason?: MarketReason } = {},
): RoundResult {
  const seats = sampleSeats(boundedAllocation("a", TWO)).map((seat, index): SeatResult => ({
    seat,
    page: {
      rule: () => ({ mean: 0, burstinessMs: 0, trial: 0, saturatedMs: 0 }),
      peak: 0,
      heldBackMs: 0,
      credit: 1.5,
      pace: newPaceMemory(500, 0),
      ...(used === undefined || index > 0 ? {} : {
        demand: 310.4,
        sample: sampleReading("a", { at: 0, usage: used, heldBack: 40, throttledPeriods: 1 }),
      }),
      ...(reason === undefined || index > 0 ? {} : { reason, changedAt: 0 }),
    },
    floor: 100,
    ceiling: 2000,
    least: 100,
    need: 310,
    share: 500,
    target: 500,
    from: 500,
    limit: 500,
  }));
  const node = { capacity: 1500, committed: 700, freeShare: 0.5, waitMs: 75 };
  return { now: 0, state: SCARCE, mode: "congested", price, seats, ...node };
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("nodeView() shows node, pod and containers", () => {
  const view = nodeView(roundOf({ used: 300, reason: "Throttled" }), CONTEXT);
  assert.deepEqual(nodeViewSchema.parse(JSON.parse(JSON.stringify(view))), view);
  const { pods, ...node } = view;
  assert.deepEqual(node, {
    node: "node-1",
    at: "2026-01-01T00:00:00.000Z",
    mode: "congested",
    state: "scarce",
    stateSeconds: 0,
    idleCPU: "free",
    price: 0.5,
    allocatable: 2000,
    capacity: 1500,
    unmanaged: 300,
    committed: 700,
    waitMs: 75,
  });
  assert.equal(
    nodeView(roundOf({ used: 300 }), { ...CONTEXT, limitsIgnored: true }).held,
    "SchedExt",
  );
  const [pod] = pods;
  assert.equal(pods.length, 1);
  const { containers, ...sums } = pod ?? { containers: [] };
  assert.deepEqual(sums, {
    namespace: "shop",
    pod: "a",
    uid: "a",
    usage: 300,
    heldBackMsPerSecond: 40,
    demand: 620.4,
    need: 620,
    limit: 1000,
    enforced: 500,
    floor: 200,
    ceiling: 4000,
    ownLimit: 1000,
    price: 0.5,
    reason: "Throttled",
    bounds: { revision: 7, reason: "quota" },
  });
  assert.deepEqual(
    containers.map(({ name, id, held, throttledShare, enforced }) => ({
      name,
      id,
      held,
      throttledShare,
      enforced,
    })),
    [
      { name: "app", id: sampleID("a"), held: undefined, throttledShare: 0.5, enforced: 500 },
      {
        name: "sidecar",
        id: sampleID("b"),
        held: "lower",
        throttledShare: undefined,
        enforced: undefined,
      },
    ],
  );
});

test("nodeView() leaves out what nobody has read, and shows an infinite price as null", () => {
  const view = nodeView(roundOf({ price: Infinity }), CONTEXT);
  assert.ok(nodeViewSchema.safeParse(JSON.parse(JSON.stringify(view))).success);
  const [pod] = view.pods;
  assert.deepEqual([view.price, pod?.price], [null, null]);
  for (const field of ["usage", "heldBackMsPerSecond", "enforced", "reason"]) {
    assert.ok(!Object.hasOwn(pod ?? {}, field), field);
  }
});

test("nodeView() falls back on the reason that was written before the agent started", () => {
  const market = {
    mode: "congested",
    demand: 1,
    need: 1,
    credit: 1,
    reason: "DemandFell",
    observedBounds: 7,
  } as const;
  const seats = sampleSeats(boundedAllocation("a", { ...TWO, spec: { market } }));
  const round = roundOf();
  const replaced = round.seats.map((result, index) => ({
    ...result,
    seat: seats[index] ?? result.seat,
  }));
  const view = nodeView({ ...round, seats: replaced }, CONTEXT);
  assert.equal(view.pods[0]?.reason, "DemandFell");
});

test("nodeView() tells what makes the capacity smaller, and whose limits are not enforced", () => {
  const round = roundOf({ used: 300 });
  const flags = (view: ReturnType<typeof nodeView>) =>
    view.pods.flatMap(({ containers }) => containers.map(({ quotaOff }) => quotaOff));
  const calm = nodeView(round, CONTEXT);
  assert.deepEqual([calm.pressures, flags(calm)], [undefined, [undefined, undefined]]);
  const [first] = round.seats;
  if (first !== undefined) first.page.quota = { missingSince: 0, sampledAt: QUOTA_OFF_MS };
  const pressures = ["MemoryPressure", "PIDPressure"] as const;
  const pressed = nodeView(round, { ...CONTEXT, node: { ...CONTEXT.node, pressures } });
  assert.deepEqual(nodeViewSchema.parse(JSON.parse(JSON.stringify(pressed))), pressed);
  assert.deepEqual([pressed.pressures, flags(pressed)], [[...pressures], [true, undefined]]);
});
