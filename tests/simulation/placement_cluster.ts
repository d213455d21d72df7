/**
 * A cluster in virtual time with whole controllers that place pods: an API, the controller of one workload
 * that has each pod it creates changed by the webhook to which the Service leads, and a scheduler.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { PlacementEvent } from "../../controller/placement/ports.ts";
import type { EvictionAnswer, PodRef } from "../../shared/api/ports.ts";
import { runMutators } from "../../shared/admission/run_mutators.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PlacedKind } from "../../shared/placement/eligibility.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import { revisionOf, secondOf } from "../../shared/placement/placed_pod.ts";
import { ordinalOf, splitReplicas } from "../../shared/placement/split.ts";
import { seededRandom } from "../../shared/random.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../contract/support/sample_objects.ts";
import {
  type KeptCheckpoints,
  keptCheckpoints,
  type RecordedAudit,
  recordedAudit,
} from "../fixtures/rightsizing/recorded_ports.ts";
import {
  DB_OWNER,
  dbStatefulSet,
  podRequest,
  SHOP,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../fixtures/placement/placement_caches.ts";
import { controllerPorts } from "../fixtures/controller_ports.ts";
import { sampleBudget } from "../fixtures/placement/placed_pods.ts";
import { createWebhookService } from "../fixtures/webhook/webhook_replica.ts";
import { type ControllerProgram, simulatedPlacement, startProgram } from "./controller_program.ts";
import {
  byCost,
  CAPACITY_TYPE,
  type ClusterOptions,
  ownPods,
  runningCounts,
  schedule,
} from "./placement_scheduler.ts";

/** Between two reconciles of the workload's controller, and for all mutators of one pod, ms. */
const [RECONCILE_MS, ADMISSION_MS] = [500, 200];

/** Without the market: its limits are of no matter here. */
const FLAGS = { "--market": "off", "--placement": "on", "--webhook": "on" };

/** A test with a cluster of its own. */
export function clusterTest(
  name: string,
  fn: (cluster: PlacementCluster) => Promise<void>,
  options: ClusterOptions = {},
): void {
  Deno.test({
    name,
    permissions: "none",
    async fn() {
      await using cluster = new PlacementCluster("70%", options);
      await fn(cluster);
    },
  });
}

/** The cluster, with Deployment `web` or StatefulSet `db` in namespace `shop`. */
export class PlacementCluster {
  readonly clock: VirtualClock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  readonly api: SimulatedAPI;
  readonly kind: PlacedKind;
  replicas = 0;
  /** So many creations are denied after the webhook was asked, as by a quota. */
  denials = 0;
  /** Annotation `spotalis.io/min-on-demand`. */
  floor = 0;
  /** Annotation `spotalis.io/spot-percentage`. */
  share: string;
  /** Members of the pods' template beside those that all have, as the API has it. */
  template: Parameters<typeof podRequest>[1] = {};
  /** The number of the newest template. */
  revision = 0;
  /** False: no webhook answers. */
  webhookUp = true;
  /** Answers evictions in place of the API; undefined: it does so itself. */
  refusal:
    | ((pod: PodRef) => EvictionAnswer | undefined | Promise<EvictionAnswer | undefined>)
    | undefined;
  readonly events: PlacementEvent[] = [];
  readonly audit: RecordedAudit = recordedAudit();
  /** ConfigMaps of placement, which outlive programs. */
  readonly memory: KeptCheckpoints = keptCheckpoints();
  /** Programs that were started. */
  readonly programs: ControllerProgram[] = [];
  readonly #service: ReturnType<typeof createWebhookService>;
  readonly #end = new AbortController();
  readonly #controller: Promise<void>;
  readonly #budget: boolean;
  readonly #latencyMs: number;
  #created = 0;
  /** Replicas that the API has. */
  #announced = 0;

  constructor(
    share: string,
    { kind = "Deployment", latencyMs = 10, budget = false }: ClusterOptions = {},
  ) {
    this.api = createSimulatedAPI({ clock: this.clock, random: seededRandom(21), latencyMs });
    this.#service = createWebhookService(this.api.store);
    this.share = share;
    this.kind = kind;
    this.#budget = budget;
    this.#latencyMs = latencyMs;
    const { tables } = this.api.store;
    tables.Namespace.seed(SHOP);
    if (budget) tables.PodDisruptionBudget.seed(sampleBudget());
    for (const one of ["spot", "on-demand"] as const) this.addNodes(one, 3);
    this.#notify();
    this.#controller = this.#run();
  }

