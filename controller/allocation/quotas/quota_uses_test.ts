import assert from "node:assert/strict";
import fc from "fast-check";
import type { QuotaScope, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  cpuLimits,
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { createWatchedCache } from "../../../tests/fixtures/caches.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { podUseOf } from "./pod_use.ts";
import type { QuotaBid } from "./quota_bids.ts";
import { createQuotaLedger, type QuotaResource } from "./quota_ledger.ts";
import { createQuotaUses } from "./quota_uses.ts";

function podOf(name: string, containers: readonly PodContainer[], change: Partial<Pod> = {}): Pod {
  const pod = samplePod(name, { containers });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid: `uid-${name}` }, ...change };
}

const limited = (name: string, cpu: number, change: Partial<Pod> = {}): Pod =>
  podOf(name, [sampleContainer({ limits: { cpu } })], change);
const moving = (name: string, cpu: number, change: Partial<Pod> = {}): Pod =>
  podOf(name, [sampleGuaranteed({ requests: { cpu }, limits: { cpu } })], change);

type AppBounds = Partial<Pick<ContainerBounds, "held" | "ceiling">>;

function allocationOf(pod: Pod, bounds?: AppBounds, cpu = "200m"): PodAllocation {
  const own = [{ name: "app", cpu }];
  const app = { name: "app", containerID: "c", floor: 100, ceiling: 0, weight: 1, ...bounds };
  const published = { revision: 1, reason: "", containers: [app] };
  const originals = { originalLimits: own, originalRequests: own };
  const status = bounds === undefined ? originals : { ...originals, bounds: published };
  return { ...sampleAllocation(pod), status };
}

const bid = (floor: number): readonly QuotaBid[] => [
  { name: "app", weight: 1, floor, ceiling: 1000 },
];

/** `used original fixed raise` of limits and of requests, and `movesRequest`. */
function use(pod: Pod, allocation?: PodAllocation): string {
  const found = podUseOf(pod, { allocation, bids: [] });
  if (found === undefined) return "ended";
  const of = (resource: QuotaResource): string => {
    const { used, original, fixed, raise } = found[resource];
    return [used, original, fixed, raise].join(" ");
  };
  return `${of("limits")}, ${of("requests")}${found.movesRequest ? " moves" : ""}`;
}

function withInit(limit: number, request = 10, sidecarsBefore = 0): Partial<Pod> {
  const amounts = { requests: { cpu: request }, limits: { cpu: limit } };
  return { initContainers: [sampleContainer({ name: "prepare", sidecarsBefore, ...amounts })] };
}

pure("podUseOf() counts as the server's quota does, and what of it is own, fixed or raised", () => {
  const free = { ...sampleContainer({ name: "free" }), limits: {} };
  const two = [sampleContainer(), free, sampleContainer({ name: "b", limits: { cpu: 250 } })];
  assert.equal(use(podOf("a", two)), "450 450 450 0, 300 300 300 0");
  for (const phase of ["Succeeded", "Failed"] as const) {
    assert.equal(use(limited("a", 4000, { phase })), "ended");
  }
  // The original limit is 200 m; requests of 100 m stay, or are 200 m where they move.
  const cases: readonly (readonly [pod: Pod, use: string])[] = [
    [limited("a", 500, { phase: "Pending" }), "500 200 500 300, 100 100 100 0"],
    [limited("a", 150), "150 200 150 0, 100 100 100 0"],
    [moving("a", 900), "900 200 900 700, 900 200 900 700 moves"],
    // The limit of the init container can't be given back.
    [limited("a", 500, withInit(350, 300)), "500 350 500 150, 300 300 300 0"],
    [limited("a", 500, withInit(2000)), "2000 2000 2000 0, 100 100 100 0"],
    [
      limited("a", 500, { podLevel: { requests: { cpu: 400 }, limits: { cpu: 600 } } }),
      "600 600 600 0, 400 400 400 0",
    ],
    [limited("a", 500, { overheadCPU: 50 }), "550 250 550 300, 150 150 150 0"],
    [
      podOf("a", [{ ...sampleContainer(), limits: {} }], { overheadCPU: 50 }),
      "0 250 0 0, 150 150 150 0",
    ],
  ];
  for (const [pod, expected] of cases) {
    assert.equal(use(pod, allocationOf(pod)), expected);
  }
  // A sidecar counts beside the init containers that start after it.
  const sidecar = sampleContainer({ name: "proxy", sidecar: true, limits: { cpu: 150 } });
  const beside = (sidecarsBefore: number) =>
    use(podOf("a", [sampleContainer(), sidecar], withInit(400, 10, sidecarsBefore))).split(" ")[0];
  assert.deepEqual([beside(0), beside(1)], ["400", "550"]);
});

