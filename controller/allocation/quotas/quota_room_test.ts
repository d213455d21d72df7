import fc from "fast-check";
import assert from "node:assert/strict";
import type { ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
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
import { createQuotaLedger } from "./quota_ledger.ts";
import { createQuotaRooms, giveBack } from "./quota_room.ts";

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
    if (found === undefined) return undefined;
    const { shares, owed } = found.bounds();
    return [found.headroom().millicores, shares.get("app")?.millicores, owed];
  };
  return { of, room, time, reads: () => pods.reads + allocations.reads };
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
  const tight = quota([500, 200]);
  const quotas = [
    quota([2000, 1000]),
    { ...tight, metadata: { ...tight.metadata, name: "tight" } },
  ];
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

pure("createQuotaRooms() reads only the pod itself where no other has changed", () => {
  const names = Array.from({ length: 200 }, (_, index) => `p${index}`);
  const { of, reads } = namespaceOf(Object.fromEntries(names.map((name) => [name, raised(400)])));
  const rooms = names.map((name) => of(name, quota([2000, 1000])));
  const look = (): number => {
    const before = reads();
    for (const room of rooms) room?.bounds();
    return reads() - before;
  };
  // The first look at the namespace: its list, and of each pod itself and its allocation.
  assert.deepEqual([look(), look()], [600 + 400, 400]);
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

/** A quota of 1000 m that has this much used in this version. */
function seen(used: number, version: number, change: Partial<ResourceQuota> = {}): ResourceQuota {
  const metadata = { ...sampleQuota().metadata, resourceVersion: `${version}` };
  return sampleQuota({ metadata, ...cpuLimits(1000, used), ...change });
}

const QUOTA = seen(700, 10);

function stage() {
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
  const { left, headroom } = stage();
  const ofMemory = { ...QUOTA, bounds: {} };
  const bounds = { ...QUOTA.bounds, "requests.cpu": { hard: 500, used: 450 } };
  const requests = { ...QUOTA, bounds };
  assert.deepEqual([left(), left(ofMemory), left(seen(1300, 10))], [300, undefined, -300]);
  const both = (["limits", "requests"] as const).map((one) => headroom(requests, one));
  assert.deepEqual([headroom(QUOTA, "requests"), ...both], [undefined, 300, 50]);
});

pure("headroom() counts a raise from its booking, and none that was refused", () => {
  const { left, book, time } = stage();
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
  const { left, book } = stage();
  const raises = [50, 30, 40].map((change) => [change, book(change)] as const);
  // The quota's new version is often there before the answer, and a reconcile may have an older one.
  assert.deepEqual([left(seen(750, 11)), left()], [180, 180]);
  for (const [index, [change, settle]] of raises.entries()) settle(change, `${12 + 2 * index}`);
  const copies = [[750, 11], [780, 13], [820, 15], [790, 20]] as const;
  assert.deepEqual(copies.map(([used, version]) => left(seen(used, version))), [
    180,
    180,
    180,
    210,
  ]);
});

pure("headroom() counts a raise that a decrease hides for two seconds at most", () => {
  const { left, book, time } = stage();
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
  const { left, book, time } = stage();
  const settle = book(50);
  time.now = 30_000;
  settle(50);
  assert.equal(left(), 250);
  time.now = 32_000;
  assert.equal(left(), 300);
});

/** A server that counts raises before it answers, and decreases when it gets round to them. */
pure("headroom() never leaves more than the server would take, whatever is on its way", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("send" as const), part: fc.integer({ min: 1, max: 10 }) }),
    fc.record({ kind: fc.constantFrom("answer", "watch", "count down") }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { left, book } = stage();
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
