import fc from "fast-check";
import assert from "node:assert/strict";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { roundBounds } from "../../../shared/market/rounding.ts";
import {
  cpuLimits,
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { createWatchedCache, fixedCache, marketCaches } from "../../../tests/fixtures/caches.ts";
import type { ContainerFields } from "../../../tests/fixtures/container_fields.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DEFAULT_MARKET_CONFIG } from "../../config.ts";
import type { PodUse } from "./pod_use.ts";
import { createQuotaBids, type QuotaBid } from "./quota_bids.ts";
import { createQuotaRooms, giveBack } from "./quota_room.ts";
import { createQuotaShares, divideQuota } from "./quota_shares.ts";

/** A quota of limits and of requests, each as what it allows and what is used of it. */
function quota(
  limits: readonly [hard: number, used: number] | undefined,
  requests?: readonly [hard: number, used: number],
  change: Partial<ResourceQuota> = {},
): ResourceQuota {
  const bounds = {
    ...(limits && cpuLimits(...limits).bounds),
    ...(requests && { "requests.cpu": { hard: requests[0], used: requests[1] } }),
  };
  return sampleQuota({ bounds, ...change });
}

const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];

/** Headroom, the share of container `app`, and what is owed; undefined where no quota binds. */
type Room = readonly [headroom: number, share: number | undefined, owed: number];

/**
 * A namespace with these pods, all in the market. The original limit of each is 200 m, its request
 * 150 m, its ceiling 1000 m; published is a ceiling of 400 m.
 */
function namespaceOf(
  containers: Readonly<Record<string, PodContainer>>,
  { quotaHeadroom = 0, changes = {} }: {
    readonly quotaHeadroom?: number;
    readonly changes?: Readonly<Record<string, Partial<Pod>>>;
  } = {},
) {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const time = { nowMs: 0 };
  const bound = { name: "app", containerID: "c", floor: 200, ceiling: 400, weight: 1 };
  const status = {
    bounds: { revision: 1, reason: "", containers: [bound] },
    originalLimits: [{ name: "app", cpu: "200m" }],
    originalRequests: [{ name: "app", cpu: "150m" }],
  };
  for (const [name, container] of Object.entries(containers)) {
    const bare = samplePod(name, { containers: [container] });
    const metadata = { ...bare.metadata, uid: name };
    pods.put({ ...bare, phase: "Running", metadata, ...changes[name] });
    allocations.put({ ...sampleAllocation({ ...bare, metadata }), status });
  }
  const bid = { name: "app", weight: 1, floor: 200, ceiling: 1000 };
  const rooms = createQuotaRooms({
    caches: { pods, allocations },
    clock: { monotonic: () => time.nowMs },
    config: { quotaHeadroom },
    bidsOf: () => [bid],
    wake: () => {},
  });
  const of = (name: string, ...quotas: readonly ResourceQuota[]) =>
    rooms.roomOf({ pod: pods.get(`shop/${name}`) ?? assert.fail(name), quotas });
  const room = (name: string, ...quotas: readonly ResourceQuota[]): Room | undefined => {
    const found = of(name, ...quotas);
    const { shares, owed = NaN } = found?.bounds() ?? {};
    return found && [found.headroom().millicores, shares?.get("app")?.millicores, owed];
  };
  return { of, room, time };
}

type Rows = readonly (readonly [pod: string, quotas: readonly ResourceQuota[], Room | undefined])[];

/** Plays the rows one after the other, each a second after the last. */
function assertRooms({ room, time }: ReturnType<typeof namespaceOf>, rows: Rows): void {
  for (const [name, quotas, expected] of rows) {
    time.nowMs += 1000;
    assert.deepEqual(room(name, ...quotas), expected);
  }
}

const web = sampleContainer();
const fixed = sampleGuaranteed();
const moved = (cpu: number) => sampleGuaranteed({ requests: { cpu }, limits: { cpu } });
const raised = (cpu: number) => sampleContainer({ limits: { cpu } });
const jobs = { job: { hasDeadline: true }, other: { hasDeadline: true } } as const;

