import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../shared/api/resource_quota.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../tests/contract/sample_objects.ts";
import {
  createQuotaLedger,
  liveAllocations,
  quotaCeiling,
  quotaMissing,
  resourcesOf,
} from "./quota_headroom.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quota(change: Partial<ResourceQuota> = {}, resourceVersion = "1"): ResourceQuota {
  return {
    metadata: { name: "cpu", namespace: "shop", uid: "q", resourceVersion },
    hardLimitsCPU: 1000,
    usedLimitsCPU: 700,
    scopes: [],
    ...change,
  };
}

/** A pod with this limit, and its allocation with this need and ceiling. */
function claimant(
  index: number,
  { limit, need, ceiling }: { limit: number; need: number; ceiling: number },
): { pod: Pod; allocation: PodAllocation } {
  const bare = samplePod(`p${index}`, { containers: [sampleContainer({ limitCPU: limit })] });
  const pod = { ...bare, metadata: { ...bare.metadata, uid: `u${index}` } };
  const allocation = sampleAllocation(pod);
  const { market, ...desired } = sampleDesired("100m");
  assert.ok(market);
  const app = { name: "app", containerID: "c", floor: 10, ceiling, weight: 1 };
  return {
    pod,
    allocation: {
      ...allocation,
      spec: { ...allocation.spec, ...desired, market: { ...market, need } },
      status: { bounds: { revision: 1, reason: "", containers: [app] } },
    },
  };
}

test("headroom() is the least that any quota leaves, of those that count CPU limits", () => {
  const ledger = createQuotaLedger();
  const { hardLimitsCPU: _none, ...ofMemory } = quota();
  const left = (...quotas: ResourceQuota[]) => ledger.headroom(quotas, "limits");
  assert.equal(left(), undefined);
  assert.equal(left(ofMemory), undefined);
  assert.equal(left(quota({ hardLimitsCPU: 1, scopes: ["BestEffort"] })), undefined);
  assert.equal(left(quota(), quota({ hardLimitsCPU: 800 })), 100);
  assert.equal(left(quota({ usedLimitsCPU: 1300 })), -300);
});

test("headroom() of requests looks at quotas on requests alone", () => {
  const ledger = createQuotaLedger();
  const requests = quota({ requestsCPU: { hard: 500, used: 450 } });
  assert.equal(ledger.headroom([quota()], "requests"), undefined);
  assert.equal(ledger.headroom([quota(), requests], "requests"), 50);
  assert.equal(ledger.headroom([requests], "limits"), 300);
});

test("headroom() counts accepted raises until the quota is seen in another version", () => {
  const ledger = createQuotaLedger();
  const resources = ["limits"] as const;
  ledger.note([quota()], 50, { resources });
  ledger.note([quota()], 30, { resources });
  ledger.note([quota()], -70, { resources });
  assert.equal(ledger.headroom([quota()], "limits"), 220);
  assert.equal(ledger.headroom([quota({ usedLimitsCPU: 780 }, "2")], "limits"), 220);
});

test("note() counts a raise in each resource that it takes, and in no other", () => {
  const ledger = createQuotaLedger();
  const both = quota({ requestsCPU: { hard: 500, used: 100 } });
  ledger.note([both], 60, { resources: ["limits"] });
  ledger.note([both], 50, { resources: ["limits", "requests"] });
  assert.equal(ledger.headroom([both], "limits"), 190);
  assert.equal(ledger.headroom([both], "requests"), 350);
});

test("resourcesOf() names the requests of pods whose requests move with their limits", () => {
  assert.deepEqual(resourcesOf({ qosClass: "Burstable" }), ["limits"]);
  assert.deepEqual(resourcesOf({ qosClass: "Guaranteed" }), ["limits", "requests"]);
});

test("quotaMissing() is what the tightest quota lacks, by its own count or the pods', whichever is less", () => {
  const { hardLimitsCPU: _none, ...ofMemory } = quota();
  const of = (used: number, kept: number, ...quotas: ResourceQuota[]) =>
    quotaMissing(quotas, "limits", { used, kept });
  assert.equal(of(700, 200, quota()), 0);
  assert.equal(of(700, 350, quota()), 50);
  assert.equal(of(600, 350, quota()), 0);
  assert.equal(of(900, 350, quota()), 50);
  assert.equal(of(700, 350, quota(), quota({ hardLimitsCPU: 800 }), ofMemory), 250);
  assert.equal(of(9000, 9000), 0);
});

test("quotaCeiling() divides the headroom among pods whose need reaches their ceiling", () => {
  const full = { limit: 200, need: 400, ceiling: 400 };
  const modest = { limit: 200, need: 150, ceiling: 400 };
  const pods = [full, full, modest].map((sizes, index) => claimant(index, sizes));
  const allocations = pods.map(({ allocation }) => allocation);
  const ceilings = pods.map(({ pod }) => quotaCeiling({ pod, headroom: 150, allocations }));
  assert.deepEqual(ceilings, [270, 270, 350]);
  const none = pods.map(({ pod }) => quotaCeiling({ pod, headroom: -10, allocations }));
  assert.deepEqual(none, [200, 200, 200]);
});

test("quotaCeiling() gives claimants parts whose sum is no more than the headroom", () => {
  const sizes = fc.record({
    limit: fc.integer({ min: 1, max: 200 }).map((steps) => steps * 10),
    need: fc.integer({ min: 1, max: 500 }),
    ceiling: fc.integer({ min: 1, max: 500 }),
  });
  fc.assert(
    fc.property(fc.array(sizes, { maxLength: 8 }), fc.integer({ min: -50, max: 5000 }), (
      list,
      headroom,
    ) => {
      const pods = list.map((one, index) => claimant(index, one));
      const allocations = pods.map(({ allocation }) => allocation);
      let parts = 0;
      for (const [index, { pod }] of pods.entries()) {
        const { limit = 0, need = 0, ceiling = 0 } = list[index] ?? {};
        const part = quotaCeiling({ pod, headroom, allocations }) - limit;
        assert.ok(part >= 0 && part <= Math.max(0, headroom));
        if (need >= ceiling) parts += part;
      }
      assert.ok(parts <= Math.max(0, headroom));
    }),
  );
});

test("liveAllocations() leaves out finished pods and those of another birth", () => {
  const sizes = { limit: 200, need: 400, ceiling: 400 };
  const pods = new Map<string, Pod>();
  const allocations = ["Running", "Succeeded", "Failed", "Running"].map((phase, index) => {
    const { pod, allocation } = claimant(index, sizes);
    const { metadata } = pod;
    const uid = index === 3 ? "reborn" : metadata.uid;
    const live = { ...pod, phase: phase as Pod["phase"], metadata: { ...metadata, uid } };
    pods.set(`shop/${metadata.name}`, live);
    return allocation;
  });
  const gone = claimant(4, sizes).allocation;
  const caches = {
    pods: { get: (key: string) => pods.get(key) },
    allocations: { byIndex: () => [...allocations, gone] },
  };
  assert.deepEqual(liveAllocations(caches, "shop"), allocations.slice(0, 1));
  assert.deepEqual(liveAllocations(caches, "shop", { taking: "requests" }), []);
  const [first] = allocations;
  const key = `shop/${first?.spec.podName}`;
  pods.set(key, { ...pods.get(key) as Pod, qosClass: "Guaranteed" });
  assert.deepEqual(liveAllocations(caches, "shop", { taking: "requests" }), [first]);
});
