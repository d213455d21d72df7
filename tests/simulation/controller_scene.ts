/**
 * A cluster of one node in virtual time: API, kubelet, the real controller, and an agent that wants
 * what the test says.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  type AllocationLoopParts,
  runAllocationLoop,
} from "../../controller/allocation/allocation_loop.ts";
import { type CacheSources, createCaches, namedCaches } from "../../controller/caches.ts";
import type { MarketEvent, OwnerTemplates } from "../../shared/api/ports.ts";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import type { QuotaBound } from "../../shared/api/namespace.ts";
import { MANAGED } from "../../shared/api/market_keys.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type {
  ContainerBounds,
  PodAllocation,
  PodAllocationStatus,
} from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import { silentLog } from "../../shared/log.ts";
import { formatCPU, parseCPU } from "../../shared/quantity.ts";
import { seededRandom } from "../../shared/random.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import {
  cacheSources,
  createSimulatedAPI,
  type SimulatedAPI,
} from "../../lab/simulation/api/simulated_api.ts";
import { Kubelet } from "../../lab/simulation/kubelet.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { type PodChoice, sampleNode, samplePod } from "../contract/support/sample_objects.ts";
import { settleVirtually } from "../contract/support/settle_virtually.ts";
import { createMetricAnswers, type MetricAnswers } from "../fixtures/metrics/metric_answers.ts";

const NODE = "node-1";
const NAMESPACE = "shop";

/** Options of a controller. */
export type ControllerChoice =
  & Pick<AllocationLoopParts, "onConfigChange" | "observer">
  & Partial<Pick<AllocationLoopParts, "log" | "store" | "resizer">>
  & {
    /** Where some of its copies come from instead of the server. */
    readonly sources?: Partial<CacheSources>;
  };

/** A cluster that runs. Functions that take a pod's name mean pod `web` where none is given. */
export interface ControllerScene {
  readonly api: SimulatedAPI;
  readonly tables: SimulatedAPI["store"]["tables"];
  readonly clock: VirtualClock;
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
  /** The last controller dies, and one begins a second later. */
  restartController(config?: Partial<MarketConfig>, parts?: ControllerChoice): Promise<() => void>;
  createPod(name: string, choice?: PodChoice, change?: (pod: Pod) => Pod): Pod;
  changePod(name: string, change: (pod: Pod) => Pod): void;
  /** Sets all annotations of the pod. */
  annotate(annotations: Texts, name?: string): void;
  /** Sets the label of the pod, or of its namespace, that takes pods in and out. */
  setManaged(value: "true" | "false", of?: "pod" | "namespace"): void;
  changeNode(change: (node: Node) => Node): void;
  /** Creates quota `cpu` on limits of CPU, or changes it. */
  setQuota(change: Partial<QuotaBound>): void;
  pod(name?: string): Pod;
  /** The allocation of the living pod of this name. */
  allocation(name?: string): PodAllocation | undefined;
  status(name?: string): Partial<PodAllocationStatus>;
  /** Bounds of the pod's first container. */
  bound(name?: string): Partial<ContainerBounds>;
  /** Reasons of the pod's bounds, as published. */
  boundReasons(name?: string): string | undefined;
  /** The recorded original limit of the pod's first container. */
  originalLimit(name?: string): string | undefined;
  /**
   * From now on the agent wants this limit for container `app` of the pod, m; undefined: it does not
   * look at the pod. Its reason is `DemandRose` unless another is given.
   */
  want(name: string, limitCPU: number | undefined, reason?: MarketReason): void;
  /** The agent wants this limit for pod `web`, and that much time passes. */
  wantFor(ms: number, limitCPU: number): Promise<void>;
  /** Makes pod `web` and waits until its limit is raised from 200 m. @default to 300 m */
  raise(limitCPU?: number, change?: (pod: Pod) => Pod): Promise<void>;
  /** Another client sets the limit of container `app` of pod `web`, m. */
  setByHand(limitCPU: number): Promise<void>;
  /** CPU limits of the first container in spec and in the kubelet's report, m. */
  limits(name?: string): { wanted: number | undefined; applied: number | undefined };
  /** The same of CPU requests. */
  requests(name?: string): { wanted: number | undefined; applied: number | undefined };
  /** Fails unless the pod's limit is this one, in its spec and in the kubelet's report. */
  assertLimit(limitCPU: number, name?: string): void;
  /** The sum of all pods' limits in their specs, m. */
  totalLimits(): number;
  /** How many requests of this kind the server has got, for instance `resize Pod`. */
  count(request: "resize Pod" | "updateStatus PodAllocation"): number;
  /** Events with this reason. */
  events(reason: string): readonly MarketEvent[];
  messages(reason: string): readonly string[];
}

