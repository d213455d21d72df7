/**
 * A whole cluster in virtual time: two nodes with kubelets and agents, two controllers, and users, all
 * of them meeting the faults of a plan.
 *
 * @module
 */
import { Registry } from "prom-client";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import {
  createSimulatedAPI,
  type SimulatedAPI,
  type SimulatedClient,
} from "../../../lab/simulation/api/simulated_api.ts";
import { Kubelet } from "../../../lab/simulation/kubelet.ts";
import { createVirtualClock, type VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import {
  createWebhookService,
  type WebhookService,
} from "../../fixtures/webhook/webhook_replica.ts";
import { isOfMarket } from "../final_state.ts";
import { constantUsage, LOADED_PODS, newPod, seedRightsized } from "./cluster_load.ts";
import {
  type ClusterNode,
  corrupted,
  createClusterNode,
  createUserLimits,
  NODE_CORES,
  PLACED,
  startPlaced,
  startRules,
  type UserLimits,
} from "./cluster_rules.ts";
import {
  createFaultSchedule,
  type Fault,
  type FaultPlan,
  type FaultSchedule,
  type PodFault,
  type ProcessName,
} from "../fault.ts";
import { createProcesses, type Launched, type Process, type Processes } from "./process.ts";
import { UNMANAGED } from "../invariants.ts";
import { keptCheckpoints } from "../../fixtures/rightsizing/recorded_ports.ts";
import {
  simulatedPlacement,
  simulatedRightsizing,
  startProgram,
} from "../../simulation/controller_program.ts";
import { createAgent } from "../../../agent/agent.ts";
import { AGENT_SETTINGS } from "../../../agent/settings.ts";
import { cgroupView } from "../../../lab/simulation/node/cgroup_view.ts";
import type { SimulatedNode } from "../../../lab/simulation/node/simulated_node.ts";

/** The cluster, and what users do in it. */
export interface FaultCluster {
  readonly clock: VirtualClock;
  readonly api: SimulatedAPI;
  readonly schedule: FaultSchedule;
  readonly processes: Processes;
  readonly users: UserLimits;
  readonly service: WebhookService;
  /** Those of the plan. */
  readonly faults: readonly Fault[];
  /** Switches the market in the installation's ConfigMap, beside other settings, faulty ones too. */
  switchMarket(on: boolean, others?: string): void;
  optOut(namespace: string, out: boolean): void;
  /** Applies the fault of a user, a node or an accident to a pod; does nothing where the pod is gone. */
  apply(fault: PodFault): void;
}

const WALL_START = Date.UTC(2026, 0, 1);
const SYSTEM = "mbcas-system";
const NO_VERSION = { uid: "", resourceVersion: "" };
const USER = "kubectl-edit";

function seedObjects({ store }: SimulatedAPI): void {
  const { Node, Namespace, ConfigMap } = store.tables;
  for (const name of ["node-1", "node-2"]) {
    const metadata = { name, ...NO_VERSION };
    Node.seed({ metadata, allocatableCPU: NODE_CORES * 1000, ready: true, pressures: [] });
  }
  const names = new Set([
    SYSTEM,
    PLACED.namespace,
    ...LOADED_PODS.map(({ namespace }) => namespace),
  ]);
  for (const name of names) {
    const labels: Record<string, string> = UNMANAGED.has(name) ? { [MANAGED]: "false" } : {};
    Namespace.seed({ metadata: { name, ...NO_VERSION, labels, annotations: {} } });
  }
  const metadata = { name: "mbcas-config", namespace: SYSTEM, ...NO_VERSION };
  ConfigMap.seed({ metadata, data: {} });
}

/** Starts the cluster; virtual time stands at 0. `record` keeps all requests of its processes. */
export function startFaultCluster(
  { seed, idleCPU, faults }: FaultPlan,
  { record = false }: { readonly record?: boolean } = {},
): FaultCluster {
  const clock = createVirtualClock({ wallStart: WALL_START });
  const api = createSimulatedAPI({ clock, random: seededRandom(seed), garbageDelayMs: 500 });
  const schedule = createFaultSchedule(faults, { record });
  const users = createUserLimits();
  const nodes: Readonly<Record<string, ClusterNode>> = {
    "1": createClusterNode({ seed: 2 * seed, now: clock.monotonic }),
    "2": createClusterNode({ seed: 2 * seed + 1, now: clock.monotonic }),
  };
  const kubelets = new Map<string, Kubelet>();
  const kept = { corrections: keptCheckpoints(), placement: keptCheckpoints() };
  const service = createWebhookService(api.store);
  seedObjects(api);
  seedRightsized(api);
  startRules(api);

  function startController(
    { process, client, seed }: ProgramPlace,
    name: "controller-a" | "controller-b",
  ): Launched {
    const ip = name === "controller-a" ? "10.1.0.1" : "10.1.0.2";
    const { clock } = process;
    process.onEnd(() => service.crash(ip));
    const { store, events, rightsizingEvents } = api;
    const rightsizing = simulatedRightsizing({ ...client, store, rightsizingEvents }, {
      source: constantUsage(WALL_START),
      correctionStore: kept.corrections,
    });
    return startProgram({
      api: { ...client, events },
      clock,
      identity: `${name}-${seed}`,
      random: seededRandom(seed),
      templates: {
        limitsOf: (pod) => Promise.resolve(TEMPLATES.get(pod.metadata.owner?.name ?? "")),
      },
      followed: client.listWatch("ConfigMap"),
      flags: new Map([
        ...(["rightsizing", "placement", "webhook"].map((name) => [`--${name}`, "on"] as const)),
        ["--pod-ip", ip],
      ]),
      rightsizing,
      placement: simulatedPlacement(client, kept.placement),
      webhook: service.webhook({ ip, client, clock }),
    });
  }

  function launch(name: ProcessName, place: ProgramPlace): Launched {
    if (name === "controller-a" || name === "controller-b") {
      return startController(place, name);
    }
    const number = name.slice(-1);
    const nodeName = `node-${number}`;
    const { node, runtime } = nodes[number] ?? createClusterNode({ seed, now: clock.monotonic });
    if (name === "agent-1" || name === "agent-2") {
      return startAgent(place, { nodeName, node, idleCPU });
    }
    const kubelet = new Kubelet({
      link: place.client.kubeletLink(nodeName),
      runtime,
      clock: place.process.clock,
      random: seededRandom(place.seed),
      log: silentLog,
    });
    kubelets.set(nodeName, kubelet);
    return { ended: kubelet.run(new AbortController().signal).then(() => 0) };
  }

  const processes = createProcesses({ api, clock, schedule, seed }, launch);
  const { Pod: pods, PodAllocation: records, Namespace, ConfigMap } = api.store.tables;

  function create(name: string): void {
    const loaded = LOADED_PODS.find((one) => one.name === name);
    if (loaded !== undefined) users.wrote(pods.seed(newPod(loaded)));
  }

  function edit(pod: Pod, limit: number): void {
    const containers = pod.containers.map((one) => ({
      ...one,
      limits: { ...one.limits, cpu: Math.max(limit, one.requests.cpu ?? 0) },
      limitManagers: [USER],
    }));
    const generation = (pod.metadata.generation ?? 1) + 1;
    const edited = { ...pod, metadata: { ...pod.metadata, generation }, containers };
    users.wrote(pods.modify(objectKey(pod.metadata), () => edited));
  }

  /** The market's limits no longer carry the user's; the record may still have them. */
  function forget(pod: Pod, record: PodAllocation | undefined): void {
    if (!pod.containers.some(isOfMarket)) return;
    const containers = pod.containers.map((one) =>
      isOfMarket(one) ? { ...one, limitManagers: ["mbcas"] } : one
    );
    if (record?.status?.originalLimits === undefined) users.lose(pod.metadata.uid);
    users.forget(pods.modify(objectKey(pod.metadata), (stored) => ({ ...stored, containers })));
  }

  for (const { name } of LOADED_PODS) create(name);
  startPlaced(api, clock, service);
  processes.startAll();
  return {
    clock,
    api,
    schedule,
    processes,
    users,
    service,
    faults,
    switchMarket(on, others = "") {
      const data = { "config.yaml": `market:\n  enabled: ${on ? "on" : "off"}\n${others}` };
      ConfigMap.modify(`${SYSTEM}/mbcas-config`, (stored) => ({ ...stored, data }));
    },
    optOut(namespace, out) {
      const labels: Record<string, string> = out ? { [MANAGED]: "false" } : {};
      Namespace.modify(namespace, ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, labels },
      }));
    },
    apply({ fault, pod: key, limit = 500, field = "desired" }) {
      const pod = pods.get(key);
      if (pod === undefined) return;
      const { uid, namespace, name } = pod.metadata;
      const recordKey = `${namespace}/${uid}`;
      const record = records.get(recordKey);
      if (fault === "editLimit") edit(pod, limit);
      if (fault === "restartContainer") {
        // A kubelet that is dead or stands still restarts nothing now.
        const name = pod.nodeName === "node-1" ? "kubelet-1" : "kubelet-2";
        const restart = (): void => kubelets.get(pod.nodeName)?.restartContainer(key, "app");
        processes.get(name)?.process.run(restart);
      }
      if (fault === "rebirth") {
        pods.remove(key);
        create(name);
      }
      if (fault === "forgetOriginals") forget(pod, record);
      if (record === undefined) return;
      const loses = fault === "deleteRecord" || field === "originalLimits" || field === "status";
      if (loses && users.isForgotten(pod)) users.lose(uid);
      if (fault === "deleteRecord") records.remove(recordKey);
      if (fault === "corrupt") {
        records.modify(recordKey, (stored) => corrupted(stored, field));
      }
    },
  };
}

