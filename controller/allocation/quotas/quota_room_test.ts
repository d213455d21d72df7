import assert from "node:assert/strict";
import fc from "fast-check";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { createWatchedCache } from "../../../tests/fixtures/market/watched_cache.ts";
import { createQuotaRooms, giveBack } from "./quota_room.ts";
import { pure } from "../../../tests/fixtures/pure.ts";

function quota(change: Partial<ResourceQuota> = {}): ResourceQuota {
  return sampleQuota({
    hardLimitsCPU: 2000,
    usedLimitsCPU: 1000,
    requestsCPU: { hard: 1000, used: 700 },
    ...change,
  });
}

/**
 * A namespace with these pods, all in the market. The original limit of each is 200 m, its request
 * 150 m, its ceiling 1000 m; published is a ceiling of 400 m.
 */
function namespaceOf(containers: Readonly<Record<string, PodContainer>>, quotaHeadroom = 0) {
  const pods = createWatchedCache<Pod>();
  const allocations = createWatchedCache<PodAllocation>();
  const time = { nowMs: 0 };
  for (const [name, container] of Object.entries(containers)) {
    const bare = samplePod(name, { containers: [container] });
    const pod = { ...bare, phase: "Running", metadata: { ...bare.metadata, uid: name } } as const;
    pods.put(pod);
    const bound = { name: "app", containerID: "c", floor: 200, ceiling: 400, weight: 1 };
    allocations.put({
      ...sampleAllocation(pod),
      status: {
        bounds: { revision: 1, reason: "", containers: [bound] },
        originalLimits: [{ name: "app", cpu: "200m" }],
        originalRequests: [{ name: "app", cpu: "150m" }],
      },
    });
  }
  const rooms = createQuotaRooms({
    caches: { pods, allocations },
    clock: { monotonic: () => time.nowMs },
    config: { quotaHeadroom },
    bidsOf: () => [{ name: "app", weight: 1, floor: 200, ceiling: 1000 }],
    wake: () => {},
  });
  const pod = (name: string): Pod => pods.get(`shop/${name}`) ?? assert.fail(name);
  /** Headroom, share, and what is owed. */
  const room = (name: string, ...quotas: readonly ResourceQuota[]) => {
    const found = rooms.of({ pod: pod(name), quotas });
    if (found === undefined) return undefined;
    const { shares, owed } = found.bounds();
    return [found.headroom().millicores, shares.get("app")?.millicores, owed];
  };
  const change = (name: string, part: Partial<Pod>): void =>
    void pods.put({ ...pod(name), ...part });
  return { rooms, pod, room, change, time, reads: () => pods.reads + allocations.reads };
}

pure("createQuotaRooms() bounds a Guaranteed pod by limits and requests, others by limits", () => {
  const { room, time } = namespaceOf({ fixed: sampleGuaranteed(), web: sampleContainer() });
  assert.equal(room("web"), undefined);
  const wide = quota({ usedLimitsCPU: 400, requestsCPU: { hard: 400, used: 300 } });
  assert.deepEqual(room("web", wide), [1600, 1000, 0]);
  // The other pod's request of 100 m stays.
  assert.deepEqual(room("fixed", wide), [100, 300, 0]);
  // The limits may be the tighter ones, too.
  time.nowMs += 1000;
  const limits = quota({ hardLimitsCPU: 500, usedLimitsCPU: 400 });
  assert.deepEqual(room("fixed", limits), [100, 250, 0]);
  const { requestsCPU: _none, ...ofLimits } = limits;
  assert.deepEqual(room("fixed", ofLimits), [100, 250, 0]);
  time.nowMs += 1000;
  const { hardLimitsCPU: _hard, ...ofRequests } = wide;
  assert.deepEqual(room("fixed", ofRequests), [100, 300, 0]);
  assert.equal(room("web", ofRequests), undefined);
});

pure(
  "createQuotaRooms() keeps room for one more pod of the largest original limit and request",
  () => {
    const raised = sampleGuaranteed({ requests: { cpu: 400 }, limits: { cpu: 400 } });
    const { room } = namespaceOf({ fixed: raised, web: sampleContainer() }, 1);
    // Own values count: 200 m of limits, 150 m of requests.
    const used = { usedLimitsCPU: 600, requestsCPU: { hard: 600, used: 500 } };
    assert.deepEqual(room("web", quota({ hardLimitsCPU: 1000, ...used })), [200, 400, 0]);
    assert.deepEqual(room("fixed", quota({ hardLimitsCPU: 1000, ...used })), [-50, 350, 0]);
  },
);