pure("podUseOf() finds what limits are above their ceilings, where that may be taken back", () => {
  const raise = (bounds?: AppBounds, change: Partial<Pod> = {}) => {
    const pod = limited("a", 500, change);
    const allocation = allocationOf(pod, bounds);
    return podUseOf(pod, { allocation, bids: [] })?.limits.raise;
  };
  const { metadata } = limited("a", 500);
  assert.deepEqual([raise(), raise({ ceiling: 450 }), raise({ ceiling: 600 })], [300, 50, 0]);
  // Original limits are never taken back.
  assert.equal(raise({ ceiling: 100 }), 300);
  const helds = (["half", "lower", "both"] as const).map((held) => raise({ held }));
  assert.deepEqual(helds, [300, 300, 0]);
  assert.equal(raise(undefined, { priorityClassName: "system-node-critical" }), 0);
  assert.equal(raise(undefined, { priorityClassName: "high" }), 300);
  assert.equal(raise(undefined, { metadata: { ...metadata, terminating: true } }), 0);
  assert.equal(podUseOf(limited("a", 500), { allocation: undefined, bids: [] })?.limits.raise, 0);
});

pure("podUseOf() finds what quotas count beside the bids, whatever the limit is now", () => {
  const fixed = (pod: Pod): readonly unknown[] => {
    const found = podUseOf(pod, { allocation: allocationOf(pod), bids: bid(200) });
    return [found?.limits.fixed, found?.requests.fixed];
  };
  assert.deepEqual([fixed(limited("a", 200)), fixed(limited("a", 700))], [[0, 100], [0, 100]]);
  assert.deepEqual(fixed(limited("a", 700, { overheadCPU: 50 })), [50, 150]);
  assert.deepEqual(fixed(limited("a", 700, withInit(350))), [150, 100]);
  assert.deepEqual(fixed(moving("a", 900)), [0, 0]);
});

function quota(scopes: readonly QuotaScope[] = [], namespace = "shop"): ResourceQuota {
  const { metadata } = sampleQuota();
  return sampleQuota({ scopes, metadata: { ...metadata, namespace } });
}

const TERMINATING = [{ name: "Terminating", operator: "Exists", values: [] }];

function stage() {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const bids = new Map<string, readonly QuotaBid[]>();
  const woken: string[] = [];
  const uses = createQuotaUses({
    ...{ pods, allocations },
    bidsOf: (podKey) => bids.get(podKey) ?? [],
    wake: (podKey) => void woken.push(podKey),
  });
  /** `used raised fixed largest`. */
  const sums = (resource: QuotaResource = "limits", ...scopes: readonly QuotaScope[]): string => {
    const { used, raised, fixed, largest } = uses.sum(quota(scopes), resource);
    return [used, raised, fixed, largest].join(" ");
  };
  const record = (pod: Pod, cpu = "200m"): void => {
    pods.put(pod);
    allocations.put(allocationOf(pod, undefined, cpu));
  };
  const reads = (act: () => void): number => {
    const before = pods.reads + allocations.reads;
    act();
    return pods.reads + allocations.reads - before;
  };
  return { pods, allocations, bids, woken, uses, sums, record, reads };
}

pure("createQuotaUses() sums a namespace's pods, as they come, change and go", () => {
  const { pods, bids, uses, sums, record } = stage();
  record(limited("a", 800));
  pods.put(limited("b", 300));
  pods.put(limited("job", 4000, { phase: "Succeeded" }));
  bids.set("shop/a", bid(200));
  assert.equal(sums(), "1100 600 300 300");
  assert.equal(uses.sum(quota([], "other"), "limits").used, 0);
  assert.deepEqual([uses.pod("shop/a")?.limits.raise, uses.pod("shop/job")], [600, undefined]);
  bids.clear();
  record(moving("fixed", 900));
  assert.deepEqual([sums(), sums("requests")], ["2000 1300 1200 300", "1100 700 1100 200"]);
  for (const pod of [limited("b", 300), moving("fixed", 900)]) pods.remove(pod);
  pods.put(limited("a", 500));
  assert.equal(sums(), "500 300 500 200");
  pods.put(limited("a", 250, { phase: "Failed" }));
  assert.equal(sums(), "0 0 0 0");
});

