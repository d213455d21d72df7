/**
 * A cluster of one node in virtual time: API, kubelet, the real controller, and an agent that wants
 * what the test says.
 *
 * @module
 */
import assert from "node:assert/strict";
import { runAllocationLoop } from "../../controller/allocation/allocation_loop.ts";
import { podKeyOf } from "../../controller/allocation/gather.ts";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import type { ApiObject, ListWatch } from "../../shared/control/list_watch.ts";
import { silentLog } from "../../shared/log.ts";
import { formatCPU, parseCPU } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createKubelet, type Kubelet } from "../../simulation/kubelet.ts";
import { createVirtualClock, type VirtualClock } from "../../simulation/virtual_clock.ts";
import { type PodChoice, sampleNode, samplePod } from "../contract/sample_objects.ts";

const NODE = "node-1";
const NAMESPACE = "shop";
/** How often the agent looks, ms. */
const AGENT_MS = 500;

/** A cluster that runs. */
export interface ControllerScene {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly kubelet: Kubelet;
  /** Nodes whose agent is silent. */
  readonly silent: Set<string>;
  /** Lets virtual time pass. */
  pass(ms: number): Promise<void>;
  /** A controller begins; the call that is returned kills it. */
  startController(config?: Partial<MarketConfig>): () => void;
  createPod(name: string, choice?: PodChoice): Pod;
  changePod(name: string, change: (pod: Pod) => Pod): void;
  pod(name: string): Pod;
  /** The allocation of the living pod of this name. */
  allocation(name: string): PodAllocation | undefined;
  /** From now on the agent wants this limit for container `app` of the pod, m. */
  want(name: string, limitCPU: number): void;
  /** CPU limits in spec and in the kubelet's report, m. */
  limits(name: string): { wanted: number | undefined; applied: number | undefined };
}

/** Runs a test in a new cluster; in the end every applied value must have been the kubelet's. */
export function sceneTest(name: string, check: (scene: ControllerScene) => Promise<void>): void {
  Deno.test({
    name,
    permissions: "none",
    async fn() {
      const stop = new AbortController();
      const { scene, violations, ended } = openScene(stop.signal);
      try {
        await scene.pass(1000);
        await check(scene);
      } finally {
        stop.abort();
        await scene.pass(1000);
        await Promise.all(ended);
      }
      assert.deepEqual(violations, []);
    },
  });
}

function openScene(signal: AbortSignal) {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const api = createSimulatedAPI({ clock, random: seededRandom(11) });
  const { Pod: pods, PodAllocation: allocations, Node: nodes, Namespace: namespaces } =
    api.store.tables;
  nodes.create(sampleNode(NODE));
  namespaces.create({
    metadata: { name: NAMESPACE, uid: "", resourceVersion: "", labels: {}, annotations: {} },
  });
  const wants = new Map<string, number>();
  const silent = new Set<string>();
  const violations = watchKubeletsWord(api);
  const ended: Promise<unknown>[] = [];
  const kubelet = createKubelet({
    link: api.kubeletLink(NODE),
    runtime: { setContainerQuota: () => {}, setPodQuota: () => {} },
    clock,
    random: seededRandom(12),
    log: silentLog,
  });
  ended.push(kubelet.run(signal), runAgent({ api, clock, wants }, signal));

  const scene: ControllerScene = {
    api,
    clock,
    kubelet,
    silent,
    pass: (ms) => clock.runUntil(clock.monotonic() + ms),
    startController(config = {}) {
      const own = new AbortController();
      const kill = (): void => own.abort();
      signal.addEventListener("abort", kill, { once: true });
      ended.push(...runController({ api, clock, silent }, own.signal, config));
      return kill;
    },
    createPod: (name, choice) => pods.create(samplePod(name, choice)),
    changePod: (name, change) => void pods.modify(`${NAMESPACE}/${name}`, change),
    pod(name) {
      const found = pods.get(`${NAMESPACE}/${name}`);
      assert.ok(found, `pod ${name} exists`);
      return found;
    },
    allocation: (name) => allocations.get(`${NAMESPACE}/${scene.pod(name).metadata.uid}`),
    want: (name, limitCPU) => void wants.set(name, limitCPU),
    limits(name) {
      const container = scene.pod(name).containers[0];
      return { wanted: container?.limitCPU, applied: container?.appliedLimitCPU };
    },
  };
  return { scene, violations, ended };
}

