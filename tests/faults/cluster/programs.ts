/**
 * The programs of the product in the simulated cluster: the controller with its election and settings,
 * and the agent's loop.
 *
 * @module
 */
import { Registry } from "prom-client";
import { type NodeLoopParts, runNodeLoop } from "../../../agent/loop.ts";
import { createNodeSampler } from "../../../agent/sampling/node_sampler.ts";
import { type Caches, createCaches, namedCaches } from "../../../controller/caches.ts";
import { createLiveSettings } from "../../../controller/live_settings.ts";
import { createControllerMetrics } from "../../../controller/metrics.ts";
import { runController } from "../../../controller/run_controller.ts";
import type { PlacementAPI } from "../../../controller/placement/ports.ts";
import { createPlacement } from "../../../controller/placement/placement.ts";
import type { RightsizingAPI } from "../../../controller/rightsizing/api.ts";
import { rightsizingConfig } from "../../../controller/rightsizing/config.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import { effectiveSettings } from "../../../shared/config/load.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { silentLog } from "../../../shared/log.ts";
import { placementConfig } from "../../../shared/placement/settings.ts";
import { seededRandom } from "../../../shared/random.ts";
import { cacheSources } from "../../../lab/simulation/api/cache_sources.ts";
import type { EventList } from "../../../lab/simulation/api/event_sink.ts";
import type { SimulatedClient } from "../../../lab/simulation/api/simulated_api.ts";
import { createMetricAnswers } from "../../../lab/simulation/metric_answers.ts";
import { cgroupView } from "../../../lab/simulation/node/cgroup_view.ts";
import type { SimulatedNode } from "../../../lab/simulation/node/simulated_node.ts";
import type { WebhookService } from "../../fixtures/webhook/webhook_service.ts";
import type { Process } from "./process.ts";

/** Where a program runs. */
export interface ProgramPlace {
  readonly process: Process;
  readonly client: SimulatedClient;
  /** Another one for each life of each process. */
  readonly seed: number;
}

const log = silentLog;

/** Starts a controller; resolves with its exit code. Its copies show what it knows. */
export function startController(
  { process, client, seed }: ProgramPlace,
  { name, podIP, events, rightsizing, placement: placementAPI, service }: {
    readonly name: string;
    readonly podIP: string;
    readonly events: EventList;
    readonly rightsizing: RightsizingAPI;
    readonly placement: PlacementAPI;
    readonly service: WebhookService;
  },
): { readonly ended: Promise<0 | 1>; readonly caches: Caches } {
  const { clock } = process;
  const random = seededRandom(seed);
  const effective = effectiveSettings(CONTROLLER_SETTINGS, {
    flags: new Map([["--placement", "on"], ["--webhook", "on"], ["--pod-ip", podIP]]),
  });
  if ("faults" in effective) throw new Error(`Cannot start: ${effective.faults.join("; ")}`);
  const settings = createLiveSettings({ settings: effective, sources: {} }, log);
  const sources = cacheSources(client);
  const caches = createCaches(sources, { clock, random, log });
  const metrics = createControllerMetrics(new Registry(), {
    allocations: caches.allocations.all,
    synced: () => namedCaches(caches).map(([kind, { synced }]) => [kind, synced] as const),
    settings: settings.values,
    settingsValid: () => settings.valid,
  });
  process.onEnd(() => service.crash(podIP));
  const placement = createPlacement({
    api: placementAPI,
    caches,
    config: placementConfig(settings.values),
    webhook: true,
    clock,
    random,
    log,
  });
  const ended = runController({
    api: {
      ask: () =>
        Promise.resolve({
          serverVersion: "v1.36.3",
          servesPodResize: true,
          servesAllocations: true,
          unknownFields: [],
          missingRights: [],
        }),
      sources,
      settings: client.listWatch("ConfigMap"),
      leadership: client.leaseStore({ namespace: "mbcas-system", name: "mbcas-controller" }),
      store: client.allocationStore,
      resizer: client.podResizer(),
      templates: {
        limitsOf: (pod) => Promise.resolve(TEMPLATES.get(pod.metadata.owner?.name ?? "")),
      },
      events: { emit: events.emit, run: () => Promise.resolve() },
      rightsizing,
    },
    rightsizing: { config: rightsizingConfig(settings.values), observer: {} },
    caches,
    clock,
    random,
    log,
    settings,
    metrics,
    instantQueries: createMetricAnswers(clock),
    identity: `${name}-${seed}`,
    placement,
    webhook: service.webhook({ ip: podIP, client, clock }),
    waitsFor: () => {},
  }, new AbortController().signal);
  return { ended, caches };
}

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
  const random = seededRandom(seed);
  const { signal } = new AbortController();
  const source = client.listWatch("PodAllocation", { nodeName });
  const allocations = createInformer({ source, clock, random, log, name: "PodAllocation" });
  const sampler = createNodeSampler({ tree: cgroupView(node), cores: node.cores, log });
  const sample: NodeLoopParts["sample"] = (at, managed, options) => {
    node.advance(at);
    return sampler.sample(at, managed, options);
  };
  const writer = client.desiredWriter(nodeName);
  const link = client.nodeLink(nodeName);
  const loop = runNodeLoop(
    { allocations, sample, writer, link, clock, random, log },
    signal,
    { idleCPU, sampleMs: SAMPLE_MS, busySampleMs: SAMPLE_MS },
  );
  return { ended: Promise.all([allocations.run(signal), loop]).then(() => 0) };
}

/** The longest interval that reacts to a burst within the bursts of the loads, ms. */
const SAMPLE_MS = 1000;