/** Where a program runs. */
export interface ProgramPlace {
  readonly process: Process;
  readonly client: SimulatedClient;
  /** Another one for each life of each process. */
  readonly seed: number;
}

const log = silentLog;

/** CPU limits of the templates, millicores by container, by ReplicaSet. */
const TEMPLATES: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
  ["web-5d9c", new Map([["app", 300]])],
  ["app-7f9d", new Map([["app", 300]])],
]);

/** Starts the agent of a node. */
export function startAgent(
  { process, client, seed }: ProgramPlace,
  { nodeName, node, idleCPU }: {
    readonly nodeName: string;
    readonly node: SimulatedNode;
    readonly idleCPU: "free" | "tight";
  },
): { readonly ended: Promise<number> } {
  const { clock } = process;
  const files = cgroupView(node);
  const advance = (): void => node.advance(clock.monotonic());
  const interval = `${SAMPLE_MS}ms`;
  const set = { idleCPU, sampleInterval: interval, busySampleInterval: interval };
  const agent = createAgent(AGENT_SETTINGS.parse(set), {
    source: client.listWatch("PodAllocation", { nodeName }),
    writer: client.desiredWriter(nodeName),
    link: client.nodeLink(nodeName),
    tree: {
      ...files,
      read(file) {
        advance();
        return files.read(file);
      },
      children(directory) {
        advance();
        return files.children(directory);
      },
    },
    kernel: { read: () => undefined },
    cores: node.cores,
    registry: new Registry(),
    random: seededRandom(seed),
    clock,
    log,
  });
  return { ended: agent.run(new AbortController().signal).then(() => 0) };
}

/** The longest interval that reacts to a burst within the bursts of the loads, ms. */
const SAMPLE_MS = 1000;
