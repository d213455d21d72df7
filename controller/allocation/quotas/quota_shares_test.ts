import fc from "fast-check";
import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { roundBounds } from "../../../shared/market/rounding.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleNode,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import { fixedCache, marketCaches } from "../../../tests/fixtures/caches.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { PodUse } from "./pod_use.ts";
import { createQuotaBids, type QuotaBid } from "./quota_bids.ts";
import { createQuotaShares, divideQuota } from "./quota_shares.ts";

function bid(weight: number, floor: number, ceiling: number): QuotaBid {
  return { name: "app", weight, floor, ceiling };
}

pure("divideQuota() divides by weight, between original limit and ceiling", () => {
  const rows:
    readonly (readonly [bids: readonly QuotaBid[], room: number, shares: readonly number[]])[] = [
      [[], 0, []],
      // Ceilings that fit stay as they are.
      [[bid(1, 100, 805), bid(1, 100, 400)], 1210, [805, 400]],
      [[bid(100, 100, 4000), bid(300, 100, 4000)], 1000, [250, 750]],
      [[bid(100, 400, 4000), bid(300, 100, 4000)], 1000, [400, 600]],
      [[bid(100, 100, 4000), bid(300, 100, 305)], 1000, [700, 305]],
      // Where no more fits: original limits, off the grid too.
      ...[-100, 0, 300, 458, 469].map((room) =>
        [[bid(1, 125, 1000), bid(1, 333, 1000)], room, [125, 333]] as const
      ),
      [[bid(1, 125, 1000), bid(1, 333, 1000)], 480, [140, 340]],
    ];
  for (const [bids, room, shares] of rows) assert.deepEqual(divideQuota(bids, room), shares);
});

const anyBid = fc.record({
  weight: fc.integer({ min: 1, max: 5000 }),
  floor: fc.nat(2000),
  more: fc.nat(10_000),
}).map(({ weight, floor, more }) => bid(weight, floor, floor + more));

pure("divideQuota() keeps what agents may use within the room, or gives original limits", () => {
  fc.assert(
    fc.property(fc.array(anyBid, { maxLength: 20 }), fc.integer({ max: 40_000 }), (bids, room) => {
      const ceilings = divideQuota(bids, room);
      const sum = bids.reduce(
        (total, one, index) =>
          total + roundBounds({ floor: one.floor, ceiling: ceilings[index] ?? NaN }).ceiling,
        0,
      );
      const isAtFloors = bids.every(({ floor }, index) => ceilings[index] === floor);
      assert.ok(sum <= room || isAtFloors, `${sum} of ${room}`);
      for (const [index, { floor, ceiling }] of bids.entries()) {
        const share = ceilings[index] ?? NaN;
        assert.ok(share >= floor && share <= ceiling, `${floor} ${share} ${ceiling}`);
      }
      assert.deepEqual(divideQuota(bids, room), ceilings);
    }),
  );
});

/** Pods of one container in a namespace, and a clock. */
function stage(names: readonly string[]) {
  const state = { version: 0, nowMs: 0, names };
  const bids = (podKey: string) => [{ ...bid(1, 100, 1000), name: podKey }];
  const woken: string[] = [];
  let divisions = 0;
  const use = {
    get version() {
      return state.version;
    },
  };
  const sharesOf = createQuotaShares({
    uses: {
      bids() {
        divisions++;
        return state.names.map((podKey) => ({ podKey, bids: bids(podKey) }));
      },
      namespace: () => use,
      pod: (podKey) => ({ bids: bids(podKey) }) as unknown as PodUse,
    },
    clock: { monotonic: () => state.nowMs },
    wake: (podKey) => void woken.push(podKey),
  });
  const of = (podKey: string, room = 900) => {
    const { shares: found, againMs } = sharesOf(sampleQuota(), "limits", { podKey, room });
    return [found.get(podKey), againMs];
  };
  return { state, woken, of, divisions: () => divisions };
}

