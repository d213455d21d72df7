import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { QuotaScope, ResourceQuota } from "../../../shared/api/namespace.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { createWatchedCache } from "../../../tests/fixtures/market/watched_cache.ts";
import type { QuotaBid } from "./quota_bids.ts";
import type { QuotaResource } from "./quota_ledger.ts";
import { createQuotaUses } from "./quota_uses.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quota(scopes: readonly QuotaScope[] = [], namespace = "shop"): ResourceQuota {
  const metadata = { name: "cpu", namespace, uid: "q", resourceVersion: "1" };
  return { metadata, usedLimitsCPU: 0, scopes };
}

const TERMINATING = [{ name: "Terminating", operator: "Exists", values: [] }];

function podOf(name: string, app: PodContainer, change: Partial<Pod> = {}): Pod {
  const pod = samplePod(name, { containers: [app] });
  return { ...pod, phase: "Running", metadata: { ...pod.metadata, uid: `uid-${name}` }, ...change };
}

function limited(name: string, limitCPU: number, change: Partial<Pod> = {}): Pod {
  return podOf(name, sampleContainer({ limits: { cpu: limitCPU } }), change);
}

/** Original limit and request of container `app`; no ceiling is published. */
function allocationOf(pod: Pod, cpu: string): PodAllocation {
  const own = [{ name: "app", cpu }];
  return { ...sampleAllocation(pod), status: { originalLimits: own, originalRequests: own } };
}

function bid(floor: number, ceiling = 1000): readonly QuotaBid[] {
  return [{ name: "app", weight: 1, floor, ceiling }];
}

function stage() {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const bids = new Map<string, readonly QuotaBid[]>();
  const woken: string[] = [];
  const uses = createQuotaUses({
    pods,
    allocations,
    bidsOf: (podKey) => bids.get(podKey) ?? [],
    wake: (podKey) => void woken.push(podKey),
  });
  const limits = (...scopes: readonly QuotaScope[]) => uses.of(quota(scopes), "limits");
  const requests = () => uses.of(quota(), "requests");
  return { pods, allocations, bids, woken, uses, limits, requests };
}

const NOTHING = { used: 0, raised: 0, fixed: 0, largest: 0 };

test("createQuotaUses() sums a namespace's pods, and finds the largest by the user's own values", () => {
  const { pods, allocations, bids, uses, limits } = stage();
  const raised = limited("a", 800);
  pods.put(raised);
  allocations.put(allocationOf(raised, "200m"));
  pods.put(limited("b", 300));
  pods.put(limited("job", 4000, { phase: "Succeeded" }));
  bids.set("shop/a", bid(200));
  assert.deepEqual(limits(), { used: 1100, raised: 600, fixed: 300, largest: 300 });
  assert.deepEqual(uses.of(quota([], "other"), "limits"), NOTHING);
  assert.equal(uses.pod("shop/a")?.raise, 600);
  assert.equal(uses.pod("shop/job"), undefined);
});

test("createQuotaUses() counts raises of requests for pods with requests that move", () => {
  const { pods, allocations, requests, limits } = stage();
  const fixed = podOf("fixed", sampleGuaranteed({ requests: { cpu: 900 }, limits: { cpu: 900 } }));
  const web = limited("web", 500);
  for (const pod of [fixed, web]) {
    pods.put(pod);
    allocations.put(allocationOf(pod, "200m"));
  }
  assert.deepEqual(requests(), { used: 1000, raised: 700, fixed: 1000, largest: 200 });
  assert.deepEqual(limits(), { used: 1400, raised: 1000, fixed: 1400, largest: 200 });
});

test("createQuotaUses() follows pods and allocations that come, change and go", () => {
  const { pods, allocations, limits } = stage();
  assert.deepEqual(limits(), NOTHING);
  const a = limited("a", 500);
  pods.put(a);
  assert.deepEqual(limits(), { used: 500, raised: 0, fixed: 500, largest: 500 });
  allocations.put(allocationOf(a, "200m"));
  assert.deepEqual(limits(), { used: 500, raised: 300, fixed: 500, largest: 200 });
  pods.put(limited("a", 250));
  assert.deepEqual(limits(), { used: 250, raised: 50, fixed: 250, largest: 200 });
  pods.put(limited("a", 250, { phase: "Failed" }));
  assert.deepEqual(limits(), NOTHING);
  pods.put(limited("b", 100));
  pods.remove(limited("b", 100));
  assert.deepEqual(limits(), NOTHING);
});

test("createQuotaUses() counts for a quota with scopes what those take in", () => {
  const { pods, limits } = stage();
  pods.put(limited("web", 200));
  pods.put(limited("job", 700, { hasDeadline: true }));
  assert.deepEqual(limits(...TERMINATING), { ...NOTHING, used: 700, fixed: 700, largest: 700 });
  assert.deepEqual(limits(), { ...NOTHING, used: 900, fixed: 900, largest: 700 });
  const classes = [{ name: "PriorityClass", operator: "In", values: ["high"] }];
  assert.deepEqual(limits(...classes), NOTHING);
  // A pod that is reported to end some day is in another scope from then on.
  pods.put(limited("web", 200, { hasDeadline: true, priorityClassName: "high" }));
  assert.deepEqual(limits(...TERMINATING), { ...NOTHING, used: 900, fixed: 900, largest: 700 });
  assert.deepEqual(limits(...classes), { ...NOTHING, used: 200, fixed: 200, largest: 200 });
});

