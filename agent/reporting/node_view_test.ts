import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { DEFAULT_PACE } from "../../shared/pacing/paced_container.ts";
import { nodeViewSchema } from "../../shared/view/node_view.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
  sampleResults,
  sampleRound,
} from "../../tests/fixtures/market/sample_participants.ts";
import { participantsOf } from "../market/participants.ts";
import { QUOTA_OFF_MS } from "../market/container_state.ts";
import type { RoundResult } from "../market/round.ts";
import { createLatestRound, nodeView } from "./node_view.ts";

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
  idleCPU: "free",
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
function roundOf(
  { used, price = 0.5, reason }: { used?: number; price?: number; reason?: MarketReason } = {},
): RoundResult {
  const [app, ...others] = sampleResults(boundedAllocation("a", TWO));
  assert.ok(app !== undefined);
  const throttled = { throttledMsPerS: 40, throttledPeriods: 1 };
  const state = {
    ...app.state,
    ...(used === undefined
      ? {}
      : { demand: 310.4, sample: sampleReading("a", { at: 0, usage: used, ...throttled }) }),
    ...(reason === undefined ? {} : { reason, changedAt: 0 }),
  };
  return sampleRound([{ ...app, state }, ...others], { price });
}

pure("nodeView() shows node, pod and containers", () => {
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
    throttledMsPerSecond: 40,
    demand: 620.4,
    need: 620,
    limit: 1000,
    enforced: 500,
    floor: 200,
    ceiling: 4000,
    originalLimit: 1000,
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

pure("nodeView() leaves out what was not read, and shows an infinite price as null", () => {
  const view = nodeView(roundOf({ price: Infinity }), CONTEXT);
  assert.ok(nodeViewSchema.safeParse(JSON.parse(JSON.stringify(view))).success);
  const [pod] = view.pods;
  assert.deepEqual([view.price, pod?.price], [null, null]);
  for (const field of ["usage", "throttledMsPerSecond", "enforced", "reason"]) {
    assert.ok(!Object.hasOwn(pod ?? {}, field), field);
  }
});

pure("nodeView() falls back on the reason that was written before the agent started", () => {
  const market = {
    mode: "congested",
    demand: 1,
    need: 1,
    credit: 1,
    reason: "DemandFell",
    observedBounds: 7,
  } as const;
  const containers = participantsOf(boundedAllocation("a", { ...TWO, spec: { market } }));
  const round = roundOf();
  const replaced = round.containers.map((result, index) => ({
    ...result,
    participant: containers[index] ?? result.participant,
  }));
  const view = nodeView({ ...round, containers: replaced }, CONTEXT);
  assert.equal(view.pods[0]?.reason, "DemandFell");
});

pure(
  "nodeView() reports what makes the capacity smaller, and the containers without an enforced limit",
  () => {
    const round = roundOf({ used: 300 });
    const flags = (view: ReturnType<typeof nodeView>) =>
      view.pods.flatMap(({ containers }) => containers.map(({ quotaOff }) => quotaOff));
    const idle = nodeView(round, CONTEXT);
    assert.deepEqual([idle.pressures, flags(idle)], [undefined, [undefined, undefined]]);
    const [first] = round.containers;
    if (first !== undefined) first.state.quota = { missingSince: -QUOTA_OFF_MS, reported: true };
    const pressures = ["MemoryPressure", "PIDPressure"] as const;
    const pressed = nodeView(round, { ...CONTEXT, node: { ...CONTEXT.node, pressures } });
    assert.deepEqual(nodeViewSchema.parse(JSON.parse(JSON.stringify(pressed))), pressed);
    assert.deepEqual([pressed.pressures, flags(pressed)], [[...pressures], [true, undefined]]);
  },
);

const INPUT = {
  node: CONTEXT.node,
  sample: CONTEXT.sample,
  clearMs: 1,
} as const;

function scene() {
  const world = { now: 0, synced: false };
  const latest = createLatestRound({
    clock: { wall: () => Date.UTC(2026, 0, 1) + world.now, monotonic: () => world.now },
    pace: DEFAULT_PACE,
    idleCPU: "free",
    stuckAfterMs: 30_000,
    synced: () => world.synced,
  });
  return { world, latest };
}

pure("unhealthy() is the time for which the loop has stood still", () => {
  const { world, latest } = scene();
  world.now = 30_000;
  assert.equal(latest.unhealthy(), undefined);
  world.now = 30_001;
  assert.match(latest.unhealthy() ?? "", / loop .* 30s$/);
  assert.equal(latest.unready(), latest.unhealthy());
  latest.alive();
  assert.equal(latest.unhealthy(), undefined);
});

pure("unready() names what is missing: the allocations, then the node", () => {
  const { world, latest } = scene();
  assert.match(latest.unready() ?? "", /^the allocations/);
  world.synced = true;
  assert.match(latest.unready() ?? "", / node /);
  latest.observe(sampleRound([]), INPUT);
  assert.equal(latest.unready(), undefined);
});

pure("view() shows the last round, stamped with the time of the round", () => {
  const { world, latest } = scene();
  assert.equal(latest.view(), undefined);
  latest.observe(sampleRound([]), INPUT);
  world.now = 5000;
  const view = latest.view();
  assert.deepEqual([view?.node, view?.at], ["node-1", "2026-01-01T00:00:00.000Z"]);
});