type Texts = Readonly<Record<string, string>>;

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

/** A test of the market's loop: the name goes on after `runAllocationLoop()`. */
export function loopTest(name: string, check: (scene: ControllerScene) => Promise<void>): void {
  sceneTest(`runAllocationLoop() ${name}`, check);
}

/** The pod with the label that takes it out of the market, or in. */
export function optOut({ metadata, ...pod }: Pod, value = "false"): Pod {
  return { ...pod, metadata: { ...metadata, labels: { ...metadata.labels, [MANAGED]: value } } };
}

/** The running parts of the cluster. */
interface RunningScene {
  readonly scene: ControllerScene;
  /** Applied values in a status that the kubelet has never reported. */
  readonly violations: readonly string[];
  readonly ended: Promise<unknown>[];
}

function openScene(signal: AbortSignal): RunningScene {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const api = createSimulatedAPI({ clock, random: seededRandom(11) });
  const { tables } = api.store;
  const { allocatableCPU } = tables.Node.create(sampleNode(NODE));
  tables.Namespace.create({
    metadata: { name: NAMESPACE, uid: "", resourceVersion: "", labels: {}, annotations: {} },
  });
  const wants = new Map<string, AgentsLimit>();
  const silent = new Set<string>();
  const templates = new Map<string, ReadonlyMap<string, number>>();
  const metrics = createMetricAnswers(clock);
  const violations = watchResizeConditions(api);
  const ended: Promise<unknown>[] = [];
  const kubelet = new Kubelet({
    link: api.kubeletLink(NODE),
    runtime: { setContainerQuota: () => {}, setPodQuota: () => {} },
    clock,
    random: seededRandom(12),
    log: silentLog,
    allocatableCPU,
  });
  ended.push(kubelet.run(signal), runAgent({ api, clock, wants, silent }, signal));
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  let killLast = (): void => {};
  const startController: ControllerScene["startController"] = (config = {}, choice = {}) => {
    const own = new AbortController();
    killLast = () => own.abort();
    signal.addEventListener("abort", killLast, { once: true });
    const ownerTemplates: OwnerTemplates = {
      limitsOf: ({ metadata }) => Promise.resolve(templates.get(metadata.name)),
    };
    const parts = { api, clock, templates: ownerTemplates, metrics, ...choice };
    ended.push(...runController(parts, own.signal, config));
    return killLast;
  };
  const scene: ControllerScene = {
    ...{ api, tables, clock, silent, templates, metrics, pass, startController },
    async restartController(config, choice) {
      killLast();
      await pass(1000);
      return startController(config, choice);
    },
    ...writersOf(api),
    ...readersOf(api),
    want: (name, limit, reason = "DemandRose") => void wants.set(name, { limit, reason }),
    async wantFor(ms, limit) {
      scene.want("web", limit);
      await pass(ms);
    },
    async raise(limit, change) {
      scene.createPod("web", {}, change);
      await scene.wantFor(10_000, limit ?? 300);
      scene.assertLimit(limit ?? 300);
    },
    async setByHand(cpu) {
      const { uid } = scene.pod().metadata;
      const change = { name: "app", sidecar: false, requests: {}, limits: { cpu } };
      const resizer = api.podResizer("kubectl-patch");
      const sent = resizer.resize(NAMESPACE, "web", resizePatch(uid, [change]));
      await settleVirtually(clock, sent);
    },
  };
  return { scene, violations, ended };
}

