import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { QuotaScope, ResourceQuota } from "../../../shared/api/resource_quota.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { createWatchedCache } from "../../../tests/fixtures/watched_cache.ts";
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
  return podOf(name, sampleContainer({ limitCPU }), change);
}

/** Own limit and request of container `app`; its ceiling is 400 m. */
function allocationOf(pod: Pod, cpu: string, need = 0): PodAllocation {
  const draft = sampleAllocation(pod);
  const { market, ...desired } = sampleDesired(cpu);
  assert.ok(market);
  const own = [{ name: "app", cpu }];
  const bound = { name: "app", containerID: "c", floor: 10, ceiling: 400, weight: 1 };
  return {
    ...draft,
    spec: { ...draft.spec, ...desired, market: { ...market, need } },
    status: {
      originalLimits: own,
      originalRequests: own,
      bounds: { revision: 1, reason: "", containers: [bound] },
    },
  };
}

function stage() {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const uses = createQuotaUses({ pods, allocations });
  const limits = (...scopes: readonly QuotaScope[]) => uses.of(quota(scopes), "limits");
  return { pods, allocations, uses, limits, requests: () => uses.of(quota(), "requests") };
}

const NOTHING = { used: 0, raised: 0, largest: 0, claimants: 0 };

test("createQuotaUses() sums a namespace's pods, and finds the largest by the user's own values", () => {
  const { pods, allocations, uses, limits } = stage();
  const raised = limited("a", 800);
  pods.put(raised);
  allocations.put(allocationOf(raised, "200m", 400));
  pods.put(limited("b", 300));
  pods.put(limited("job", 4000, { phase: "Succeeded" }));
  assert.deepEqual(limits(), { used: 1100, raised: 600, largest: 300, claimants: 1 });
  assert.deepEqual(uses.of(quota([], "other"), "limits"), NOTHING);
  assert.equal(uses.pod("shop/a")?.raise, 600);
  assert.equal(uses.pod("shop/job"), undefined);
});

test("createQuotaUses() counts raises and claims of requests for pods whose requests move", () => {
  const { pods, allocations, requests, limits } = stage();
  const fixed = podOf("fixed", sampleGuaranteed({ limitCPU: 900, requestCPU: 900 }));
  const web = limited("web", 500);
  for (const pod of [fixed, web]) {
    pods.put(pod);
    allocations.put(allocationOf(pod, "200m", 400));
  }
  assert.deepEqual(requests(), { used: 1000, raised: 700, largest: 200, claimants: 1 });
  assert.deepEqual(limits(), { used: 1400, raised: 1000, largest: 200, claimants: 2 });
});

test("createQuotaUses() follows pods and allocations that come, change and go", () => {
  const { pods, allocations, limits } = stage();
  assert.deepEqual(limits(), NOTHING);
  const a = limited("a", 500);
  pods.put(a);
  assert.deepEqual(limits(), { used: 500, raised: 0, largest: 500, claimants: 0 });
  allocations.put(allocationOf(a, "200m", 400));
  assert.deepEqual(limits(), { used: 500, raised: 300, largest: 200, claimants: 1 });
  pods.put(limited("a", 250));
  assert.deepEqual(limits(), { used: 250, raised: 50, largest: 200, claimants: 1 });
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
  assert.deepEqual(limits(...TERMINATING), { ...NOTHING, used: 700, largest: 700 });
  assert.deepEqual(limits(), { ...NOTHING, used: 900, largest: 700 });
  const classes = [{ name: "PriorityClass", operator: "In", values: ["high"] }];
  assert.deepEqual(limits(...classes), NOTHING);
  // A pod that is told to end some day is in another scope from then on.
  pods.put(limited("web", 200, { hasDeadline: true, priorityClassName: "high" }));
  assert.deepEqual(limits(...TERMINATING), { ...NOTHING, used: 900, largest: 700 });
  assert.deepEqual(limits(...classes), { ...NOTHING, used: 200, largest: 200 });
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
  assert.deepEqual(limits(), { ...NOTHING, used: 50_200, largest: 300 });
});

test("forget() begins anew with the next question, and stop() hears nothing more", () => {
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

test("createQuotaUses() has the sums of a fresh look after any changes", () => {
  const change = fc.record({
    name: fc.constantFrom("a", "b", "c", "d"),
    limitCPU: fc.nat(1000),
    own: fc.option(fc.nat(500), { nil: undefined }),
    need: fc.nat(500),
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
      for (const { name, limitCPU, own, need, gone, guaranteed, change } of changes) {
        const app = guaranteed
          ? sampleGuaranteed({ limitCPU, requestCPU: limitCPU })
          : sampleContainer({ limitCPU });
        const pod = podOf(name, app, change);
        if (gone) pods.remove(pod);
        else pods.put(pod);
        if (own !== undefined) allocations.put(allocationOf(pod, `${own}m`, need));
      }
      const fresh = createQuotaUses({ pods, allocations });
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
