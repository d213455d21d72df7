/**
 * A cluster of one node in virtual time: API, kubelet, the real controller, and an agent that wants
 * what the test says.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  type AllocationLoopParts,
  runAllocationLoop,
} from "../../controller/allocation/allocation_loop.ts";
import { type CacheSources, createCaches, namedCaches } from "../../controller/caches.ts";
import type { OwnerTemplates } from "../../controller/allocation/ports.ts";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { silentLog } from "../../shared/log.ts";
import { formatCPU, parseCPU } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/cache_sources.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createKubelet, type Kubelet } from "../../lab/simulation/kubelet.ts";
import { createMetricAnswers, type MetricAnswers } from "../../lab/simulation/metric_answers.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { type PodChoice, sampleNode, samplePod } from "../contract/support/sample_objects.ts";

const NODE = "node-1";
const NAMESPACE = "shop";
/** How often the agent looks, ms. */
const AGENT_MS = 500;
/** How often it renews its lease, ms. */
const LEASE_MS = 60_000;

/** What may be different about a controller. */
export type ControllerChoice =
  & Pick<AllocationLoopParts, "onConfigChange" | "observer">
  & Partial<Pick<AllocationLoopParts, "log" | "store" | "resizer">>
  & {
    /** Where some of its copies come from instead of the server. */
    readonly sources?: Partial<CacheSources>;
  };

/** A cluster that runs. */
export interface ControllerScene {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly kubelet: Kubelet;
  /** Nodes with an agent that stands still. */
  readonly silent: Set<string>;
  /** Limits in the template of each pod's owner, by pod name; a pod that is not there has none. */
  readonly templates: Map<string, ReadonlyMap<string, number>>;
  /** Answers metric queries of all controllers. */
  readonly metrics: MetricAnswers;
  /** Lets virtual time pass. */
  pass(ms: number): Promise<void>;
  /** A controller begins; the call that is returned kills it. */
  startController(config?: Partial<MarketConfig>, parts?: ControllerChoice): () => void;
  createPod(name: string, choice?: PodChoice): Pod;
  changePod(name: string, change: (pod: Pod) => Pod): void;
  pod(name: string): Pod;
  /** The allocation of the living pod of this name. */
  allocation(name: string): PodAllocation | undefined;
  /**
   * From now on the agent wants this limit for container `app` of the pod, m; undefined: it does not
   * look at the pod. Its reason is `DemandRose` unless another is given.
   */
  want(name: string, limitCPU: number | undefined, reason?: MarketReason): void;
  /** CPU limits in spec and in the kubelet's report, m. */
  limits(name: string): { wanted: number | undefined; applied: number | undefined };
  /** The same of CPU requests. */
  requests(name: string): { wanted: number | undefined; applied: number | undefined };
}

