import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../shared/api/resource_quota.ts";
import { createObjectCache } from "../../shared/control/object_cache.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/sample_objects.ts";
import { createQuotaRooms } from "./quota_room.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quota(change: Partial<ResourceQuota> = {}): ResourceQuota {
  return {
    metadata: { name: "cpu", namespace: "shop", uid: "q", resourceVersion: "1" },
    hardLimitsCPU: 2000,
    usedLimitsCPU: 1000,
    requestsCPU: { hard: 1000, used: 700 },
    scopes: [],
    ...change,
  };
}

/** A namespace whose pods all want more than their ceilings. */
function namespaceOf(containers: Readonly<Record<string, PodContainer>>, quotaHeadroom = 0) {
  const pods = createObjectCache<Pod>(({ metadata }) => metadata.namespace);
  const allocations = createObjectCache<PodAllocation>(({ metadata }) => metadata.namespace);
  for (const [name, container] of Object.entries(containers)) {
    const bare = samplePod(name, { containers: [container] });
    const pod = { ...bare, phase: "Running", metadata: { ...bare.metadata, uid: name } } as const;
    pods.put(pod);
    const { market, ...desired } = sampleDesired("200m");
    assert.ok(market);
    const draft = sampleAllocation(pod);
    const bound = { name: "app", containerID: "c", floor: 200, ceiling: 400, weight: 1 };
    allocations.put({
      ...draft,
      spec: { ...draft.spec, ...desired, market: { ...market, need: 400 } },
      status: {
        bounds: { revision: 1, reason: "", containers: [bound] },
        originalLimits: [{ name: "app", cpu: "200m" }],
        originalRequests: [{ name: "app", cpu: "150m" }],
      },
    });
  }
  const rooms = createQuotaRooms({
    caches: { pods, allocations } as unknown as Parameters<typeof createQuotaRooms>[0]["caches"],
    clock: { monotonic: () => 0 },
    config: { quotaHeadroom },
  });
  const pod = (name: string): Pod => pods.get(`shop/${name}`) ?? assert.fail(name);
  const room = (name: string, ...quotas: readonly ResourceQuota[]) => {
    const found = rooms.of({ pod: pod(name), quotas });
    return found === undefined ? undefined : [found.headroom, found.ceiling()];
  };
  return { rooms, pod, room };
}

test("createQuotaRooms() bounds a Guaranteed pod by limits and requests, others by limits", () => {
  const { room } = namespaceOf({ fixed: sampleGuaranteed(), web: sampleContainer() });
  assert.equal(room("web"), undefined);
  assert.deepEqual(room("web", quota()), [1000, 200 + 500]);
  assert.deepEqual(room("fixed", quota()), [300, 200 + 300]);
  // The limits may be the tighter ones, too.
  assert.deepEqual(room("fixed", quota({ usedLimitsCPU: 1900 })), [100, 200 + 50]);
  const { requestsCPU: _none, ...ofLimits } = quota();
  assert.deepEqual(room("fixed", ofLimits), [1000, 200 + 500]);
  const { hardLimitsCPU: _hard, ...ofRequests } = quota();
  assert.deepEqual(room("fixed", ofRequests), [300, 200 + 300]);
  assert.equal(room("web", ofRequests), undefined);
});

test("createQuotaRooms() divides requests among the Guaranteed pods alone", () => {
  const { room } = namespaceOf({
    one: sampleGuaranteed(),
    two: sampleGuaranteed(),
    web: sampleContainer(),
  });
  assert.deepEqual(room("one", quota()), [300, 200 + 150]);
  assert.deepEqual(room("web", quota()), [1000, 200 + 330]);
});

test("createQuotaRooms() keeps room for one more pod of the largest own limit and request", () => {
  const raised = sampleGuaranteed({ limitCPU: 900, requestCPU: 900 });
  const { room } = namespaceOf({ fixed: raised, web: sampleContainer() }, 1);
  // Own values count: 200 m of limits, 150 m of requests.
  assert.deepEqual(room("web", quota())?.[0], 800);
  assert.deepEqual(room("fixed", quota())?.[0], 150);
});

test("note() counts a Guaranteed pod's raise in both, another's in limits", () => {
  const { rooms, pod, room } = namespaceOf({ fixed: sampleGuaranteed(), web: sampleContainer() });
  const quotas = [quota()];
  rooms.note({ pod: pod("web"), quotas }, 100);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 300);
  rooms.note({ pod: pod("fixed"), quotas }, 50);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 250);
  assert.deepEqual(room("web", ...quotas)?.[0], 850);
});
