import fc from "fast-check";
import assert from "node:assert/strict";
import type { PlacementView } from "../../cli/coalloc/placement/placement_view.ts";
import { newAllocation } from "../../controller/allocation/bounds/publish_bounds.ts";
import { createCaches } from "../../controller/caches.ts";
import { createPlacementInformers } from "../../controller/placement/caches.ts";
import { createEvictionLog } from "../../controller/placement/eviction_memory.ts";
import { runPlacementLoop } from "../../controller/placement/loop.ts";
import { createStatusPublisher } from "../../controller/placement/publisher.ts";
import { createPlacementState } from "../../controller/placement/store.ts";
import { cacheSources } from "../../lab/simulation/api/simulated_api.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { LimitRangeItem } from "../../shared/api/namespace.ts";
import { NO_RESOURCES, type Pod, type Resources } from "../../shared/api/pod.ts";
import { silentLog } from "../../shared/log.ts";
import { PLACEMENT_DEFAULTS } from "../fixtures/placement/placement_defaults.ts";
import { seededRandom } from "../../shared/random.ts";
import type { ShownWorkload } from "../../shared/view/placed_workloads.ts";
import { controllerPorts } from "../fixtures/controller_ports.ts";
import { type CoallocScene, coallocScene } from "../fixtures/cli/coalloc_scene.ts";
import { NOW, placedScene, placementOf, shopNode } from "../fixtures/placement/placed_shop.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/recorded_ports.ts";
import { anyContainers } from "../fixtures/rightsizing/rightsizing_arbitrary.ts";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  type BirthChoice,
  NAMESPACE,
  type PolicyChoice,
  type RightsizingScene,
  sceneTest as test,
} from "../fixtures/rightsizing/rightsizing_scene.ts";
import { anyUsage, inWorld, worldProperty } from "../fixtures/rightsizing/rightsizing_worlds.ts";
import { sampleHPA, sampleVPA } from "../fixtures/sample_workloads.ts";
import { simulatedPlacement } from "./controller_program.ts";
import { sceneTest } from "./controller_scene.ts";

const MINUTE_MS = 60_000;
/** Until copies have received a change; before the loop looks at it. */
const WATCHED_MS = 500;

const LIMITS: PolicyChoice = {
  intervalMs: 2 * MINUTE_MS,
  strategy: { updateRequestsOnly: false, cooldownMs: 1000 },
};
const REQUESTS: PolicyChoice = {
  intervalMs: 2 * MINUTE_MS,
  strategy: { updateRequestsOnly: true, cooldownMs: 1000 },
};
const TEMPLATE = {
  requests: { cpu: 100, memory: 64 * MI },
  limits: { cpu: 1000, memory: 200 * MI },
};
const ADOPTED = {
  requests: { cpu: 360, memory: 120 * MI },
  limits: { cpu: 360, memory: 132 * MI },
};

