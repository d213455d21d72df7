/**
 * A cluster in virtual time with whole controllers that place pods: an API, a Deployment's controller
 * that has each pod it makes changed by the webhook to which the Service leads, and a scheduler.
 *
 * @module
 */
import type { EvictionAnswer, PlacementEvent, PodRef } from "../../controller/placement/ports.ts";
import { createPlacement } from "../../controller/placement/placement.ts";
import { createPlacementMetrics } from "../../controller/placement/metrics.ts";
import type { AccessRight } from "../../controller/start_check.ts";
import { runMutators } from "../../shared/admission/run_mutators.ts";
import { labelsMatch } from "../../shared/api/label_selector.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import { secondOf } from "../../shared/placement/placed_pod.ts";
import { placementConfig } from "../../shared/placement/settings.ts";
import { seededRandom } from "../../shared/random.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../contract/support/sample_objects.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/kept_checkpoints.ts";
import { podRequest, SHOP, storedPod, WEB_SET } from "../fixtures/placement/placement_caches.ts";
import { sampleWorkload } from "../fixtures/sample_workloads.ts";
import { createWebhookService } from "../fixtures/webhook/webhook_service.ts";
import { type ControllerProgram, startProgram } from "./controller_program.ts";
import { byCost } from "./deletion_order.ts";

const CAPACITY_TYPE = "karpenter.sh/capacity-type";
/** Until a pod with a node is Ready, ms. */
const STARTS_MS = 2000;
/** Between two looks of the Deployment's controller, ms. */
const LOOK_MS = 500;
/** For all mutators of one pod, as the routes have it, ms. */
const ADMISSION_MS = 200;

/** Without the market: its limits are of no matter here. */
const FLAGS = { "--market": "off", "--placement": "on", "--webhook": "on" };

/** A replica of the controller. */
export interface PlacingProgram extends ControllerProgram {
  /** What it asked at its start to be allowed. */
  readonly rights: readonly AccessRight[];
}

/** The cluster, with Deployment `web` in namespace `shop`. */
export class PlacementCluster {
  readonly clock: VirtualClock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  readonly api: SimulatedAPI = createSimulatedAPI({
    clock: this.clock,
    random: seededRandom(21),
  });
  replicas = 0;
  /** So many creations are denied after the webhook was asked, as by a quota. */
  denials = 0;
  /** Annotation `spotalis.io/min-on-demand`. */
  floor = 0;
  /** What pods are made of beside what all have, as the API has it. */
  template: Parameters<typeof podRequest>[1] = {};
  /** True: pods come to nodes whatever their taints. */
  toleratesAll = false;
  /** Answers evictions in place of the API; undefined: it does so itself. */
  refusal: ((pod: PodRef) => EvictionAnswer) | undefined;
  /** How long an eviction is under way, ms. */
  evictionMs = 0;
  readonly events: PlacementEvent[] = [];
  #share: string;
  readonly #service = createWebhookService(this.api.store);
  readonly #memory = keptCheckpoints();
  readonly #programs: ControllerProgram[] = [];
  readonly #end = new AbortController();
  readonly #controller: Promise<void>;
  #made = 0;

  constructor(share: string) {
    this.#share = share;
    const { tables } = this.api.store;
    tables.Namespace.seed(SHOP);
    tables.ReplicaSet.seed(WEB_SET);
    for (const one of ["spot", "on-demand"] as const) this.addNodes(one, 3);
    this.#notify();
    this.#controller = this.#run();
  }

  /** Lets virtual time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.runUntil(this.clock.monotonic() + ms);
  }

  /** Another annotation `spotalis.io/spot-percentage`. */
  share(share: string): void {
    this.#share = share;
    this.#notify();
  }

  /** Nodes with room for as many as come. */
  addNodes(one: NodeClass, count: number): void {
    const { Node } = this.api.store.tables;
    for (let index = 0; index < count; index++) {
      Node.seed({ ...sampleNode(`${one}-${index}`), labels: { [CAPACITY_TYPE]: one } });
    }
  }

  changeNode(name: string, change: (node: Node) => Node): void {
    this.api.store.tables.Node.modify(name, change);
  }

  removeNodes(one: NodeClass): void {
    const { Node } = this.api.store.tables;
    for (const { metadata: { name }, labels } of Node.all()) {
      if (labels?.[CAPACITY_TYPE] === one) Node.remove(name);
    }
  }

  /** Pods that run, by the class of their nodes. */
  get counts(): ClassCounts {
    const counts = { spot: 0, "on-demand": 0 };
    for (const { ready, nodeName } of this.#live()) {
      const node = this.api.store.tables.Node.get(nodeName);
      if (ready && node !== undefined) counts[node.labels?.[CAPACITY_TYPE] as NodeClass]++;
    }
    return counts;
  }

  get evictions(): number {
    return this.api.requests.get("evict Pod") ?? 0;
  }

  /** How many pods have no node. */
  get pending(): number {
    return this.podsOn("");
  }

  /** Pods on a node. */
  podsOn(name: string): number {
    return this.#live().filter(({ nodeName }) => nodeName === name).length;
  }

