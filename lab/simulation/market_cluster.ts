/**
 * A whole cluster in virtual time: a node that runs a scene's pods, an API server, a kubelet, and
 * the real loops of agent and controller.
 *
 * @module
 */
import { type NodeLoopOptions, type NodeLoopParts, runNodeLoop } from "../../agent/loop.ts";
import type { RoundResult } from "../../agent/market/round.ts";
import { createNodeSampler } from "../../agent/sampling/node_sampler.ts";
import { runAllocationLoop } from "../../controller/allocation/allocation_loop.ts";
import { createCaches, namedCaches } from "../../controller/caches.ts";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import { createInformer } from "../../shared/control/informer.ts";
import { createSupervisor, type Supervisor } from "../../shared/control/supervisor.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources, createSimulatedAPI, type SimulatedAPI } from "./api/simulated_api.ts";
import { Kubelet } from "./kubelet.ts";
import { cgroupView } from "./node/cgroup_view.ts";
import { SimulatedNode } from "./node/simulated_node.ts";
import {
  nodeInAPI,
  podInAPI,
  podOnNode,
  type Scene,
  SCENE_NAMESPACE,
  SCENE_NODE,
} from "./scene.ts";
import { createVirtualClock, type VirtualClock } from "./virtual_clock.ts";
import type { RunSeries } from "./run_record.ts";
import type { InstantAnswer, InstantQueries } from "../../shared/instant_queries.ts";
import type { Clock } from "../../shared/clock.ts";

/** How the cluster is set up. */
export interface MarketClusterOptions {
  readonly log?: Log;
  /** Settings of the agent's loop; its defaults are the product's. */
  readonly agent?: NodeLoopOptions;
  /** Settings of the controller that differ from the product's defaults. */
  readonly controller?: Partial<MarketConfig>;
  /** Called after each of the agent's rounds. */
  readonly observe?: (round: RoundResult) => void;
}

/** A running cluster. */
export interface MarketCluster {
  readonly clock: VirtualClock;
  readonly api: SimulatedAPI;
  readonly node: SimulatedNode;
  /** Answers metric queries; asked only where the controller's settings name an address. */
  readonly metrics: MetricAnswers;
  /** Ends all loops; throws the error of the first that failed. */
  stop(): Promise<void>;
}

/** Virtual time begins at this moment: stamps in objects are the same in every run. */
const WALL_START: number = Date.UTC(2026, 0, 1);

/** Seeds of the parts, kept apart from each other and from the workloads'. */
const SEEDS = { node: 1, api: 2, kubelet: 3, agent: 4, controller: 5, heartbeat: 6 } as const;

function seedOf(scene: Scene, part: keyof typeof SEEDS): number {
  return scene.seed * 16 + SEEDS[part];
}

/** The scene's node; phases of the pods are drawn, the same for every algorithm. */
export function sceneNode(scene: Scene): SimulatedNode {
  return new SimulatedNode({
    cores: scene.cores,
    random: seededRandom(seedOf(scene, "node")),
  });
}

/** Starts the cluster: pods run under the users' original limits, then agent and controller begin. */
export function startMarketCluster(
  scene: Scene,
  options: MarketClusterOptions = {},
): MarketCluster {
  const { log = silentLog } = options;
  const clock = createVirtualClock({ wallStart: WALL_START });
  const node = sceneNode(scene);
  const api = createSimulatedAPI({ clock, random: seededRandom(seedOf(scene, "api")) });
  seedObjects(scene, api);
  for (const pod of scene.pods) node.addPod(podOnNode(pod, pod.originalLimit));

  const supervisor = createSupervisor({ clock, log });
  const { signal } = supervisor;
  const nodeNow = (): SimulatedNode => {
    node.advance(clock.monotonic());
    return node;
  };
  const kubelet = new Kubelet({
    link: api.kubeletLink(SCENE_NODE),
    clock,
    random: seededRandom(seedOf(scene, "kubelet")),
    log,
    runtime: {
      setContainerQuota: (id, millicores) => nodeNow().setContainerQuota(id, millicores),
      setPodQuota: (uid, millicores) => nodeNow().setPodQuota(uid, millicores),
      setContainerRequest: (id, millicores) => nodeNow().setContainerRequest(id, millicores),
    },
  });
  supervisor.supervise("kubelet", kubelet.run(signal));
  const metrics = createMetricAnswers(clock);
  const stage = { scene, api, node, metrics, clock, log, supervisor };
  startAgent(stage, options);
  startController(stage, options);
  return {
    clock,
    api,
    node,
    metrics,
    stop: async () => {
      supervisor.stop();
      const done = supervisor.done();
      await clock.runUntil(clock.monotonic() + STOP_MS);
      await done;
    },
  };
}

/** Virtual time in which the loops may end. */
const STOP_MS = 1000;

interface Stage {
  readonly scene: Scene;
  readonly api: SimulatedAPI;
  readonly node: SimulatedNode;
  readonly metrics: MetricAnswers;
  readonly clock: VirtualClock;
  readonly log: Log;
  readonly supervisor: Supervisor;
}