/** Deployment `web`, of which 360 m and 120 Mi are in force. */
async function adopted(
  scene: RightsizingScene,
  { template = TEMPLATE, policy = LIMITS }: {
    readonly template?: Resources;
    readonly policy?: PolicyChoice;
  } = {},
): Promise<void> {
  scene.deployment("web", { containers: [templateOf(template)] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  scene.policy("all", policy);
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(inForce(scene).slice(0, 2), [360, 120 * MI]);
}

function templateOf(resources: Resources) {
  return bareContainer("app", resources);
}

function inForce(scene: RightsizingScene): readonly unknown[] {
  return scene.recordOf("web")?.inForce
    .flatMap(({ cpu, memory, cpuLimit, memoryLimit }) => [cpu, memory, cpuLimit, memoryLimit]) ??
    [];
}

function resourcesOf({ containers: [app] }: Pod): Resources {
  const { requests, limits } = app ?? NO_RESOURCES;
  return { requests, limits };
}

/** Pods of a new template are made, and never become ready. */
function rollOut(scene: RightsizingScene): void {
  scene.api.store.tables.Deployment.modify(`${NAMESPACE}/web`, (before) => ({
    ...before,
    rollout: { updated: 1, total: 3, halted: false },
  }));
}

function limitRange(scene: RightsizingScene, items: readonly LimitRangeItem[]): void {
  const metadata = { name: "caps", namespace: NAMESPACE, uid: "", resourceVersion: "" };
  scene.api.store.tables.LimitRange.create({ metadata, items });
}

test("a new pod begins with what is in force, as those that were resized", async (scene) => {
  await adopted(scene);
  assert.deepEqual(resourcesOf(await scene.born("web")), ADOPTED);
});

test("a new pod of a template that was raised has the template's values, and the loop decides anew", async (scene) => {
  await adopted(scene);
  const raised = {
    ...TEMPLATE,
    requests: { ...TEMPLATE.requests, memory: 1024 * MI },
    limits: { ...TEMPLATE.limits, memory: 4096 * MI },
  };
  scene.template("web", [templateOf(raised)]);
  rollOut(scene);
  // At once, before any copy or cycle knows of it.
  assert.deepEqual(resourcesOf(await scene.born("web")), {
    ...raised,
    requests: { ...raised.requests, cpu: ADOPTED.requests.cpu },
    limits: { ...raised.limits, cpu: ADOPTED.limits.cpu },
  });
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.reason, "RolloutInProgress");
  assert.deepEqual(inForce(scene), [360, undefined, 360, undefined]);
  assert.deepEqual(resourcesOf(await scene.born("web")), {
    ...raised,
    requests: { ...raised.requests, cpu: ADOPTED.requests.cpu },
    limits: { ...raised.limits, cpu: ADOPTED.limits.cpu },
  });
});

test("limits end where the policy turns to requests only: for new pods, stragglers, and on record", async (scene) => {
  await adopted(scene);
  scene.policy("all", REQUESTS);
  const expected = { ...TEMPLATE, requests: { ...TEMPLATE.requests, cpu: 360, memory: 120 * MI } };
  await scene.run(WATCHED_MS);
  assert.deepEqual(resourcesOf(await scene.born("web")), expected);
  const [pod] = scene.podsOf("web");
  assert.ok(pod !== undefined);
  const late = { ...pod, metadata: { ...pod.metadata, name: "web-9", uid: "late" } };
  scene.api.store.tables.Pod.seed({ ...late, containers: [templateOf(TEMPLATE)] });
  await scene.run(5 * MINUTE_MS);
  const straggler = scene.podsOf("web").find(({ metadata }) => metadata.uid === "late");
  assert.ok(straggler !== undefined);
  assert.deepEqual(resourcesOf(straggler), expected);
  assert.deepEqual(inForce(scene), [360, 120 * MI, undefined, undefined]);
});

test("a pod of the market is born with what its siblings have as their original limit", async (scene) => {
  scene.deployment("web", { containers: [templateOf(TEMPLATE)] });
  scene.uses("web", { cpu: 300, memory: 100 * MI });
  const { PodAllocation } = scene.api.store.tables;
  for (const pod of scene.podsOf("web")) {
    const status = { originalLimits: [{ name: "app", cpu: "1000m" }] };
    PodAllocation.seed({ ...newAllocation({ pod }), status });
  }
  scene.policy("all", LIMITS);
  await scene.run(5 * MINUTE_MS);
  const own = (): unknown =>
    PodAllocation.all().map(({ status }) => status?.originalLimits?.[0]?.cpu);
  assert.deepEqual(own(), ["360m", "360m"]);
  assert.deepEqual(scene.podsOf("web").map((pod) => resourcesOf(pod).limits.cpu), [1000, 1000]);
  assert.deepEqual(resourcesOf(await scene.born("web")), ADOPTED);
  scene.policy("all", REQUESTS);
  await scene.run(5 * MINUTE_MS);
  assert.deepEqual(own(), ["360m", "360m"]);
  assert.equal(resourcesOf(await scene.born("web")).limits.cpu, 1000);
});

/** The input once values are in force. */
interface Turn {
  readonly ranges: readonly LimitRangeItem[];
  readonly vpa: string;
  readonly hpa: boolean;
  /** Room in the quota: millicores and bytes. */
  readonly room: { readonly cpu: number; readonly memory: number };
}

const maybe = (arbitrary: fc.Arbitrary<number>): fc.Arbitrary<number | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const anyItem = fc.record({
  type: fc.constantFrom("Container", "Pod"),
  min: maybe(fc.constantFrom(10, 50)),
  max: maybe(fc.integer({ min: 50, max: 900 })),
  ratio: maybe(fc.constantFrom(1, 2, 5)),
}).map((item) =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))
)
  .map((item) => item as unknown as LimitRangeItem);