  /** Starts a replica of the controller at this address. */
  start(ip: string, more: Readonly<Record<string, string>> = {}): PlacingProgram {
    const { api, clock } = this;
    const rights: AccessRight[] = [];
    const link = { cut: false };
    const flags = new Map(Object.entries({ ...FLAGS, "--pod-ip": ip, ...more }));
    const program = startProgram({
      api,
      clock,
      identity: `controller-${ip}`,
      flags,
      ask(asked) {
        rights.push(...asked);
        return Promise.resolve({
          serverVersion: "v1.36.3",
          servesPodResize: true,
          servesAllocations: true,
          unknownFields: [],
          missingRights: [],
        });
      },
      more: ({ settings, ...slot }) => {
        const { identity, registry } = slot;
        const { placement: placed, webhook: serves } = settings.values();
        const webhook = serves
          ? { webhook: this.#service.webhook({ ip, client: api, clock }) }
          : {};
        if (!placed) return { identity, ...webhook };
        const placement = createPlacement({
          ...slot,
          config: placementConfig(settings.values),
          webhook: serves,
          observer: createPlacementMetrics(registry),
          api: {
            sources: {
              replicaSets: api.listWatch("ReplicaSet"),
              budgets: api.listWatch("PodDisruptionBudget"),
              volumes: api.listWatch("PersistentVolume"),
            },
            evictor: {
              evict: async (pod) => {
                // Of a machine that is cut off no request reaches the server.
                if (link.cut) return await new Promise(() => {});
                if (this.evictionMs > 0) await clock.sleep(this.evictionMs);
                return this.refusal?.(pod) ?? await api.podEvictor.evict(pod);
              },
            },
            costs: api.deletionCostWriter,
            store: this.#memory,
            statuses: this.#memory,
            events: { emit: (event) => void this.events.push(event) },
          },
        });
        return { placement, identity, ...webhook };
      },
    });
    this.#programs.push(program);
    const cutOff = (): void => {
      program.cutOff();
      link.cut = true;
      this.#service.crash(ip);
    };
    return { ...program, cutOff, rights };
  }

  /** All programs end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) program.terminate();
    this.#end.abort();
    await this.pass(20_000);
    await Promise.all([this.#controller, ...this.#programs.map(({ ended }) => ended)]);
  }

  #live(): readonly Pod[] {
    return this.api.store.tables.Pod.all().filter(({ metadata }) => !metadata.terminating);
  }

  /** The time as API servers write it: in whole seconds. */
  get #second(): number {
    return secondOf(this.clock.wall());
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const { Pod, Node } = this.api.store.tables;
      for (const { metadata: { name, terminating }, nodeName } of Pod.all()) {
        const isLost = nodeName !== "" && Node.get(nodeName) === undefined;
        if (terminating || isLost) Pod.remove(`shop/${name}`);
      }
      const live = this.#live();
      const missing = this.replicas - live.length;
      for (const { metadata } of byCost(live).slice(0, Math.max(0, -missing))) {
        Pod.remove(`shop/${metadata.name}`);
      }
      await Promise.all(Array.from({ length: Math.max(0, missing) }, () => this.#create()));
      for (const pod of this.#live()) this.#follow(pod);
      this.#notify();
      await this.clock.sleep(LOOK_MS, this.#end.signal);
    }
  }

  async #create(): Promise<void> {
    const number = this.#made++;
    const request = podRequest(`request-${number}`, this.template);
    const { patch } = await runMutators(request, this.#service.mutators(), {
      clock: this.clock,
      withinMs: ADMISSION_MS,
    });
    if (this.denials > 0) return void this.denials--;
    const name = `web-5f-${number}`;
    const { metadata, nodeSelector = {} } = storedPod(request, { name, patch });
    this.api.store.tables.Pod.seed({
      ...samplePod(name, { nodeName: "" }),
      metadata: { ...metadata, uid: "", resourceVersion: "" },
      nodeSelector,
      createdAtMs: this.#second,
    });
  }

  /**
   * Gives it a node, or makes it Ready. A pod without a selector goes where most room is kept:
   * on-demand.
   */
  #follow(pod: Pod): void {
    const { Pod, Node } = this.api.store.tables;
    const { metadata: { name }, nodeName, nodeSelector = {}, createdAtMs = 0, ready } = pod;
    const key = `shop/${name}`;
    if (nodeName !== "") {
      const isReady = this.clock.wall() - createdAtMs >= STARTS_MS;
      if (isReady && !ready) Pod.modify(key, (one) => ({ ...one, phase: "Running", ready: true }));
      return;
    }
    const [node] = Node.all()
      .filter(({ labels = {}, taints = [] }) =>
        (this.toleratesAll || taints.length === 0) &&
        labelsMatch(labels, { matchLabels: nodeSelector, matchExpressions: [] })
      )
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .toSorted((a, b) => this.podsOn(a.metadata.name) - this.podsOn(b.metadata.name))
      .toSorted((a, b) => Number(isSpot(a)) - Number(isSpot(b)));
    if (node !== undefined) {
      Pod.modify(key, ({ unschedulableSinceMs: _since, ...one }) => ({
        ...one,
        nodeName: node.metadata.name,
      }));
    } else if (pod.unschedulableSinceMs === undefined) {
      Pod.modify(key, (one) => ({ ...one, unschedulableSinceMs: this.#second }));
    }
  }

  /** The Deployment with its status. */
  #notify(): void {
    const { Deployment } = this.api.store.tables;
    const live = this.#live();
    const sample = sampleWorkload({
      labels: { "spotalis.io/enabled": "true" },
      annotations: {
        "spotalis.io/spot-percentage": this.#share,
        "spotalis.io/min-on-demand": `${this.floor}`,
      },
    });
    const workload = {
      ...sample,
      metadata: { ...sample.metadata, uid: "web" },
      replicas: {
        wanted: this.replicas,
        observed: true,
        present: live.length,
        ready: live.filter(({ ready }) => ready).length,
        updated: live.length,
      },
    };
    if (Deployment.get("shop/web") === undefined) Deployment.seed(workload);
    else Deployment.modify("shop/web", () => workload);
  }
}

function isSpot({ labels = {} }: Node): boolean {
  return labels[CAPACITY_TYPE] === "spot";
}