pure("book() counts a Guaranteed pod's raise in both, another's in limits", () => {
  const { rooms, pod, room } = namespaceOf({ fixed: sampleGuaranteed(), web: sampleContainer() });
  const quotas = [quota()];
  rooms.of({ pod: pod("web"), quotas })?.book(100);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 300);
  rooms.of({ pod: pod("fixed"), quotas })?.book(50);
  assert.deepEqual(room("fixed", ...quotas)?.[0], 250);
  assert.deepEqual(room("web", ...quotas)?.[0], 850);
});

pure("createQuotaRooms() names the quota that leaves the least", () => {
  const { rooms, pod } = namespaceOf({ web: sampleContainer() });
  const tight = quota({ hardLimitsCPU: 500, usedLimitsCPU: 200 });
  const quotas = [quota(), { ...tight, metadata: { ...tight.metadata, name: "tight" } }];
  for (const order of [quotas, [...quotas].reverse()]) {
    const found = rooms.of({ pod: pod("web"), quotas: order });
    assert.deepEqual(found?.headroom(), { millicores: 300, quota: "tight" });
    assert.deepEqual(found?.bounds().shares.get("app"), { millicores: 500, quota: "tight" });
  }
});

pure("createQuotaRooms() passes over quotas with scopes that leave the pod out", () => {
  const { room, rooms, pod, change } = namespaceOf({ web: sampleContainer() });
  const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
  const bare = quota({ hardLimitsCPU: 300, usedLimitsCPU: 300, scopes });
  const full = { ...bare, metadata: { ...bare.metadata, name: "jobs" } };
  assert.equal(room("web", full), undefined);
  assert.deepEqual(room("web", full, quota()), [1000, 1000, 0]);
  rooms.of({ pod: pod("web"), quotas: [full, quota()] })?.book(100);
  assert.deepEqual(room("web", full, quota()), [900, 1000, 0]);
  change("web", { hasDeadline: true });
  assert.deepEqual(room("web", full, quota()), [0, 300, 0]);
});

pure("createQuotaRooms() divides a quota among pods that it counts, less what others use", () => {
  const { room, change } = namespaceOf({
    web: sampleContainer(),
    job: sampleContainer(),
    other: sampleContainer(),
  });
  for (const name of ["job", "other"]) change(name, { hasDeadline: true });
  const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
  const ofJobs = quota({ hardLimitsCPU: 900, usedLimitsCPU: 400, scopes });
  assert.deepEqual(room("job", ofJobs), [500, 450, 0]);
  assert.equal(room("web", ofJobs), undefined);
  assert.deepEqual(room("web", { ...ofJobs, scopes: [] }), [500, 300, 0]);
});

pure(
  "createQuotaRooms() lets only pods that a quota counts give back for it, and by their own sums",
  () => {
    const raised = sampleContainer({ limits: { cpu: 500 } });
    const { room, change } = namespaceOf({ web: raised, job: raised, other: raised }, 1);
    for (const name of ["job", "other"]) change(name, { hasDeadline: true });
    // 100 m are missing for one more pod of 200 m: the jobs bring them, the other gives nothing.
    const scopes = [{ name: "Terminating", operator: "Exists", values: [] }];
    const full = quota({ hardLimitsCPU: 1100, usedLimitsCPU: 1000, scopes });
    assert.deepEqual(room("job", full), [-100, 450, 50]);
    assert.deepEqual(room("other", full), [-100, 450, 50]);
    assert.equal(room("web", full), undefined);
    assert.deepEqual(
      room("web", { ...full, scopes: [], hardLimitsCPU: 1600, usedLimitsCPU: 1500 })?.[2],
      40,
    );
  },
);

pure("createQuotaRooms() reads only the pod itself where no other has changed", () => {
  const many = Object.fromEntries(
    Array.from(
      { length: 200 },
      (_, index) => [`p${index}`, sampleContainer({ limits: { cpu: 400 } })],
    ),
  );
  const { rooms, pod, reads } = namespaceOf(many, 1);
  const subjects = Object.keys(many).map((name) => ({ pod: pod(name), quotas: [quota()] }));
  const look = (): number => {
    const before = reads();
    for (const subject of subjects) rooms.of(subject)?.bounds();
    return reads() - before;
  };
  // The first look at the namespace: its list, and of each pod itself and its allocation.
  assert.equal(look(), 600 + 400);
  assert.equal(look(), 400);
});

pure(
  "createQuotaRooms() asks back what a quota lacks by its own count or the pods', whichever is less",
  () => {
    const { room } = namespaceOf({ web: sampleContainer({ limits: { cpu: 500 } }) }, 1);
    // 200 m are kept; the pod's limits sum up to 500 m, 300 m of them raised.
    const owed = (hardLimitsCPU: number, usedLimitsCPU: number) =>
      room("web", quota({ hardLimitsCPU, usedLimitsCPU }))?.[2];
    assert.deepEqual([owed(700, 500), owed(700, 650), owed(650, 650), owed(650, 420)], [
      0,
      0,
      50,
      0,
    ]);
  },
);