pure("createQuotaUses() reads a namespace once, and then one pod for each that changes", () => {
  const { pods, allocations, sums, uses, reads } = stage();
  for (let index = 0; index < 500; index++) pods.put(limited(`p${index}`, 100));
  assert.equal(reads(() => {}), 0);
  assert.ok(reads(sums) <= 1500);
  assert.equal(reads(() => void [sums(), uses.pod("shop/p9")]), 0);
  assert.equal(reads(() => void pods.put(limited("p7", 300))), 2);
  assert.equal(sums(), "50200 0 50200 300");
  // Nor are sums made anew for a pod of which nothing has changed.
  const before = uses.sum(quota(), "limits");
  uses.refresh("shop/p9");
  assert.equal(uses.sum(quota(), "limits"), before);
  // A forgotten namespace is not read until it is asked about again.
  uses.forget("shop");
  assert.equal(reads(() => void pods.put(limited("p7", 200))), 0);
  assert.equal(uses.sum(quota(), "limits").used, 50_100);
  uses.stop();
  assert.deepEqual([pods.watchers, allocations.watchers], [0, 0]);
});

pure("createQuotaUses() forgets a namespace with its last pod", () => {
  const { pods, sums, reads } = stage();
  const [a, b] = [limited("a", 300), limited("b", 200)];
  for (const pod of [a, b]) pods.put(pod);
  sums();
  const changes = [() => pods.remove(a), () => pods.remove(b), () => pods.put(b)];
  assert.deepEqual(changes.map(reads), [1, 1, 0]);
  assert.equal(sums(), "200 0 200 200");
});

pure("bids() has those of the pods that the quota counts, by their keys", () => {
  const { pods, bids, uses } = stage();
  for (const name of ["b", "a", "fixed"]) bids.set(`shop/${name}`, bid(200));
  for (const name of ["b", "plain", "a"]) pods.put(limited(name, 200));
  pods.put(moving("fixed", 200, { hasDeadline: true }));
  const keys = (resource: QuotaResource, ...scopes: readonly QuotaScope[]) =>
    uses.bids(quota(scopes), resource).map(({ podKey }) => podKey);
  assert.deepEqual(keys("limits"), ["shop/a", "shop/b", "shop/fixed"]);
  assert.deepEqual(keys("limits", ...TERMINATING), ["shop/fixed"]);
  assert.deepEqual(keys("requests"), ["shop/fixed"]);
});

pure("createQuotaUses() has a pod ask when shares may differ", () => {
  const { pods, bids, uses, woken, sums, record } = stage();
  for (const name of ["a", "b"]) {
    bids.set(`shop/${name}`, bid(200));
    record(limited(name, 200));
  }
  sums();
  uses.refresh("shop/a");
  const { version } = uses.namespace("shop");
  pods.put(limited("a", 700));
  assert.deepEqual([uses.namespace("shop").version, woken], [version, []]);
  // The pod that asks needs not be woken.
  bids.set("shop/a", bid(300));
  uses.refresh("shop/a");
  assert.deepEqual([uses.namespace("shop").version, woken], [version + 1, []]);
  pods.put(limited("c", 100));
  pods.remove(limited("a", 700));
  pods.remove(limited("c", 100));
  assert.deepEqual(woken, ["shop/a", "shop/b", "shop/b"]);
});

pure("createQuotaUses() has the sums of a fresh look after any changes", () => {
  const change = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    limit: fc.nat(1000),
    own: fc.option(fc.nat(500), { nil: undefined }),
    gone: fc.boolean(),
    makes: fc.constantFrom(limited, moving),
    change: fc.constantFrom<Partial<Pod>>(
      ...[{}, { hasDeadline: true as const }, { phase: "Succeeded" as const }],
      { priorityClassName: "system-node-critical" },
    ),
  });
  fc.assert(fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
    const { pods, allocations, uses, sums } = stage();
    for (const { name, limit, own, gone, makes, change } of changes) {
      sums();
      const pod = makes(name, limit, change);
      if (gone) pods.remove(pod);
      else pods.put(pod);
      if (own !== undefined) allocations.put(allocationOf(pod, undefined, `${own}m`));
    }
    const fresh = createQuotaUses({ pods, allocations, bidsOf: () => [], wake: () => {} });
    for (const scopes of [[], TERMINATING]) {
      for (const resource of ["limits", "requests"] as const) {
        const asked = quota(scopes);
        assert.deepEqual(uses.sum(asked, resource), fresh.sum(asked, resource));
      }
    }
  }));
});