function seedObjects({ cores, pods }: Scene, { store }: SimulatedAPI): void {
  const { Node: nodes, Namespace: namespaces, Pod: podTable } = store.tables;
  nodes.seed(nodeInAPI({ cores }));
  namespaces.seed({
    metadata: { name: SCENE_NAMESPACE, uid: "", resourceVersion: "", labels: {}, annotations: {} },
  });
  for (const pod of pods) podTable.seed(podInAPI(pod));
}

function startAgent(stage: Stage, { agent = {}, observe }: MarketClusterOptions): void {
  const { scene, api, node, clock, log, supervisor } = stage;
  const { signal } = supervisor;
  const random = seededRandom(seedOf(scene, "agent"));
  const source = api.listWatch("PodAllocation", { nodeName: SCENE_NODE });
  const allocations = createInformer({ source, clock, random, log, name: "PodAllocation" });
  const sampler = createNodeSampler({ tree: cgroupView(node), cores: scene.cores, log });
  supervisor.supervise("agent's allocations", allocations.run(signal));
  const parts = {
    allocations,
    sample: ((at, managed, options) => {
      node.advance(at);
      return sampler.sample(at, managed, options);
    }) satisfies NodeLoopParts["sample"],
    writer: api.desiredWriter(SCENE_NODE),
    link: api.nodeLink(SCENE_NODE),
    clock,
    // Its own, so that what is drawn for one loop changes nothing for the other.
    random: seededRandom(seedOf(scene, "heartbeat")),
    log,
  };
  const settings = observe === undefined ? agent : { ...agent, observe };
  supervisor.supervise("agent", runNodeLoop(parts, signal, settings));
}

function startController(stage: Stage, { controller = {} }: MarketClusterOptions): void {
  const { scene, api, metrics, clock, log, supervisor } = stage;
  const { signal } = supervisor;
  const random = seededRandom(seedOf(scene, "controller"));
  const caches = createCaches(cacheSources(api), { clock, random, log });
  for (const [name, informer] of namedCaches(caches)) {
    supervisor.supervise(`controller's ${name}`, informer.run(signal));
  }
  const parts = {
    caches,
    store: api.allocationStore,
    resizer: api.podResizer(),
    templates: { limitsOf: () => Promise.resolve(undefined) },
    events: api.events,
    instantQueries: metrics,
    clock,
    random,
    log,
    config: { ...DEFAULT_MARKET_CONFIG, ...controller },
  };
  supervisor.supervise("controller", runAllocationLoop(parts, signal));
}

/** CPU that the limits committed over a run. */
export interface Commitment {
  /** Largest sum of what counts, millicores. */
  readonly peak: number;
  /** Seconds in which a raise stood that was granted beyond capacity. */
  readonly overCapacityS: number;
}

/** Demand is the mean of the last second: one request is not a demand. */
const SMOOTH_S = 1;
/** Millicores; entries are of single precision. */
const TOLERANCE = 1e-3;

/**
 * Sums up what counts, step by step. A second is over capacity when the sum exceeds it and a limit was
 * raised at a moment since which it has always exceeded it. The first entry is no raise: limits
 * found at the start were not granted.
 */
export function commitment(
  { pods, stepS, capacity }: Pick<RunSeries, "pods" | "stepS" | "capacity">,
): Commitment {
  const steps = pods[0]?.limit.length ?? 0;
  const window = Math.max(1, Math.round(SMOOTH_S / stepS));
  const recent = pods.map(() => 0);
  let peak = 0;
  let over = 0;
  let granted = false;
  for (let step = 0; step < steps; step++) {
    let sum = 0;
    let raised = false;
    for (const [index, { limit, demand, floor }] of pods.entries()) {
      const held = (recent[index] ?? 0) + (demand[step] ?? 0) - (demand[step - window] ?? 0);
      recent[index] = held;
      const now = limit[step] ?? 0;
      sum += now > floor ? now : Math.min(floor, held / Math.min(window, step + 1));
      if (step > 0 && now > (limit[step - 1] ?? 0)) raised = true;
    }
    peak = Math.max(peak, sum);
    granted = sum > capacity + TOLERANCE && (granted || raised);
    if (granted) over++;
  }
  return { peak, overCapacityS: over * stepS };
}

/** The result of a query: its values, or that it is refused, with a message. */
export type QueryResult = readonly number[] | { readonly refused: string };

/** The server. */
export interface MetricAnswers extends InstantQueries {
  /** By the query's text; a query that is not there finds nothing. */
  readonly results: Map<string, QueryResult>;
  /** Queries in the order in which they were asked. */
  readonly asked: string[];
  /** False: no answer. */
  up: boolean;
}

/** A server that is up and finds nothing. */
export function createMetricAnswers(clock: Pick<Clock, "wall">): MetricAnswers {
  const results = new Map<string, QueryResult>();
  const asked: string[] = [];
  const subject: MetricAnswers = {
    results,
    asked,
    up: true,
    async ask({ query }, signal): Promise<InstantAnswer> {
      asked.push(query);
      await Promise.resolve();
      if (signal.aborted) return { problem: "unreachable", message: "called off" };
      if (!subject.up) return { problem: "unreachable", message: "connection refused" };
      const found = results.get(query) ?? [];
      if ("refused" in found) return { problem: "refused", message: found.refused };
      return { samples: found.map((value) => ({ value, atMs: clock.wall() })) };
    },
  };
  return subject;
}
