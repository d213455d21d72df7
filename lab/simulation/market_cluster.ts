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
import type { InstantQueries } from "../../shared/instant_queries.ts";

/** How the cluster is set up. */
export interface MarketClusterOptions {
  readonly log?: Log;
  /** Settings of the agent's loop; its defaults are the product's. */
  readonly agent?: NodeLoopOptions;
  /** Settings of the controller that differ from the product's defaults. */
  readonly controller?: Partial<MarketConfig>;
  /** Answers the controller's metric queries. @default {it finds nothing} */
  readonly instantQueries?: InstantQueries;
  /** Called after each of the agent's rounds. */
  readonly observe?: (round: RoundResult) => void;
}

/** A running cluster. */
export interface MarketCluster {
  readonly clock: VirtualClock;
  readonly api: SimulatedAPI;
  readonly node: SimulatedNode;
  /** Ends all loops; throws the error of the first that failed. */
  stop(): Promise<void>;
}

const NO_METRICS: InstantQueries = { ask: () => Promise.resolve({ samples: [] }) };

/** Virtual time begins at this moment: stamps in objects are the same in every run. */
const WALL_START: number = Date.UTC(2026, 0, 1);

/** Seeds of the parts, kept apart from each other and from the workloads'. */
const SEEDS = { node: 1, api: 2, kubelet: 3, agent: 4, controller: 5, heartbeat: 6 } as const;

function seedOf(scene: Scene, part: keyof typeof SEEDS): number {
  return scene.seed * 16 + SEEDS[part];
}

/** The scene's node; phases of the pods are drawn, the same for every algorithm. */
export function sceneNode(scene: Scene): SimulatedNode {
  return new SimulatedNode({ cores: scene.cores, random: seededRandom(seedOf(scene, "node")) });
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
  const stage = { scene, api, node, clock, log, supervisor };
  startAgent(stage, options);
  startController(stage, options);
  return {
    clock,
    api,
    node,
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

function startController(
  stage: Stage,
  { controller = {}, instantQueries = NO_METRICS }: MarketClusterOptions,
): void {
  const { scene, api, clock, log, supervisor } = stage;
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
    instantQueries,
    clock,
    random,
    log,
    config: { ...DEFAULT_MARKET_CONFIG, ...controller },
  };
  supervisor.supervise("controller", runAllocationLoop(parts, signal));
}