pure(
  "createQuotaRooms() takes the requests that a quota lacks from pods with requests that move",
  () => {
    const containers = {
      fixed: sampleGuaranteed({ requests: { cpu: 500 }, limits: { cpu: 500 } }),
      web: sampleContainer({ limits: { cpu: 800 } }),
    };
    const { room } = namespaceOf(containers, 1);
    const full = quota({ hardLimitsCPU: 9000, requestsCPU: { hard: 650, used: 600 } });
    // 100 m are missing beside what is kept, 150 m; Burstable raises would not help.
    assert.deepEqual(room("fixed", full)?.slice(1), [400, 100]);
    assert.deepEqual(room("web", full)?.slice(1), [1000, 0]);
  },
);

const anyPod = fc.record({
  floor: fc.integer({ min: 1, max: 500 }),
  more: fc.nat(3000),
  weight: fc.integer({ min: 1, max: 1000 }),
  limit: fc.integer({ min: 1, max: 3000 }),
  managed: fc.boolean(),
});

pure(
  "createQuotaRooms() gives the same shares in any order, within the quota or at original limits",
  () => {
    const pods = fc.array(anyPod, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pods, fc.nat(12_000), fc.context(), (drawn, hardLimitsCPU, context) => {
        const named = drawn.map((one, index) => ({ ...one, name: `p${index}` }));
        const of = (order: typeof named) => {
          const cache = createWatchedCache<Pod>();
          for (const { name, limit } of order) {
            const pod = samplePod(name, {
              containers: [sampleContainer({ limits: { cpu: limit } })],
            });
            cache.put({ ...pod, phase: "Running" });
          }
          const bidsOf = (podKey: string) =>
            named.filter(({ name, managed }) => managed && podKey === `shop/${name}`)
              .map(({ weight, floor, more }) => ({
                name: "app",
                weight,
                floor,
                ceiling: floor + more,
              }));
          const rooms = createQuotaRooms({
            caches: { pods: cache, allocations: createWatchedCache<PodAllocation>() },
            clock: { monotonic: () => 0 },
            config: { quotaHeadroom: 0 },
            bidsOf,
            wake: (podKey) => assert.fail(podKey),
          });
          return named.map(({ name }) => {
            const pod = cache.get(`shop/${name}`) ?? assert.fail(name);
            const found = rooms.of({ pod, quotas: [sampleQuota({ hardLimitsCPU })] });
            return found?.bounds().shares.get("app")?.millicores;
          });
        };
        const shares = of(named);
        context.log(shares.join(" "));
        assert.deepEqual(of(named.toReversed()), shares);
        const use = (at: (index: number) => number) =>
          named.reduce(
            (sum, { managed, limit }, i) => sum + (managed ? at(i) : limit),
            0,
          );
        const isAtFloors = named.every(({ managed, floor }, i) => !managed || shares[i] === floor);
        // Agents keep to the grid.
        const used = use((i) =>
          Math.max(named[i]?.floor ?? 0, Math.floor((shares[i] ?? NaN) / 10) * 10)
        );
        assert.ok(used <= hardLimitsCPU || isAtFloors, `${used} of ${hardLimitsCPU}`);
        for (const [i, { managed, floor }] of named.entries()) {
          assert.ok(managed ? (shares[i] ?? NaN) >= floor : shares[i] === undefined);
        }
      }),
    );
  },
);

/** What each of these raises gives back of what is missing. */
function parts(missing: number, ...raises: readonly number[]): readonly number[] {
  const all = raises.reduce((sum, raise) => sum + raise, 0);
  return raises.map((own) => giveBack({ missing, own, all }));
}

pure("giveBack() divides what is missing by the raises, in steps", () => {
  assert.deepEqual(parts(40, 100, 50), [30, 20]);
  assert.deepEqual(parts(1000, 100, 50), [100, 50]);
  assert.deepEqual([parts(0, 100), parts(-40, 100), parts(40, 0, 50)], [[0], [0], [0, 40]]);
});

pure(
  "giveBack() brings together what is missing, or all that was raised, and no more than a step each",
  () => {
    const raise = fc.integer({ min: 1, max: 4000 });
    fc.assert(
      fc.property(fc.array(raise, { minLength: 1, maxLength: 8 }), raise, (sizes, missing) => {
        const given = parts(missing, ...sizes);
        const sum = given.reduce((total, part) => total + part, 0);
        const all = sizes.reduce((total, size) => total + size, 0);
        assert.ok(sum >= Math.min(missing, all), `${sum} of ${missing}`);
        assert.ok(sum < missing + 10 * sizes.length + 1e-6);
        for (const [index, part] of given.entries()) {
          assert.ok(part >= 0 && part <= (sizes[index] ?? 0));
        }
      }),
    );
  },
);