  /** Lets virtual time pass. */
  readonly pass = (ms: number): Promise<void> => this.clock.runUntil(this.clock.monotonic() + ms);

  /** Starts a program that leads and decides, and so many replicas, which run as specified then. */
  async begin(replicas: number, flags: Readonly<Record<string, string>> = {}): Promise<void> {
    this.start("10.0.0.1", flags);
    await this.pass(60_000);
    this.replicas = replicas;
    await this.pass(this.kind === "Deployment" ? 30_000 : 5000 * (replicas + 1));
    assert.deepEqual(this.counts, this.split);
  }

  /** Nodes with room for as many as come. */
  addNodes(one: NodeClass, count: number): void {
    const { Node } = this.api.store.tables;
    const names = Array.from({ length: count }, (_, index) => `${one}-${index}`);
    for (const name of names.filter((each) => Node.get(each) === undefined)) {
      Node.seed({ ...sampleNode(name), labels: { [CAPACITY_TYPE]: one } });
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
    return runningCounts(this.live, this.api);
  }

  /** The split that is specified. */
  get split(): ClassCounts {
    const spotPercentage = Number.parseInt(this.share);
    return splitReplicas(this.replicas, { spotPercentage, minOnDemand: this.floor });
  }

  /** True if each replica is there, of the newest template, and Ready. */
  get whole(): boolean {
    return this.live.length === this.replicas &&
      this.live.every((pod) => pod.ready && this.#isNewest(pod));
  }

  get evictions(): number {
    return this.api.requests.get("evict Pod") ?? 0;
  }

  /** Pods on a node. */
  podsOn(name: string): number {
    return this.live.filter(({ nodeName }) => nodeName === name).length;
  }

  /** Messages of events with this reason. */
  messages(reason: PlacementEvent["reason"]): readonly string[] {
    return this.events.filter((one) => one.reason === reason).map(({ message }) => message);
  }

  /** Pods of the workload that are not being deleted. */
  get live(): readonly Pod[] {
    return ownPods(this.api).filter(({ metadata }) => !metadata.terminating);
  }

  /** Starts a replica of the controller at this address. */
  start(ip: string, more: Readonly<Record<string, string>> = {}): ControllerProgram {
    const { api, clock } = this;
    const { podEvictor } = controllerPorts(api);
    const link = { cut: false };
    const flags = new Map(Object.entries({ ...FLAGS, "--pod-ip": ip, ...more }));
    const program = startProgram({
      api,
      clock,
      identity: `controller-${ip}`,
      flags,
      audit: this.audit,
      placement: {
        ...simulatedPlacement(api, this.memory),
        evictor: {
          evict: async (pod) => {
            // Requests of a machine that is cut off never reach the server.
            if (link.cut) return await new Promise(() => {});
            return await this.refusal?.(pod) ?? await podEvictor.evict(pod);
          },
        },
        events: { emit: (event) => void this.events.push(event) },
      },
      webhook: this.#service.webhook({ ip, client: api, clock }),
    });
    const cutOff = (): void => {
      program.cutOff();
      link.cut = true;
      this.#service.crash(ip);
    };
    const placing = { ...program, cutOff };
    this.programs.push(placing);
    return placing;
  }

  /** All programs end. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.programs) program.terminate();
    this.#end.abort();
    await this.pass(20_000);
    await Promise.all([this.#controller, ...this.programs.map(({ ended }) => ended)]);
  }

  #isNewest({ metadata }: Pod): boolean {
    return revisionOf(metadata.labels) === `r${this.revision}`;
  }

  #remove({ metadata: { name } }: Pod): void {
    this.api.store.tables.Pod.remove(`shop/${name}`);
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      const { Node } = this.api.store.tables;
      for (const pod of ownPods(this.api)) {
        const isLost = pod.nodeName !== "" && Node.get(pod.nodeName) === undefined;
        if (pod.metadata.terminating || isLost) this.#remove(pod);
      }
      await this.#announce();
      await (this.kind === "Deployment" ? this.#deploy() : this.#order());
      for (const pod of this.live) {
        const { api, clock } = this;
        schedule(pod, { api, clock, podsOn: (node) => this.podsOn(node) });
      }
      this.#notify();
      await this.clock.sleep(RECONCILE_MS, this.#end.signal);
    }
  }

  /** A Deployment with one pod more than wanted while it rolls out, and none less. */
  async #deploy(): Promise<void> {
    const newest = this.live.filter((pod) => this.#isNewest(pod));
    const old = this.live.filter((pod) => !this.#isNewest(pod));
    for (const pod of byCost(newest).slice(0, Math.max(0, newest.length - this.replicas))) {
      this.#remove(pod);
    }
    for (const pod of byCost(old)) {
      const ready = this.live.filter((one) => one.ready).length;
      if (!pod.ready || ready > this.replicas) this.#remove(pod);
    }
    const most = this.replicas + Math.min(1, old.length);
    const missing = Math.min(this.replicas - newest.length, most - this.live.length);
    await Promise.all(Array.from({ length: Math.max(0, missing) }, () => this.#create()));
  }

  /** A StatefulSet, one pod after the other. */
  async #order(): Promise<void> {
    for (let ordinal = 0; ordinal < this.replicas; ordinal++) {
      const pod = this.live.find(({ metadata }) => metadata.name === `db-${ordinal}`);
      if (pod === undefined) await this.#create(`db-${ordinal}`);
      if (pod?.ready !== true) return;
    }
    const ordinal = ({ metadata }: Pod): number => ordinalOf(metadata.name) ?? 0;
    const own = this.live.toSorted((a, b) => ordinal(b) - ordinal(a));
    const next = own.length > this.replicas ? own[0] : own.find((pod) => !this.#isNewest(pod));
    if (next !== undefined) this.#remove(next);
  }

  async #create(name?: string): Promise<void> {
    const number = this.#created++;
    const revision = `r${this.revision}`;
    const isDeployed = this.kind === "Deployment";
    const set = { name: `web-${revision}`, uid: `rs-${revision}` };
    const owner = isDeployed ? { ...WEB_OWNER, ...set } : DB_OWNER;
    const labels = { [isDeployed ? "pod-template-hash" : "controller-revision-hash"]: revision };
    const request = podRequest(`request-${number}`, {
      owner,
      ...this.template,
      metadata: { labels, ...(name === undefined ? {} : { name }), ...this.template?.metadata },
    });
    const mutators = this.webhookUp ? this.#service.mutators() : [];
    const within = { clock: this.clock, withinMs: ADMISSION_MS };
    const { patch } = await runMutators(request, mutators, within);
    if (this.denials > 0) return void this.denials--;
    const stored = storedPod(request, { name: name ?? `${set.name}-${number}`, owner, patch });
    if (this.api.store.tables.Pod.get(`shop/${stored.metadata.name}`) !== undefined) return;
    const metadata = { ...stored.metadata, uid: "", resourceVersion: "" };
    this.api.store.tables.Pod.seed({
      ...samplePod("", { nodeName: "" }),
      metadata: { ...metadata, labels: { app: "web", ...metadata.labels } },
      nodeSelector: stored.nodeSelector ?? {},
      createdAtMs: secondOf(this.clock.wall()),
    });
  }

  /** Writes what its controller acts on: others see that as early as it does. */
  async #announce(): Promise<void> {
    const { ReplicaSet } = this.api.store.tables;
    const set = { ...WEB_SET.metadata, name: `web-r${this.revision}`, uid: `rs-r${this.revision}` };
    const isNew = ReplicaSet.get(`shop/${set.name}`) === undefined;
    if (isNew) ReplicaSet.seed({ ...WEB_SET, metadata: set });
    if (!isNew && this.#announced === this.replicas) return;
    this.#announced = this.replicas;
    this.#notify();
    await this.clock.sleep(2 * this.#latencyMs);
  }

  /** The workload with its status, and its budget. */
  #notify(): void {
    const { tables } = this.api.store;
    const { live, kind, replicas } = this;
    const annotations = {
      "spotalis.io/spot-percentage": this.share,
      "spotalis.io/min-on-demand": `${this.floor}`,
    };
    const { metadata, ...others } = kind === "Deployment"
      ? webDeployment(replicas, annotations)
      : dbStatefulSet(replicas);
    const ready = live.filter((pod) => pod.ready).length;
    const workload = {
      ...others,
      metadata: { ...metadata, annotations },
      replicas: {
        replicas,
        observed: true,
        present: live.length,
        ready,
        updated: live.filter((pod) => this.#isNewest(pod)).length,
      },
    };
    const key = `shop/${metadata.name}`;
    if (tables[kind].get(key) === undefined) tables[kind].seed(workload);
    else tables[kind].modify(key, () => workload);
    if (!this.#budget) return;
    const disruptionsAllowed = Math.max(0, ready - Math.floor(replicas / 2));
    tables.PodDisruptionBudget.modify("shop/web", (one) => ({ ...one, disruptionsAllowed }));
  }
}