/** Runs a test in a new cluster; in the end every applied value must have been the kubelet's. */
export function sceneTest(
  name: string,
  check: (scene: ControllerScene) => Promise<void>,
  { permissions = "none" }: { readonly permissions?: Deno.PermissionOptions } = {},
): void {
  Deno.test({
    name,
    permissions,
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
  const { allocatableCPU } = nodes.create(sampleNode(NODE));
  namespaces.create({
    metadata: { name: NAMESPACE, uid: "", resourceVersion: "", labels: {}, annotations: {} },
  });
  const wants = new Map<string, AgentsLimit>();
  const silent = new Set<string>();
  const templates = new Map<string, ReadonlyMap<string, number>>();
  const metrics = createMetricAnswers(clock);
  const violations = watchResizeConditions(api);
  const ended: Promise<unknown>[] = [];
  const kubelet = createKubelet({
    link: api.kubeletLink(NODE),
    runtime: { setContainerQuota: () => {}, setPodQuota: () => {} },
    clock,
    random: seededRandom(12),
    log: silentLog,
    allocatableCPU,
  });
  ended.push(kubelet.run(signal), runAgent({ api, clock, wants, silent }, signal));

  const scene: ControllerScene = {
    api,
    clock,
    kubelet,
    silent,
    templates,
    metrics,
    pass: (ms) => clock.runUntil(clock.monotonic() + ms),
    startController(config = {}, choice = {}) {
      const own = new AbortController();
      const kill = (): void => own.abort();
      signal.addEventListener("abort", kill, { once: true });
      const ownerTemplates: OwnerTemplates = {
        limitsOf: ({ metadata }) => Promise.resolve(templates.get(metadata.name)),
      };
      const parts = { api, clock, templates: ownerTemplates, metrics, ...choice };
      ended.push(...runController(parts, own.signal, config));
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
    want: (name, limit, reason = "DemandRose") => void wants.set(name, { limit, reason }),
    limits(name) {
      const container = scene.pod(name).containers[0];
      return { wanted: container?.limits.cpu, applied: container?.applied.limits.cpu };
    },
    requests(name) {
      const container = scene.pod(name).containers[0];
      return { wanted: container?.requests.cpu, applied: container?.applied.requests.cpu };
    },
  };
  return { scene, violations, ended };
}

/** Notes each applied value in a status that the kubelet has never reported for the pod. */
function watchResizeConditions({ store }: SimulatedAPI): string[] {
  const applied = new Map<string, Set<number>>();
  const violations: string[] = [];
  store.onChange(() => {
    for (const { metadata, containers } of store.tables.Pod.all()) {
      for (const { name, applied: { limits: { cpu: appliedLimitCPU } } } of containers) {
        const key = `${metadata.uid}/${name}`;
        const known = applied.get(key) ?? new Set();
        if (appliedLimitCPU !== undefined) applied.set(key, known.add(appliedLimitCPU));
      }
    }
    for (const { spec, status } of store.tables.PodAllocation.all()) {
      for (const { name, cpuLimit } of status?.containers ?? []) {
        const known = applied.get(`${spec.podUID}/${name}`);
        if (known?.has(parseCPU(cpuLimit)) !== true) violations.push(`${name}: ${cpuLimit}`);
      }
    }
  });
  return violations;
}

function assertApiError(error: unknown): void {
  assert.ok(error instanceof ApiError, String(error));
}

/** What the agent wants for a pod. */
interface AgentsLimit {
  readonly limit: number | undefined;
  readonly reason: MarketReason;
}

interface AgentParts {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly wants: ReadonlyMap<string, AgentsLimit>;
  readonly silent: ReadonlySet<string>;
}

async function runAgent(
  { api, clock, wants, silent }: AgentParts,
  signal: AbortSignal,
): Promise<void> {
  const writer = api.desiredWriter(NODE);
  const link = api.nodeLink(NODE);
  let renewedAt = -Infinity;
  for (; !signal.aborted; await clock.sleep(AGENT_MS, signal)) {
    if (silent.has(NODE)) continue;
    if (clock.monotonic() - renewedAt >= LEASE_MS) {
      renewedAt = clock.monotonic();
      await link.renewLease().catch(assertApiError);
    }
    for (const { metadata, spec, status } of api.store.tables.PodAllocation.all()) {
      const { limit, reason = "DemandRose" } = wants.get(spec.podName) ?? {};
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
          reason,
          observedBounds: revision,
          clearedAt: new Date(clock.wall()).toISOString(),
        },
      }).catch(assertApiError);
    }
  }
}

interface ControllerParts extends ControllerChoice {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  readonly templates: OwnerTemplates;
  readonly metrics: MetricAnswers;
}

function runController(
  { api, clock, templates, metrics, sources = {}, ...choice }: ControllerParts,
  signal: AbortSignal,
  config: Partial<MarketConfig>,
): Promise<void>[] {
  const caches = createCaches({ ...cacheSources(api), ...sources }, {
    clock,
    random: seededRandom(13),
    log: silentLog,
  });
  const loop = runAllocationLoop({
    caches,
    store: api.allocationStore,
    resizer: api.podResizer(),
    templates,
    events: api.events,
    instantQueries: metrics,
    clock,
    random: seededRandom(14),
    log: silentLog,
    // What the test changes in its object later counts at once.
    config: Object.setPrototypeOf(config, DEFAULT_MARKET_CONFIG),
    ...choice,
  }, signal);
  return [...namedCaches(caches).map(([, informer]) => informer.run(signal)), loop];
}