/** Writes of users and other controllers. */
function writersOf({ store: { tables } }: SimulatedAPI) {
  const metadata = { name: "cpu", namespace: NAMESPACE, uid: "", resourceVersion: "" };
  const changePod: ControllerScene["changePod"] = (name, change) =>
    void tables.Pod.modify(`${NAMESPACE}/${name}`, change);
  return {
    createPod: (name: string, choice?: PodChoice, change: (pod: Pod) => Pod = (pod) => pod) =>
      tables.Pod.create(change(samplePod(name, choice))),
    changePod,
    annotate: (annotations: Texts, name = "web") =>
      changePod(name, (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations } })),
    setManaged(value: "true" | "false", of: "pod" | "namespace" = "pod") {
      const labels = { [MANAGED]: value };
      if (of === "pod") return changePod("web", (pod) => optOut(pod, value));
      tables.Namespace.modify(NAMESPACE, ({ metadata }) => ({ metadata: { ...metadata, labels } }));
    },
    changeNode: (change: (node: Node) => Node) => void tables.Node.modify(NODE, change),
    setQuota(change: Partial<QuotaBound>) {
      const present = tables.ResourceQuota.get("shop/cpu")?.bounds["limits.cpu"];
      const bounds = { "limits.cpu": { hard: 0, used: 0, ...present, ...change } };
      if (present === undefined) tables.ResourceQuota.create({ metadata, bounds, scopes: [] });
      else tables.ResourceQuota.modify("shop/cpu", (quota) => ({ ...quota, bounds }));
    },
  };
}

/** Readers of the present state. */
function readersOf({ store: { tables }, events, requests }: SimulatedAPI) {
  const pod = (name = "web"): Pod => {
    const found = tables.Pod.get(`${NAMESPACE}/${name}`);
    assert.ok(found, `pod ${name} exists`);
    return found;
  };
  const allocation = (name = "web"): PodAllocation | undefined =>
    tables.PodAllocation.get(`${NAMESPACE}/${pod(name).metadata.uid}`);
  const status = (name = "web"): Partial<PodAllocationStatus> => allocation(name)?.status ?? {};
  const limits = (name = "web") => {
    const container = pod(name).containers[0];
    return { wanted: container?.limits.cpu, applied: container?.applied.limits.cpu };
  };
  const eventsOf = (reason: string): readonly MarketEvent[] =>
    events.all().filter((event) => event.reason === reason);
  return {
    ...{ pod, allocation, status, limits, events: eventsOf },
    bound: (name = "web") => status(name).bounds?.containers[0] ?? {},
    boundReasons: (name = "web") => status(name).bounds?.reason,
    originalLimit: (name = "web") => status(name).originalLimits?.[0]?.cpu,
    requests(name = "web") {
      const container = pod(name).containers[0];
      return { wanted: container?.requests.cpu, applied: container?.applied.requests.cpu };
    },
    assertLimit: (limit: number, name = "web") =>
      assert.deepEqual(limits(name), { wanted: limit, applied: limit }, name),
    totalLimits: () =>
      tables.Pod.all().reduce((sum, { containers: [app] }) => sum + (app?.limits.cpu ?? 0), 0),
    count: (request: string) => requests.get(request) ?? 0,
    messages: (reason: string) => eventsOf(reason).map(({ message }) => message),
  };
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
    // Later changes of the test in its object count at once.
    config: Object.setPrototypeOf(config, DEFAULT_MARKET_CONFIG),
    ...choice,
  }, signal);
  return [...namedCaches(caches).map(([, informer]) => informer.run(signal)), loop];
}

/** How often the agent looks, ms. */
const AGENT_MS = 500;
/** How often it renews its lease, ms. */
const LEASE_MS = 60_000;

function assertApiError(error: unknown): void {
  assert.ok(error instanceof ApiError, String(error));
}

/** The agent's desired limit of a pod. */
interface AgentsLimit {
  readonly limit: number | undefined;
  readonly reason: MarketReason;
}

/** The agent: writes what is wanted, by pod, and renews the lease; it does nothing while it is silent. */
async function runAgent(
  { api, clock, wants, silent }:
    & Pick<ControllerScene, "api" | "clock" | "silent">
    & { readonly wants: ReadonlyMap<string, AgentsLimit> },
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
      const clearedAt = new Date(clock.wall()).toISOString();
      await writer.writeDesired({ name, namespace }, {
        desiredCPULimit: cpuLimit,
        containers: [{ name: "app", cpuLimit }],
        market: {
          ...{ mode: "uncongested", price: 0, demand: limit, need: limit, credit: 1, reason },
          ...{ observedBounds: revision, clearedAt },
        },
      }).catch(assertApiError);
    }
  }
}
