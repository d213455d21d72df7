import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../../shared/api/resource_quota.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleGuaranteed,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/sample_objects.ts";
import { createWatchedCache } from "../../../tests/fixtures/watched_cache.ts";
import { createQuotaRooms } from "./quota_room.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quota(change: Partial<ResourceQuota> = {}): ResourceQuota {
  return sampleQuota({
    hardLimitsCPU: 2000,
    usedLimitsCPU: 1000,
    requestsCPU: { hard: 1000, used: 700 },
    ...change,
  });
}

/** A namespace whose pods all want more than their ceilings. */
function namespaceOf(containers: Readonly<Record<string, PodContainer>>, quotaHeadroom = 0) {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
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
    caches: { pods, allocations },
    clock: { monotonic: () => 0 },
    config: { quotaHeadroom },
  });
  const pod = (name: string): Pod => pods.get(`shop/${name}`) ?? assert.fail(name);
  const room = (name: string, ...quotas: readonly ResourceQuota[]) => {
    const found = rooms.of({ pod: pod(name), quotas });
    return found === undefined
      ? undefined
      : [found.headroom().millicores, found.ceiling().millicores];
  };
  const change = (name: string, part: Partial<Pod>): void =>
    void pods.put({ ...pod(name), ...part });
  return { rooms, pod, room, change, reads: () => pods.reads + allocations.reads };
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

test("book() counts a Guaranteed pod's raise in both, another's in limits", () => {
  const { rooms, pod, room } = namespaceOf({ fixed: sampleGuaranteed(), web: sampleContainer() });
  const quotas = [quota()];
  rooms.of({ pod: pod("web"), quotas })?.book(100);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 300);
  rooms.of({ pod: pod("fixed"), quotas })?.book(50);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 250);
  assert.deepEqual(room("web", ...quotas)?.[0], 850);
});

test("createQuotaRooms() names the quota that leaves the least", () => {
  const { rooms, pod } = namespaceOf({ web: sampleContainer() });
  const tight = quota({ hardLimitsCPU: 1300 });
  const quotas = [quota(), { ...tight, metadata: { ...tight.metadata, name: "tight" } }];
  for (const order of [quotas, [...quotas].reverse()]) {
    const found = rooms.of({ pod: pod("web"), quotas: order });
    assert.deepEqual(found?.headroom(), { millicores: 300, quota: "tight" });
    assert.deepEqual(found?.ceiling(), { millicores: 500, quota: "tight" });
  }
});

test("createQuotaRooms() passes over quotas whose scopes leave the pod out", () => {
  const { room, rooms, pod, change } = namespaceOf({ web: sampleContainer() });
  const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
  const bare = quota({ usedLimitsCPU: 2000, scopes });
  const full = { ...bare, metadata: { ...bare.metadata, name: "jobs" } };
  assert.equal(room("web", full), undefined);
  assert.deepEqual(room("web", full, quota()), [1000, 200 + 1000]);
  rooms.of({ pod: pod("web"), quotas: [full, quota()] })?.book(100);
  assert.deepEqual(room("web", full, quota()), [900, 200 + 900]);
  change("web", { hasDeadline: true });
  assert.deepEqual(room("web", full, quota()), [0, 200]);
});

test("createQuotaRooms() lets only pods that a quota counts give back for it, and by their own sums", () => {
  const raised = sampleContainer({ limitCPU: 400 });
  const { room, change } = namespaceOf({ web: raised, job: raised, other: raised }, 1);
  for (const name of ["job", "other"]) change(name, { hasDeadline: true });
  // 100 m are missing for one more pod of 200 m: the jobs bring them, the other gives nothing.
  const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
  const full = quota({ hardLimitsCPU: 900, usedLimitsCPU: 800, scopes });
  assert.deepEqual(room("job", full), [-100, 350]);
  assert.deepEqual(room("other", full), [-100, 350]);
  assert.equal(room("web", full), undefined);
  assert.deepEqual(room("web", { ...full, scopes: [] }), [-100, 360]);
});

test("createQuotaRooms() reads nothing anew for a look at a pod that has not changed", () => {
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`p${index}`, sampleContainer({ limitCPU: 400 })]),
  );
  const { rooms, pod, reads } = namespaceOf(many, 1);
  const subjects = Object.keys(many).map((name) => ({ pod: pod(name), quotas: [quota()] }));
  const look = (): number => {
    const before = reads();
    for (const subject of subjects) rooms.of(subject)?.ceiling();
    return reads() - before;
  };
  // The first look at the namespace: its list, and of each pod itself and its allocation.
  assert.equal(look(), 600);
  assert.equal(look(), 0);
});

test("createQuotaRooms() takes the requests that a quota lacks from pods whose requests move", () => {
  const containers = {
    fixed: sampleGuaranteed({ limitCPU: 400, requestCPU: 400 }),
    web: sampleContainer({ limitCPU: 800 }),
  };
  const { room } = namespaceOf(containers, 1);
  const full = quota({ hardLimitsCPU: 9000, requestsCPU: { hard: 550, used: 500 } });
  // 100 m are missing beside what is kept, 150 m; Burstable raises would not help.
  assert.deepEqual(room("fixed", full)?.[1], 300);
  assert.deepEqual(room("web", full)?.[1], 800 + 3900);
});