pure("createQuotaShares() divides anew for another room or other pods", () => {
  const { state, of, woken } = stage(["a", "b", "c"]);
  of("a");
  state.nowMs += 1000;
  assert.deepEqual(of("a", 910), [310, undefined]);
  // The step that is left went to the pod that asks.
  assert.deepEqual(woken, []);
  state.nowMs += 1000;
  state.version++;
  state.names = ["a", "b", "c", "d"];
  assert.deepEqual(of("d"), [220, undefined]);
  assert.deepEqual(woken, ["a", "b", "c"]);
});

pure("createQuotaShares() divides for a crowd every ten milliseconds a pod", () => {
  const { state, of, divisions } = stage(Array.from({ length: 100 }, (_, index) => `p${index}`));
  of("p0", 20_000);
  state.nowMs += 400;
  state.version++;
  // The last division counts until then, and a pod that came later has its original limit.
  assert.deepEqual(of("p0", 20_000), [200, 600]);
  assert.deepEqual(of("late", 20_000), [100, 600]);
  assert.equal(divisions(), 1);
  state.nowMs += 600;
  assert.deepEqual(of("p0", 30_000), [300, undefined]);
  assert.equal(divisions(), 2);
});

interface Choice {
  readonly container?: ContainerFields;
  readonly pod?: Partial<Pod>;
  /** The original limit on record. */
  readonly own?: string;
  readonly burstFactor?: number;
  readonly draining?: boolean;
}

/** The bids of a pod of one container: 100 m requested, a limit of 200 m, on a node of 4 cores. */
function bidsOf({ container = {}, pod: change = {}, own, burstFactor = 4, draining }: Choice = {}) {
  const bare = samplePod("web", { containers: [sampleContainer(container)] });
  const pod: Pod = { ...bare, phase: "Running", ...change };
  const allocation: PodAllocation = {
    ...sampleAllocation(pod),
    ...(own === undefined ? {} : { status: { originalLimits: [{ name: "app", cpu: own }] } }),
  };
  const node = sampleNode("node-1");
  const caches = marketCaches({
    pods: fixedCache([pod]),
    allocations: fixedCache([allocation]),
    nodes: fixedCache([draining ? { ...node, draining } : node]),
  });
  const config = { ...DEFAULT_MARKET_CONFIG, burstFactor };
  return createQuotaBids({ caches, clock: { wall: () => 0 }, config })("shop/web")
    .map(({ weight, floor, ceiling }) => [weight, floor, ceiling]);
}

pure("createQuotaBids() bids from the original limit to the ceiling, by weight", () => {
  assert.deepEqual(bidsOf(), [[100, 200, 800]]);
  assert.deepEqual(bidsOf({ pod: { phase: "Pending" } }), bidsOf());
  assert.deepEqual(bidsOf({ container: { containerID: "containerd://a" } }), bidsOf());
  assert.deepEqual(bidsOf({ burstFactor: 8, pod: { priority: 2000 } }), [[150, 200, 1600]]);
  // The limit that the market has set says nothing.
  assert.deepEqual(bidsOf({ container: { limits: { cpu: 700 } }, own: "200m" }), [[100, 200, 800]]);
  const annotations = { "mbcas.io/max-cpu": "150m" };
  const { metadata } = samplePod("web");
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, annotations } } }), [[100, 150, 150]]);
});

pure("createQuotaBids() bids what a container keeps in any case", () => {
  const raised = { container: { requests: {}, limits: { cpu: 700 } }, own: "200m" };
  assert.deepEqual(bidsOf({ ...raised, draining: true }), [[100, 700, 700]]);
  const priorityClassName = "system-node-critical";
  assert.deepEqual(bidsOf({ ...raised, pod: { priorityClassName } }), [[100, 700, 800]]);
});

pure("createQuotaBids() bids nothing for limits that stay", () => {
  const { metadata } = samplePod("web");
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, terminating: true } } }), []);
  assert.deepEqual(bidsOf({ pod: { podLevel: { requests: {}, limits: { cpu: 600 } } } }), []);
  assert.deepEqual(bidsOf({ container: { limitManagers: ["mbcas"] } }), []);
  const labels = { "mbcas.io/managed": "false" };
  assert.deepEqual(bidsOf({ pod: { metadata: { ...metadata, labels } } }), []);
});