const anyTurn: fc.Arbitrary<Turn> = fc.record({
  ranges: fc.array(anyItem, { maxLength: 2 }),
  vpa: fc.constantFrom("Off", "Off", "Initial", "Auto"),
  hpa: fc.boolean(),
  room: fc.record({
    cpu: fc.integer({ min: 0, max: 1500 }),
    memory: fc.integer({ min: 0, max: 900 }).map((mebibytes) => mebibytes * MI),
  }),
});

/** Whether the server takes one more pod of it. */
async function isTaken(scene: RightsizingScene, options: BirthChoice): Promise<boolean> {
  try {
    await scene.born("web", options);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}

const outcomes = { taken: 0, given: 0, refused: 0 };

worldProperty(
  "a pod that the server takes as its template says is taken with what is in force for it, too",
  [anyContainers, fc.boolean(), anyTurn, anyUsage],
  async (containers, updateRequestsOnly, { ranges, vpa, hpa, room }, usage) => {
    await inWorld([{ name: "web", containers, pods: 2, usage }], async (scene) => {
      scene.policy("all", { strategy: { updateRequestsOnly, changeThresholdPercent: 0 } });
      await scene.run(2 * MINUTE_MS);
      limitRange(scene, ranges);
      scene.api.store.tables.VerticalPodAutoscaler.create(sampleVPA(vpa));
      if (hpa) scene.api.store.tables.HorizontalPodAutoscaler.create(sampleHPA());
      scene.api.store.tables.ResourceQuota.create({
        metadata: { name: "q", namespace: NAMESPACE, uid: "", resourceVersion: "" },
        bounds: {
          "requests.cpu": { hard: 5000 + room.cpu, used: 5000 },
          "requests.memory": { hard: room.memory, used: 0 },
        },
        scopes: [],
      });
      await scene.run(WATCHED_MS);
      if (inForce(scene).length > 0) outcomes.given++;
      if (await isTaken(scene, {})) {
        outcomes.taken++;
        return;
      }
      outcomes.refused++;
      assert.ok(!await isTaken(scene, { webhook: false }));
    });
  },
);

Deno.test("the worlds of births have values in force, and pods that are taken and refused", () => {
  for (const [what, count] of Object.entries(outcomes)) assert.ok(count > 10, `${what} ${count}`);
});

/** Runs the controller for a while; resolves with the pods that it evicted. */
async function controlled(
  scene: CoallocScene,
  { readOnly, removed }: { readonly readOnly: boolean; readonly removed?: string },
): Promise<readonly string[]> {
  const { api, clock } = scene;
  const end = new AbortController();
  const options = { clock, random: seededRandom(8), log: silentLog };
  const store = keptCheckpoints();
  const { sources, ...ports } = simulatedPlacement(api, store);
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementInformers(sources, options),
  };
  for (const copy of Object.values(caches)) void copy.run(end.signal);
  const evicted: string[] = [];
  const settings = () => ({ ...PLACEMENT_DEFAULTS, readOnlyMode: readOnly });
  const loop = runPlacementLoop({
    ...options,
    caches,
    state: createPlacementState({ store, clock, log: silentLog }),
    settings,
    evictions: createEvictionLog({ clock, settings }),
    publisher: createStatusPublisher({ statuses: store, clock, log: silentLog }),
    evictor: {
      evict(pod) {
        evicted.push(pod.name);
        return controllerPorts(api).podEvictor.evict(pod);
      },
    },
    costs: { write: () => Promise.resolve(true) },
    events: ports.events,
  }, end.signal);
  await clock.runUntil(clock.monotonic() + 5000);
  if (removed !== undefined) {
    api.store.tables.Deployment.remove(removed);
    await clock.runUntil(clock.monotonic() + 5000);
  }
  end.abort();
  await clock.runUntil(clock.monotonic() + 1000);
  await loop;
  const { data = {} } = store.kept.get("mbcas-placement-shop") ?? {};
  for (const [key, text] of Object.entries(data)) scene.placement.published.set(key, text);
  return evicted;
}