pure("createQuotaRooms() bounds a Guaranteed pod by limits and requests, others by limits", () => {
  const wide = quota([2000, 400], [400, 300]);
  assertRooms(namespaceOf({ fixed, web }), [
    ["web", [], undefined],
    ["web", [wide], [1600, 1000, 0]],
    // The other pod's request of 100 m stays.
    ["fixed", [wide], [100, 300, 0]],
    // The limits may be the tighter ones, too.
    ["fixed", [quota([500, 400], [1000, 700])], [100, 250, 0]],
    ["fixed", [quota([500, 400])], [100, 250, 0]],
    ["fixed", [quota(undefined, [400, 300])], [100, 300, 0]],
    ["web", [quota(undefined, [400, 300])], undefined],
  ]);
});

pure("book() counts raises in requests and limits, where a quota counts them", () => {
  const { of, room } = namespaceOf({ fixed, web });
  const quotas = [quota([2000, 1000], [1000, 700]), quota([300, 300], undefined, { scopes })];
  const left = (name: string) => room(name, ...quotas)?.[0];
  of("web", ...quotas)?.book(100);
  assert.equal(left("fixed"), 300);
  of("fixed", ...quotas)?.book(50);
  assert.deepEqual([left("fixed"), left("web")], [250, 850]);
});

pure("createQuotaRooms() names the quota that leaves the least", () => {
  const metadata = { ...sampleQuota().metadata, name: "tight" };
  const quotas = [quota([2000, 1000]), quota([500, 200], undefined, { metadata })];
  for (const order of [quotas, quotas.toReversed()]) {
    const found = namespaceOf({ web }).of("web", ...order);
    assert.deepEqual(found?.headroom(), { millicores: 300, quota: "tight" });
    assert.deepEqual(found?.bounds().shares.get("app"), { millicores: 500, quota: "tight" });
  }
});

pure("createQuotaRooms() divides quotas among the pods that their scopes count", () => {
  const wide = quota([2000, 1000]);
  const full = quota([300, 300], undefined, { scopes });
  assertRooms(namespaceOf({ web, job: web }, { changes: jobs }), [
    ["web", [full], undefined],
    ["web", [full, wide], [1000, 1000, 0]],
    ["job", [full, wide], [0, 300, 0]],
  ]);
  const ofJobs = quota([900, 400], undefined, { scopes });
  assertRooms(namespaceOf({ web, job: web, other: web }, { changes: jobs }), [
    ["job", [ofJobs], [500, 450, 0]],
    ["web", [ofJobs], undefined],
    ["web", [{ ...ofJobs, scopes: [] }], [500, 300, 0]],
  ]);
  // 100 m are missing for one more pod of 200 m: the jobs bring them, the other gives nothing.
  const crowded = { web: raised(500), job: raised(500), other: raised(500) };
  const short = quota([1100, 1000], undefined, { scopes });
  assertRooms(namespaceOf(crowded, { quotaHeadroom: 1, changes: jobs }), [
    ["job", [short], [-100, 450, 50]],
    ["other", [short], [-100, 450, 50]],
    ["web", [short], undefined],
    ["web", [quota([1600, 1500])], [-100, 460, 40]],
  ]);
});

pure("createQuotaRooms() asks back by the smaller of two counts", () => {
  // 200 m are kept; the pod's limits sum up to 500 m, 300 m of them raised.
  const { room } = namespaceOf({ web: raised(500) }, { quotaHeadroom: 1 });
  const owed = (hard: number, used: number) => room("web", quota([hard, used]))?.[2];
  assert.deepEqual([owed(700, 500), owed(700, 650), owed(650, 650), owed(650, 420)], [0, 0, 50, 0]);
  // Requests come from pods with requests that move alone: 100 m are missing beside the 150 m.
  const full = quota([9000, 1000], [650, 600]);
  assertRooms(namespaceOf({ fixed: moved(500), web: raised(800) }, { quotaHeadroom: 1 }), [
    ["fixed", [full], [-100, 400, 100]],
    ["web", [full], [7800, 1000, 0]],
  ]);
});

