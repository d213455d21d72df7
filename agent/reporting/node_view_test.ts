import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { DEFAULT_PACE } from "../../shared/pacing/paced_container.ts";
import { type NodeView, nodeViewSchema } from "../../shared/view/node_view.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
  sampleResults,
  sampleRound,
} from "../../tests/fixtures/market/sample_participants.ts";
import { QUOTA_OFF_MS, type QuotaState } from "../market/container_state.ts";
import type { RoundResult } from "../market/round.ts";
import { createLatestRound, nodeView, type NodeViewContext } from "./node_view.ts";

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
      ...{ revision: 7, reason: "quota" },
      containers: [sampleBounds("a"), sampleBounds("b", { held: "lower", name: "sidecar" })],
    },
    originalLimits: ["app", "sidecar"].map((name) => ({ name, cpu: "500m" })),
  },
};

/** A pod of two containers; the first has readings where `used` is given, the second never. */
function roundOf(
  { used, price = 0.5, reason, spec = {}, quota }:
    & { readonly used?: number; readonly price?: number; readonly reason?: MarketReason }
    & { readonly spec?: Partial<PodAllocation["spec"]>; readonly quota?: QuotaState } = {},
): RoundResult {
  const [app, ...others] = sampleResults(boundedAllocation("a", { ...TWO, spec }));
  assert.ok(app !== undefined);
  const throttled = { throttledMsPerS: 40, throttledPeriods: 1 };
  const state = {
    ...app.state,
    ...(used === undefined
      ? {}
      : { demand: 310.4, sample: sampleReading("a", { at: 0, usage: used, ...throttled }) }),
    ...(reason === undefined ? {} : { reason, changedAt: 0 }),
    ...(quota === undefined ? {} : { quota }),
  };
  return sampleRound([{ ...app, state }, ...others], { price });
}

/** The view, which its readers accept as it is written. */
function viewOf(round: RoundResult, change: Partial<NodeViewContext> = {}): NodeView {
  const view = nodeView(round, { ...CONTEXT, ...change });
  assert.deepEqual(nodeViewSchema.parse(JSON.parse(JSON.stringify(view))), view);
  const newer = {
    ...view,
    held: "Later",
    pods: view.pods.map((pod) => ({ ...pod, reason: "Later" })),
  };
  assert.deepEqual(nodeViewSchema.parse(newer), newer);
  return view;
}

pure("nodeView() shows node, pod and containers", () => {
  const { pods: [pod, ...others], ...node } = viewOf(roundOf({ used: 300, reason: "Throttled" }));
  assert.deepEqual([node, others], [{
    ...{ node: "node-1", at: "2026-01-01T00:00:00.000Z", mode: "congested", state: "scarce" },
    ...{ stateSeconds: 0, idleCPU: "free", price: 500, allocatable: 2000, capacity: 1500 },
    ...{ unmanaged: 300, committed: 700, waitMs: 75 },
  }, []]);
  assert.ok(pod !== undefined);
  const { containers, ...sums } = pod;
  assert.deepEqual(sums, {
    ...{ namespace: "shop", pod: "a", uid: "a", usage: 300, throttledMsPerSecond: 40 },
    ...{ demand: 620.4, need: 620, limit: 1000, enforced: 500, floor: 200, ceiling: 4000 },
    ...{ originalLimit: 1000, price: 500, reason: "Throttled" },
    bounds: { revision: 7, reason: "quota" },
  });
  assert.deepEqual(
    containers.map((one) => [one.name, one.id, one.held, one.throttledShare, one.enforced]),
    [
      ["app", sampleID("a"), undefined, 0.5, 500],
      ["sidecar", sampleID("b"), "lower", undefined, undefined],
    ],
  );
});

pure("nodeView() shows PSI of the node and of each pod that has it", () => {
  const node = { waitingMs: 60_000, share: 0.12 };
  const pods = new Map([["a", { waitingMs: 1500, share: 0.5 }]]);
  const view = viewOf(roundOf(), { pressure: { node, pods } });
  assert.deepEqual([view.cpuPressure, view.pods[0]?.cpuPressure], [
    { share: 0.12, seconds: 60 },
    { share: 0.5, seconds: 1.5 },
  ]);
  assert.ok(!("cpuPressure" in viewOf(roundOf(), { pressure: undefined })));
});

pure("nodeView() leaves out what was not read, and shows an infinite price as null", () => {
  const view = viewOf(roundOf({ price: Infinity }));
  const [pod = {}] = view.pods;
  assert.deepEqual([view.price, "price" in pod && pod.price], [null, null]);
  for (const field of ["usage", "throttledMsPerSecond", "enforced", "reason"]) {
    assert.ok(!Object.hasOwn(pod, field), field);
  }
});

pure("nodeView() falls back on the reason that was written before the agent started", () => {
  const market = { ...{ mode: "congested", demand: 1, need: 1, credit: 1 }, observedBounds: 7 };
  const spec = { market: { ...market, reason: "DemandFell" } } as Partial<PodAllocation["spec"]>;
  assert.equal(viewOf(roundOf({ spec })).pods[0]?.reason, "DemandFell");
});

pure("nodeView() shows what holds limits, or makes less of them", () => {
  const shown = ({ pressures, held, pods }: NodeView) => [
    ...[pressures, held],
    ...pods.flatMap(({ containers }) => containers.map(({ quotaOff }) => quotaOff)),
  ];
  const none = [undefined, undefined, undefined, undefined];
  assert.deepEqual(shown(viewOf(roundOf({ used: 300 }))), none);
  const quota = { missingSince: -QUOTA_OFF_MS, reported: true };
  const node = { ...CONTEXT.node, pressures: ["MemoryPressure", "PIDPressure"] as const };
  assert.deepEqual(
    shown(viewOf(roundOf({ used: 300, quota }), { node, limitsIgnored: true })),
    [["MemoryPressure", "PIDPressure"], "SchedExt", true, undefined],
  );
});

/** No round yet, and allocations that are not in sync. */
function scene() {
  const world = { now: 0, synced: false };
  const latest = createLatestRound({
    clock: { wall: () => Date.UTC(2026, 0, 1) + world.now, monotonic: () => world.now },
    ...{ pace: DEFAULT_PACE, idleCPU: "free", stuckAfterMs: 30_000 },
    synced: () => world.synced,
    pressure: () => undefined,
  });
  const observe = () => latest.observe(sampleRound([]), { ...CONTEXT, limitsIgnored: false });
  return { world, latest, observe };
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
  const { world, latest, observe } = scene();
  assert.match(latest.unready() ?? "", /^the allocations/);
  world.synced = true;
  assert.match(latest.unready() ?? "", / node /);
  observe();
  assert.equal(latest.unready(), undefined);
});

pure("view() shows the last round, stamped with the time of the round", () => {
  const { world, latest, observe } = scene();
  assert.equal(latest.view(), undefined);
  observe();
  world.now = 5000;
  const view = latest.view();
  assert.deepEqual([view?.node, view?.at], ["node-1", "2026-01-01T00:00:00.000Z"]);
});
