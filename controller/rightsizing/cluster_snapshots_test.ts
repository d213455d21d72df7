import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { HorizontalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { LimitRange } from "../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ReplicaSet, WorkloadKind } from "../../shared/api/workload.ts";
import { decodeEntries, encodeEntries } from "../../shared/control/persisted_map.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import type { Corrections } from "../../shared/rightsizing/recommend.ts";
import {
  sampleAllocation,
  sampleDesired,
  sampleNode,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { fixedCache, marketCaches } from "../../tests/fixtures/caches.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { keptCheckpoints } from "../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { ClusterSnapshots } from "./cluster_snapshots.ts";
import {
  CorrectionMemory,
  createCorrectionMap,
  type ObservedWorkload,
  type SeenKill,
  type WorkloadCorrections,
} from "./corrections.ts";
import { createPermissionMemory, type PermissionScope } from "./refused_permissions.ts";

const KNOWN = {
  recommendations: [],
  samples: new Map<string, number>(),
  memoryPeaks: new Map<string, number>(),
  inForce: new Map<string, never>(),
};

const FORMER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9c", uid: "rs-former" };

function snapshotWith({ pods = [], originalLimit, autoscalers = [] }: {
  readonly pods?: readonly Pod[];
  readonly originalLimit?: string;
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
} = {}) {
  const metadata = { name: "", namespace: "shop", uid: "", resourceVersion: "" };
  const status = { originalLimits: [{ name: "app", cpu: originalLimit }] };
  const allocation = { metadata: { ...metadata, name: "uid-web-1" }, status };
  const odd = { metadata: { ...metadata, name: "r" }, items: [], unreadable: "no number" };
  const cluster = new ClusterSnapshots({
    caches: {
      ...marketCaches(),
      pods: fixedCache(pods),
      replicaSets: fixedCache<ReplicaSet>([{
        metadata: { ...metadata, name: FORMER.name, uid: FORMER.uid },
        deployment: { name: "web", uid: "former" },
      }]),
      nodes: fixedCache([sampleNode("node-1")]),
      allocations: fixedCache(originalLimit === undefined ? [] : [allocation as PodAllocation]),
      limitRanges: fixedCache<LimitRange>([odd]),
      horizontalPodAutoscalers: fixedCache(autoscalers),
      verticalPodAutoscalers: fixedCache([sampleVPA("Off", { unreadable: "no target" })]),
    },
    corrections: new CorrectionMemory(),
    dryRun: () => true,
    served: () => ({ resizeServed: true, lowersMemoryLimits: false }),
    missingPermissions: () => [],
  });
  const { workload } = rightsizingSnapshot();
  const one = (windowMs?: number) => ({
    workload,
    policy: autoPolicy({}, windowMs === undefined ? {} : { windowMs }),
    nowMs: NOW_MS,
    pods: cluster.podsOf(workload).pods,
  });
  return { cluster, workload, one, snapshot: () => cluster.snapshotOf(one(), KNOWN) };
}

const web = workloadPod("web-1", [templateContainer()]);

pure("podsOf() separates the workload's own pods, without those that end", () => {
  const { owner: _owner, ...lonely } = { ...web.metadata, name: "lonely" };
  const pods: Pod[] = [
    web,
    { ...web, metadata: lonely },
    // A pod of a ReplicaSet that was left over by a former Deployment of the name.
    { ...web, metadata: { ...web.metadata, name: "web-former", owner: FORMER } },
    { ...workloadPod("web-2", []), phase: "Succeeded" },
    { ...web, metadata: { ...web.metadata, name: "web-3", terminating: true } },
  ];
  const { cluster, workload } = snapshotWith({ pods });
  const { pods: own, otherPods: others } = cluster.podsOf(workload);
  const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
  assert.deepEqual([namesOf(own), namesOf(others)], [["web-1"], ["lonely", "web-former"]]);
});

pure("factsOf() has nodes, autoscalers, and a sentence for each unreadable object", () => {
  const autoscalers = [sampleHPA(), sampleHPA({ target: { kind: "Deployment", name: "db" } })];
  const snapshot = snapshotWith({ pods: [web], autoscalers }).snapshot();
  assert.deepEqual([...snapshot.nodes.keys()], ["node-1"]);
  assert.equal(snapshot.largestNode?.allocatableCPU, 4000);
  assert.deepEqual([snapshot.autoscalers.length, snapshot.verticalAutoscalers.length], [1, 1]);
  assert.deepEqual(snapshot.unreadable, [
    "LimitRange r: no number",
    "VerticalPodAutoscaler web-vpa: no target",
  ]);
  const { dryRun, marketManages, lowersMemoryLimits } = snapshot;
  assert.deepEqual([dryRun, marketManages, lowersMemoryLimits], [true, false, false]);
});

pure("factsOf() has the user's original limit where the market has set another", () => {
  const snapshot = snapshotWith({ pods: [web], originalLimit: "700m" }).snapshot();
  assert.equal(snapshot.marketManages, true);
  assert.deepEqual(snapshot.pods[0]?.containers[0]?.limits, { cpu: 700, memory: 128 * MI });
});

pure("correctionsOf() has kills within the window, until the workload is deleted", () => {
  const pods = [workloadPod("web-1", [templateContainer({ oomKilledAtMs: NOW_MS - 1000 })])];
  const { cluster, one } = snapshotWith({ pods });
  const kills = (windowMs: number) => cluster.correctionsOf(one(windowMs)).get("app")?.oomKills;
  assert.equal(kills(1000), undefined);
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  pods.length = 0;
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  cluster.keepOnly((key) => key !== "Deployment/shop/web");
  assert.equal(kills(1001), undefined);
});

pure("missing() has refused permissions of the namespace and kind, by method, for 30 s", () => {
  const scope = (namespace: string, kind: WorkloadKind = "Deployment"): PermissionScope => ({
    kind,
    metadata: { namespace },
  });
  let nowMs = 0;
  const { refused, missing } = createPermissionMemory({ clock: { monotonic: () => nowMs } });
  assert.deepEqual(missing(scope("shop")), []);
  const [get, patch] = ["get", "patch"].map((verb) => `${verb} deployments.apps in namespace shop`);
  const resize = "patch pods/resize in namespace shop";
  const others = "patch podallocations.allocation.mbcas.io/status in namespace shop";
  for (const one of [resize, get, patch, others]) refused(scope("shop"), one ?? "");
  assert.deepEqual(missing(scope("shop")), [
    { method: "InPlace", permission: resize },
    { method: "Recreate", permission: patch },
  ]);
  assert.deepEqual(missing(scope("bank")), []);
  assert.deepEqual(missing(scope("shop", "DaemonSet")), []);
  nowMs = 20_000;
  refused(scope("shop"), patch ?? "");
  for (const [atMs, expected] of [[30_000, ["Recreate"]], [50_000, []]] as const) {
    nowMs = atMs;
    assert.deepEqual(missing(scope("shop")).map(({ method }) => method), expected);
  }
});

const WEB = "Deployment/shop/web";
const NOTHING: ObservedWorkload = { pods: [], allocations: [], nowMs: 1000, windowMs: 1000 };

function memory() {
  const kept = new CorrectionMemory();
  const observe: CorrectionMemory["observe"] = (workload, seen) => kept.observe(workload, seen);
  const seeing = (seen: Partial<ObservedWorkload>): Corrections | undefined =>
    observe(WEB, { ...NOTHING, ...seen }).get("app");
  return { observe, seeing };
}

const killed = (fields: Partial<PodContainer> = {}): Pod =>
  workloadPod("web-1", [templateContainer({ oomKilledAtMs: 100, ...fields })]);

pure("observe() keeps a kill's memory from first sight to the end of the window", () => {
  const { seeing } = memory();
  seeing({ pods: [killed({ limits: { memory: 128 * MI } })] });
  const pods = [killed({ limits: { memory: 256 * MI } })];
  assert.deepEqual(seeing({ pods }), { oomKills: [{ hadBytes: 128 * MI }] });
  assert.equal(seeing({ nowMs: 1099 })?.oomKills?.length, 1);
  for (const nowMs of [1100, 1000]) assert.equal(seeing({ nowMs }), undefined);
});

pure("observe() takes the request where there is no limit", () => {
  const unlimited = { ...templateContainer({ oomKilledAtMs: 100 }), limits: {} };
  const bare = { ...unlimited, requests: {} };
  for (const [container, hadBytes] of [[unlimited, 64 * MI], [bare, 0]] as const) {
    const { oomKills } = memory().seeing({ pods: [workloadPod("web-1", [container])] }) ?? {};
    assert.deepEqual(oomKills, [{ hadBytes, unlimited: true }]);
  }
});

pure("observe() takes a kill from before the last application for its cause", () => {
  const raised = killed({
    oomKilledAtMs: 5000,
    requests: { memory: 356 * MI },
    limits: { memory: 400 * MI },
  });
  // No raise led to so little memory.
  const small = killed({ oomKilledAtMs: 5000, requests: { memory: 64 * MI } });
  // The kubelet reports whole seconds: at 5999 the kill may have come after the application.
  const rows = [
    [raised, 6000, [{ hadBytes: 256 * MI }]],
    [raised, 5999, [{ hadBytes: 400 * MI }]],
    [small, 6000, undefined],
  ] as const;
  for (const [pod, lastAppliedMs, expected] of rows) {
    const seen = { pods: [pod], windowMs: 9000, lastAppliedMs };
    assert.deepEqual(memory().seeing(seen)?.oomKills, expected);
  }
});

/** With this window each millisecond has a sample. */
const WINDOW_MS = 480;

function allocation(limit: number, demand: number): PodAllocation {
  const blank = sampleAllocation(samplePod("web"));
  const { market, ...desired } = sampleDesired(`${limit}m`);
  assert.ok(market !== undefined);
  return { ...blank, spec: { ...blank.spec, ...desired, market: { ...market, demand } } };
}

/** Throttling after these demands at a limit of 200 m, one in a millisecond from 0 on. */
function throttling(demands: readonly number[], windowMs = WINDOW_MS): Corrections["throttling"] {
  const { seeing } = memory();
  let found: Corrections | undefined;
  for (const [nowMs, demand] of demands.entries()) {
    const allocations = [allocation(200, demand), allocation(200, 50)];
    found = seeing({ allocations, nowMs, windowMs });
  }
  return found?.throttling;
}

const times = (count: number, demand: number): number[] => new Array(count).fill(demand);

pure("observe() measures how often a container was throttled, and its demand then", () => {
  const demands = [100, 300, 250, 200, 500, 100, 100, 100];
  // 300, 250 and 500 of eight; 200 is just enough.
  assert.deepEqual(throttling(demands), { share: 3 / 8, demand: 300 });
  assert.equal(throttling(times(3, 400)), undefined, "too few samples");
  assert.equal(throttling(times(9, 100)), undefined, "never throttled");
  assert.deepEqual(throttling([999, ...times(480, 300)]), { share: 1, demand: 300 });
  assert.equal(throttling(times(9, 400), 5)?.share, 1, "five samples in the window");
  // Throttled for the first half of a window, and observed twenty times as often as samples are kept.
  const often = [...times(10 * WINDOW_MS, 400), ...times(10 * WINDOW_MS, 100)];
  assert.deepEqual(throttling(often, 20 * WINDOW_MS), { share: 1 / 2, demand: 400 });
});

pure("observe() divides the demand of a pod over its containers as their limits are", () => {
  const { observe } = memory();
  const { spec, ...rest } = allocation(400, 800);
  const containers = [{ name: "app", cpuLimit: "300m" }, { name: "log", cpuLimit: "100m" }];
  const allocations = [{ ...rest, spec: { ...spec, containers } }];
  for (const nowMs of [0, 3, 6]) observe(WEB, { ...NOTHING, allocations, nowMs });
  const found = observe(WEB, { ...NOTHING, allocations, nowMs: 9 });
  const throttled = (demand: number) => ({ throttling: { share: 1, demand } });
  assert.deepEqual(found, new Map([["app", throttled(600)], ["log", throttled(200)]]));
});

pure("observe() leaves out pods not cleared yet, and survives a clock set back", () => {
  const { seeing } = memory();
  const blank = [sampleAllocation(samplePod("web"))];
  for (let nowMs = 0; nowMs < 9; nowMs++) {
    assert.equal(seeing({ allocations: blank, nowMs, windowMs: WINDOW_MS }), undefined);
  }
  const allocations = [allocation(200, 400)];
  for (const nowMs of [100, 3, 4]) seeing({ allocations, nowMs, windowMs: WINDOW_MS });
  assert.equal(seeing({ allocations, nowMs: 5, windowMs: WINDOW_MS })?.throttling?.share, 1);
});

const START_MS = Date.UTC(2026, 0, 1);
const NAME = "mbcas-corrections-0";
const KILL: SeenKill = { pod: "uid-web-1", container: "app", atMs: START_MS, hadBytes: 128 * MI };
const ENTRY = { kills: [KILL], looks: [[START_MS / 1000 - 60, { app: 250 }], [20, {}]] };
const KILLED: ObservedWorkload = {
  ...{ ...NOTHING, nowMs: START_MS + 1, windowMs: 1e12 },
  pods: [killed({ oomKilledAtMs: START_MS })],
};

/** ConfigMaps, and controllers that begin and end there. */
function stage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const store = keptCheckpoints();
  const logged: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`),
  };
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);

  async function begin() {
    const kept = createCorrectionMap({ store, clock, log });
    const over = new AbortController();
    const running = kept.load(over.signal).then(() => kept.saveRegularly(over.signal));
    await pass(10);
    return {
      memory: new CorrectionMemory(kept),
      async end() {
        over.abort();
        const ended = running.then(() => kept.saveAtEnd());
        await pass(10);
        await ended;
      },
    };
  }
  return {
    ...{ logged, pass, begin, store },
    async stored(): Promise<Record<string, WorkloadCorrections>> {
      const entries = await decodeEntries(store.kept.get(NAME)?.data["entries"] ?? "");
      return Object.fromEntries(entries) as Record<string, WorkloadCorrections>;
    },
    async seed(entries: Readonly<Record<string, unknown>>): Promise<void> {
      const text = await encodeEntries(Object.entries(entries), { encode: (one) => one });
      store.kept.set(NAME, { name: NAME, data: { entries: text } });
    },
  };
}

pure("createCorrectionMap() gives kills and demand to the next process", async () => {
  const { logged, begin, stored, store, pass } = stage();
  const first = await begin();
  first.memory.observe(WEB, KILLED);
  for (const nowMs of [999, 20_999, 40_999, 60_999].map((ms) => START_MS + ms)) {
    await pass(20_000);
    const allocations = [allocation(200, 400.4)];
    first.memory.observe(WEB, { ...NOTHING, allocations, nowMs, windowMs: 1_000_000 });
  }
  await first.end();
  const looks = [START_MS / 1000, 20, 20, 20].map((seconds) => [seconds, { app: 400 }]);
  assert.deepEqual(await stored(), { [WEB]: { kills: [KILL], looks } });
  const second = await begin();
  const found = second.memory.observe(WEB, { ...NOTHING, nowMs: START_MS + 61_000, windowMs: 1e9 });
  const throttling = { share: 1, demand: 400 };
  assert.deepEqual(found.get("app"), { oomKills: [{ hadBytes: 128 * MI }], throttling });
  await second.end();
  assert.deepEqual([store.writes, logged], [[`apply ${NAME}`], []], "nothing has changed since");
});

pure("createCorrectionMap() keeps what it can read, and the latest 200 kills", async () => {
  const unlimited: SeenKill = { ...KILL, container: "log", hadBytes: 0, unlimited: true };
  const kills = Array.from({ length: 300 }, (_, index) => ({ ...unlimited, atMs: index }));
  const looks = [...new Array(500).fill([0, {}]), ...ENTRY.looks, [100, { app: 1 }]];
  const { begin, stored, seed, logged } = stage();
  await seed({ "StatefulSet/bank/db": { kills, looks }, [WEB]: { kills: 7 } });
  const { memory, end } = await begin();
  // The entry that can't be read is made anew.
  assert.match(logged.join(), /mbcas-corrections-0.*kills/);
  memory.observe(WEB, KILLED);
  await end();
  const all = await stored();
  assert.deepEqual(all[WEB], { kills: [KILL], looks: [] });
  const kept = all["StatefulSet/bank/db"] as unknown as typeof ENTRY;
  assert.equal(kept.looks.length, 480);
  assert.deepEqual(kept.looks.slice(-3), [...ENTRY.looks, [40, { app: 1 }]]);
  assert.deepEqual(kept.kills, kills.slice(100).reverse());
});