pure("giveBack() brings together what is missing, a step each at most", () => {
  const parts = (missing: number, ...raises: readonly number[]): readonly number[] => {
    const all = raises.reduce((sum, raise) => sum + raise, 0);
    return raises.map((raise) => giveBack({ missing, raise, allRaises: all }));
  };
  assert.deepEqual([parts(40, 100, 50), parts(1000, 100, 50)], [[30, 20], [100, 50]]);
  assert.deepEqual([parts(0, 100), parts(-40, 100), parts(40, 0, 50)], [[0], [0], [0, 40]]);
  const raise = fc.integer({ min: 1, max: 4000 });
  const raises = fc.array(raise, { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(raises, raise, (sizes, missing) => {
    const given = parts(missing, ...sizes);
    const [sum = 0, all = 0] = [given, sizes].map((one) => one.reduce((a, b) => a + b, 0));
    assert.ok(sum >= Math.min(missing, all) && sum < missing + 10 * sizes.length + 1e-6);
    assert.ok(given.every((part, index) => part >= 0 && part <= (sizes[index] ?? 0)));
  }));
});

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
function sharesStage(names: readonly string[]) {
  const state = { version: 0, nowMs: 0, names };
  const bids = (podKey: string) => [{ ...bid(1, 100, 1000), name: podKey }];
  const woken: string[] = [];
  let divisions = 0;
  const sharesOf = createQuotaShares({
    uses: {
      bids() {
        divisions++;
        return state.names.map((podKey) => ({ podKey, bids: bids(podKey) }));
      },
      namespace: () => state,
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
  const { state, of, woken } = sharesStage(["a", "b", "c"]);
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
  const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
  const { state, of, divisions } = sharesStage(names);
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

interface BidChoice {
  readonly container?: ContainerFields;
  readonly pod?: Partial<Pod>;
  /** The original limit on record. */
  readonly own?: string;
  readonly burstFactor?: number;
  readonly draining?: boolean;
}

/** The bids of a pod of one container: 100 m requested, a limit of 200 m, on a node of 4 cores. */
function bidsOf({ container = {}, pod: change = {}, own, burstFactor = 4, draining }: BidChoice) {
  const bare = samplePod("web", { containers: [sampleContainer(container)] });
  const pod: Pod = { ...bare, phase: "Running", ...change };
  const status = own === undefined ? {} : { originalLimits: [{ name: "app", cpu: own }] };
  const allocation: PodAllocation = { ...sampleAllocation(pod), status };
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

pure("createQuotaBids() bids from what a container keeps to its ceiling, by weight", () => {
  const { metadata } = samplePod("web");
  const withMetadata = (change: Partial<Pod["metadata"]>): BidChoice => ({
    pod: { metadata: { ...metadata, ...change } },
  });
  const raised = { container: { requests: {}, limits: { cpu: 700 } }, own: "200m" };
  const critical = { priorityClassName: "system-node-critical" };
  const rows: readonly (readonly [BidChoice, ...bids: readonly number[][]])[] = [
    [{}, [100, 200, 800]],
    [{ pod: { phase: "Pending" } }, [100, 200, 800]],
    [{ container: { containerID: "containerd://a" } }, [100, 200, 800]],
    [{ burstFactor: 8, pod: { priority: 2000 } }, [150, 200, 1600]],
    // The limit that the market has set says nothing.
    [{ container: { limits: { cpu: 700 } }, own: "200m" }, [100, 200, 800]],
    [withMetadata({ annotations: { "mbcas.io/max-cpu": "150m" } }), [100, 150, 150]],
    [{ ...raised, draining: true }, [100, 700, 700]],
    [{ ...raised, pod: critical }, [100, 700, 800]],
    // Limits that stay have no bid.
    [withMetadata({ terminating: true })],
    [withMetadata({ labels: { "mbcas.io/managed": "false" } })],
    [{ pod: { podLevel: { requests: {}, limits: { cpu: 600 } } } }],
    [{ container: { limitManagers: ["mbcas"] } }],
  ];
  for (const [choice, ...bids] of rows) assert.deepEqual(bidsOf(choice), bids);
});