async function shown(scene: CoallocScene): Promise<readonly ShownWorkload[]> {
  const [code, out] = await placementOf(scene, "-o", "json");
  assert.equal(code, 0);
  const view: PlacementView = JSON.parse(out);
  return view.workloads;
}

Deno.test("placementCommand() names the pods that the controller then evicts", async () => {
  const half = { "spot-percentage": "50" };
  const waits = {
    unschedulableSinceMs: NOW - 50_000,
    nodeSelector: { "karpenter.sh/capacity-type": "spot" },
  };
  const scene = placedScene(
    { nodes: ["spot-1", "spot-1", "spot-1", "spot-1", "od-1"] },
    { kind: "StatefulSet", name: "db", nodes: ["spot-1", "od-1", "spot-1"], annotations: half },
    { name: "fit", nodes: ["spot-1", "od-1"], annotations: half },
    { name: "rest", nodes: ["od-1", "od-1"], annotations: { ...half, paused: "true" } },
    { name: "dying", nodes: ["going", "od-1"], annotations: half },
    { name: "short", nodes: ["", "od-1"], annotations: half, changes: { 0: waits } },
  );
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  scene.api.store.tables.Node.seed(shopNode("going", "spot", { taints }));
  assert.deepEqual(await controlled(scene, { readOnly: true }), []);
  const before = await shown(scene);
  const foreseen = before.flatMap(({ next }) => next?.pod ?? []);
  assert.deepEqual(foreseen.toSorted(), ["db-0", "dying-0", "web-3"]);
  const short = before.find(({ name }) => name === "short");
  assert.match(short?.next?.action ?? "", /fall back .* pod short-0 /);
  // With a shortage the pod that waits goes at once.
  await scene.clock.runUntil(scene.clock.monotonic() + 10_000);
  const evicted = await controlled(scene, { readOnly: false });
  assert.deepEqual(evicted.toSorted(), [...foreseen, "short-0"].toSorted());
  const phases = Object.fromEntries((await shown(scene)).map(({ name, phase }) => [name, phase]));
  assert.equal(phases["short"], "Fallback");
  assert.deepEqual([phases["fit"], phases["rest"]], ["AsSpecified", "Paused"]);
  await scene.close();
});

Deno.test("runPlacementLoop() deletes the status of a deleted workload at once", async () => {
  const scene = placedScene({ nodes: ["od-1"] }, { name: "gone", nodes: ["od-1"] });
  await controlled(scene, { readOnly: true, removed: "shop/gone" });
  assert.deepEqual([...scene.placement.published.keys()], ["Deployment.web"]);
  await scene.close();
});

for (const isAlive of [true, false]) {
  const beside = isAlive ? "beside a controller" : "after the controller has died";
  sceneTest(`restoreCommand() restores ${beside}, and it stays so`, async (cluster) => {
    const kill = cluster.startController();
    await cluster.raise(450);
    const scene = coallocScene(cluster);
    scene.controllerAlive = isAlive;
    if (!isAlive) kill();
    assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0, scene.out + scene.err);
    cluster.assertLimit(200);
    if (isAlive) assert.equal(cluster.allocation(), undefined);
    else cluster.startController();
    await cluster.wantFor(60_000, 600);
    cluster.assertLimit(200);
    scene.out = "";
    assert.equal(await scene.run("restore", "-n", "shop", "--yes"), 0);
    assert.match(scene.out, /^Nothing to restore/);
  });
}