test("createQuotaUses() reads a namespace once, and then one pod for each that changes", () => {
  const { pods, allocations, limits, uses } = stage();
  for (let index = 0; index < 500; index++) pods.put(limited(`p${index}`, 100));
  assert.equal(pods.reads, 0);
  limits();
  const first = pods.reads + allocations.reads;
  assert.ok(first <= 1500, `${first} reads`);
  for (let index = 0; index < 500; index++) {
    limits();
    uses.pod(`shop/p${index}`);
  }
  assert.equal(pods.reads + allocations.reads, first);
  pods.put(limited("p7", 300));
  assert.equal(pods.reads + allocations.reads, first + 2);
  assert.deepEqual(limits(), { ...NOTHING, used: 50_200, fixed: 50_200, largest: 300 });
});

test("forget() begins anew with the next question, and stop() receives nothing more", () => {
  const { pods, allocations, limits, uses } = stage();
  pods.put(limited("a", 100));
  limits();
  uses.forget("shop");
  const before = pods.reads;
  pods.put(limited("a", 200));
  assert.equal(pods.reads, before);
  assert.equal(limits().used, 200);
  uses.stop();
  assert.deepEqual([pods.watchers, allocations.watchers], [0, 0]);
});

test("createQuotaUses() forgets a namespace with its last pod", () => {
  const { pods, limits } = stage();
  const [a, b] = [limited("a", 300), limited("b", 200)];
  for (const pod of [a, b]) pods.put(pod);
  assert.equal(limits().used, 500);
  const reads = (act: () => void): number => {
    const before = pods.reads;
    act();
    return pods.reads - before;
  };
  assert.equal(reads(() => pods.remove(a)), 1);
  assert.equal(reads(() => pods.remove(b)), 1);
  assert.equal(reads(() => pods.put(b)), 0);
  assert.equal(limits().used, 200);
  assert.equal(reads(() => pods.put(a)), 1);
  assert.equal(limits().used, 500);
});

test("bids() has those of the pods that the quota counts, by their keys", () => {
  const { pods, bids, uses } = stage();
  for (const name of ["b", "a"]) bids.set(`shop/${name}`, bid(200));
  bids.set("shop/fixed", bid(300));
  for (const pod of [limited("b", 200), limited("plain", 200), limited("a", 200)]) pods.put(pod);
  pods.put(podOf("fixed", sampleGuaranteed(), { hasDeadline: true }));
  const keys = (resource: QuotaResource, ...scopes: readonly QuotaScope[]) =>
    uses.bids(quota(scopes), resource).map(({ podKey }) => podKey);
  assert.deepEqual(keys("limits"), ["shop/a", "shop/b", "shop/fixed"]);
  assert.deepEqual(keys("limits", ...TERMINATING), ["shop/fixed"]);
  assert.deepEqual(keys("requests"), ["shop/fixed"]);
});

test("createQuotaUses() has a pod ask when shares may be others, and not when limits change", () => {
  const { pods, allocations, bids, uses, woken, limits } = stage();
  for (const name of ["a", "b"]) {
    bids.set(`shop/${name}`, bid(200));
    pods.put(limited(name, 200));
    allocations.put(allocationOf(limited(name, 200), "200m"));
  }
  limits();
  uses.refresh("shop/a");
  const { version } = uses.book("shop");
  pods.put(limited("a", 700));
  assert.deepEqual([uses.book("shop").version, woken], [version, []]);
  // The pod that asks needs not be woken.
  bids.set("shop/a", bid(300));
  uses.refresh("shop/a");
  assert.deepEqual([uses.book("shop").version, woken], [version + 1, []]);
  pods.put(limited("c", 100));
  pods.remove(limited("a", 700));
  pods.remove(limited("c", 100));
  assert.deepEqual(woken, ["shop/a", "shop/b", "shop/b"]);
});

test("createQuotaUses() has the sums of a fresh look after any changes", () => {
  const change = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    limit: fc.nat(1000),
    own: fc.option(fc.nat(500), { nil: undefined }),
    gone: fc.boolean(),
    guaranteed: fc.boolean(),
    change: fc.constantFrom<Partial<Pod>>(
      {},
      { hasDeadline: true },
      { phase: "Succeeded" },
      { priorityClassName: "system-node-critical" },
    ),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const { pods, allocations, uses } = stage();
      uses.of(quota(), "limits");
      for (const { name, limit, own, gone, guaranteed, change } of changes) {
        const app = guaranteed
          ? sampleGuaranteed({ requests: { cpu: limit }, limits: { cpu: limit } })
          : sampleContainer({ limits: { cpu: limit } });
        const pod = podOf(name, app, change);
        if (gone) pods.remove(pod);
        else pods.put(pod);
        if (own !== undefined) allocations.put(allocationOf(pod, `${own}m`));
      }
      const fresh = createQuotaUses({ pods, allocations, bidsOf: () => [], wake: () => {} });
      for (const scopes of [[], TERMINATING]) {
        for (const resource of ["limits", "requests"] as const) {
          assert.deepEqual(
            uses.of(quota(scopes), resource),
            fresh.of(quota(scopes), resource),
          );
        }
      }
    }),
  );
});