/** Notes each applied value in a status that the kubelet has never reported for the pod. */
function watchKubeletsWord({ store }: SimulatedAPI): string[] {
  const words = new Map<string, Set<number>>();
  const violations: string[] = [];
  store.onChange(() => {
    for (const { metadata, containers } of store.tables.Pod.all()) {
      for (const { name, appliedLimitCPU } of containers) {
        const key = `${metadata.uid}/${name}`;
        const said = words.get(key) ?? new Set();
        if (appliedLimitCPU !== undefined) words.set(key, said.add(appliedLimitCPU));
      }
    }
    for (const { spec, status } of store.tables.PodAllocation.all()) {
      for (const { name, cpuLimit } of status?.containers ?? []) {
        const said = words.get(`${spec.podUID}/${name}`);
        if (said?.has(parseCPU(cpuLimit)) !== true) violations.push(`${name}: ${cpuLimit}`);
      }
    }
  });
  return violations;
}

interface AgentParts {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly wants: ReadonlyMap<string, number>;
}

async function runAgent({ api, clock, wants }: AgentParts, signal: AbortSignal): Promise<void> {
  const writer = api.desiredWriter(NODE);
  while (!signal.aborted) {
    for (const { metadata, spec, status } of api.store.tables.PodAllocation.all()) {
      const limit = wants.get(spec.podName);
      const revision = status?.bounds?.revision;
      if (limit === undefined || revision === undefined) continue;
      const cpuLimit = formatCPU(limit);
      if (spec.desiredCPULimit === cpuLimit && spec.market?.observedBounds === revision) continue;
      const { name, namespace } = metadata;
      await writer.writeDesired({ name, namespace }, {
        desiredCPULimit: cpuLimit,
        containers: [{ name: "app", cpuLimit }],
        market: {
          mode: "uncongested",
          price: 0,
          demand: limit,
          need: limit,
          credit: 1,
          reason: "DemandRose",
          observedBounds: revision,
        },
      }).catch((error: unknown) => assert.ok(error instanceof ApiError, String(error)));
    }
    await clock.sleep(AGENT_MS, signal);
  }
}

interface ControllerParts {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly silent: ReadonlySet<string>;
}

function runController(
  { api, clock, silent }: ControllerParts,
  signal: AbortSignal,
  config: Partial<MarketConfig>,
): Promise<void>[] {
  const random = seededRandom(13);
  const ended: Promise<void>[] = [];
  function follow<T extends ApiObject>(name: string, source: ListWatch<T>): Informer<T> {
    const informer = createInformer({ source, clock, random, log: silentLog, name });
    ended.push(informer.run(signal));
    return informer;
  }
  const allocations = createInformer<PodAllocation>({
    source: api.listWatch("PodAllocation"),
    clock,
    random,
    log: silentLog,
    name: "PodAllocation",
    indexBy: podKeyOf,
  });
  ended.push(allocations.run(signal));
  const loop = runAllocationLoop({
    caches: {
      pods: follow("Pod", api.listWatch("Pod")),
      namespaces: follow("Namespace", api.listWatch("Namespace")),
      nodes: follow("Node", api.listWatch("Node")),
      allocations,
    },
    store: api.allocationStore,
    resizer: api.podResizer(),
    events: api.events,
    clock,
    log: silentLog,
    config: { ...DEFAULT_MARKET_CONFIG, ...config },
    isSilent: (nodeName) => silent.has(nodeName),
  }, signal);
  return [...ended, loop];
}