/** A quota of 1000 m that has this much used in this version. */
function seen(used: number, version: number, change: Partial<ResourceQuota> = {}): ResourceQuota {
  const metadata = { ...sampleQuota().metadata, resourceVersion: `${version}` };
  return sampleQuota({ metadata, ...cpuLimits(1000, used), ...change });
}

const QUOTA = seen(700, 10);

function ledgerStage() {
  const time = { now: 0 };
  const { headroom, book } = createQuotaLedger({ monotonic: () => time.now });
  return {
    time,
    left: (quota: ResourceQuota = QUOTA) => headroom(quota, "limits"),
    headroom,
    book: (change: number, quota = QUOTA) => book([quota], change, { resources: ["limits"] }),
  };
}

pure("headroom() is what the quota leaves, nothing where it does not bound the resource", () => {
  const { left, headroom } = ledgerStage();
  const ofMemory = { ...QUOTA, bounds: {} };
  const bounds = { ...QUOTA.bounds, "requests.cpu": { hard: 500, used: 450 } };
  const requests = { ...QUOTA, bounds };
  assert.deepEqual([left(), left(ofMemory), left(seen(1300, 10))], [300, undefined, -300]);
  const both = (["limits", "requests"] as const).map((one) => headroom(requests, one));
  assert.deepEqual([headroom(QUOTA, "requests"), ...both], [undefined, 300, 50]);
});

pure("headroom() counts a raise from its booking, and none that was refused", () => {
  const { left, book, time } = ledgerStage();
  const first = book(50);
  const second = book(30);
  book(-70);
  assert.equal(left(), 220);
  second(0);
  assert.equal(left(), 250);
  // However long an answer takes.
  time.now = 60_000;
  assert.equal(left(), 250);
  first(20, "15");
  assert.equal(left(), 280);
});

pure("headroom() counts each of several raises until the quota counts it", () => {
  const { left, book } = ledgerStage();
  const raises = [50, 30, 40].map((change) => [change, book(change)] as const);
  // The quota's new version is often there before the answer, and a reconcile may have an older one.
  assert.deepEqual([left(seen(750, 11)), left()], [180, 180]);
  for (const [index, [change, settle]] of raises.entries()) settle(change, `${12 + 2 * index}`);
  const copies = [[750, 11], [780, 13], [820, 15], [790, 20]] as const;
  const found = copies.map(([used, version]) => left(seen(used, version)));
  assert.deepEqual(found, [180, 180, 180, 210]);
});

pure("headroom() counts a raise that a decrease hides for two seconds at most", () => {
  const { left, book, time } = ledgerStage();
  book(50)(50, "12");
  assert.deepEqual([left(seen(600, 11)), left(seen(600, 12))], [350, 400]);
  book(50, seen(600, 12))(50, "30");
  const after = [0, 1999, 2000].map((now) => {
    time.now = now;
    return left(seen(500, 13));
  });
  assert.deepEqual(after, [450, 450, 500]);
});

pure("headroom() counts a raise with an unknown outcome for two seconds", () => {
  const { left, book, time } = ledgerStage();
  const settle = book(50);
  time.now = 30_000;
  settle(50);
  assert.equal(left(), 250);
  time.now = 32_000;
  assert.equal(left(), 300);
});

pure("headroom() never leaves more than the server would take, whatever is on its way", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("send" as const), part: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ kind: fc.constantFrom("answer", "watch", "count down") }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { left, book } = ledgerStage();
    let version = 10;
    let used = 700;
    let down = 0;
    let copy = seen(used, version);
    const versions: ResourceQuota[] = [];
    const answers: (() => void)[] = [];
    for (const one of steps) {
      if ("part" in one) {
        const room = left(copy) ?? 0;
        const raise = Math.floor(room * one.part / 10);
        if (raise <= 0) continue;
        const settle = book(raise, copy);
        assert.ok(used + raise <= 1000, `${used} and ${raise}`);
        used += raise;
        down += Math.floor(raise / 2);
        versions.push(seen(used, ++version));
        const pod = `${++version}`;
        answers.push(() => settle(raise, pod));
      } else if (one.kind === "answer") answers.shift()?.();
      else if (one.kind === "watch") copy = versions.shift() ?? copy;
      else if (down > 0) {
        used -= down;
        down = 0;
        versions.push(seen(used, ++version));
      }
    }
  }));
});
