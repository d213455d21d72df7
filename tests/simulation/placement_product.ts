/**
 * The controller of placement as it is, on the simulated API, beside a stand-in of the webhook: both see
 * the world late, may be down, and begin anew with nothing but what was written.
 *
 * @module
 */
import { createCaches } from "../../controller/caches.ts";
import {
  createPlacementState,
  decodeMemory,
  memoryAt,
  type PlacementMemory,
} from "../../controller/placement/store.ts";
import { decodeEntries } from "../../shared/control/persisted_map.ts";
import type { PlacementConfig } from "../../shared/placement/settings.ts";
import { createPlacementInformers } from "../../controller/placement/caches.ts";
import { runPlacementLoop } from "../../controller/placement/loop.ts";
import type { PlacementEvent } from "../../controller/placement/ports.ts";
import { silentLog } from "../../shared/log.ts";
import { admitPod, noReservations, type Reservations } from "../../shared/placement/admit_pod.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../shared/placement/node_departure.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { shortagePhase } from "../../shared/placement/shortage.ts";
import type { SplitSpec } from "../../shared/placement/split.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/cache_sources.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock, type VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/kept_checkpoints.ts";
import { type KnownEviction, PlacementMirror, WORKLOAD_UID } from "./placement_mirror.ts";
import type { PlacementWorld, Webhook } from "./placement_world.ts";

/** Shorter than by default, so that a case ends soon. */
const CONFIG: PlacementConfig = {
  scope: { ownNamespace: "mbcas-system" },
  classes: NODE_CLASS_PRESETS.karpenter,
  departures: DEFAULT_DEPARTURE_SIGNS,
  readOnly: false,
  resyncPeriodMs: 15_000,
  workers: 2,
  cooldownMs: 10_000,
  evictions: { perSecond: 5, burst: 5 },
  shortage: { scheduleTimeoutMs: 20_000, fallbackMs: 40_000, longestFallbackMs: 160_000 },
};

/** One process of the controller: once it is dead, nothing that it does arrives. */
interface Life {
  readonly end: AbortController;
  alive: boolean;
  /** What was written of the last move when it last evicted, or began. */
  lastMoveAtMs: number | undefined;
}

/** Webhook and controller. */
export class PlacementProduct {
  spec: SplitSpec;
  webhookUp = true;
  controllerUp = true;
  /** Pods that were evicted, in order, with why. */
  readonly evictions: KnownEviction[] = [];
  readonly events: PlacementEvent[] = [];
  /** After so many writes more the controller dies, half way through the last one; it is started again. */
  diesAfter: number | undefined;
  /** True: it decides and changes nothing. */
  readOnly = false;
  /** Writes that it has sent. */
  writes = 0;
  /** What was written of the last move when each eviction was sent. */
  readonly rememberedAtEvictions: (number | undefined)[] = [];
  /** How often it has died so. */
  deaths = 0;
  readonly #world: PlacementWorld;
  readonly #clock: VirtualClock;
  readonly #api: SimulatedAPI;
  readonly #mirror: PlacementMirror;
  readonly #checkpoints = keptCheckpoints();
  #stored: PlacementMemory = {};
  readonly #config: PlacementConfig;
  /** UIDs of pods that were sent as moves: each is written before it is done. */
  readonly #moved = new Set<string>();
  #life: Life | undefined;
  #reservations: Reservations | undefined;

  constructor(
    world: PlacementWorld,
    { spec, lag }: {
      readonly spec: SplitSpec;
      /** Seconds by which what is seen is late, and for which a write is under way. */
      readonly lag: number;
    },
  ) {
    this.#world = world;
    this.spec = spec;
    const isReadOnly = (): boolean => this.readOnly;
    this.#config = {
      ...CONFIG,
      get readOnly() {
        return isReadOnly();
      },
    };
    this.#clock = createVirtualClock({ wallStart: world.nowMs });
    const latencyMs = 10 + 1000 * lag;
    this.#api = createSimulatedAPI({ clock: this.#clock, random: seededRandom(7), latencyMs });
    this.#mirror = new PlacementMirror(world, this.#api.store);
    world.webhook = this.#admit;
  }

  /** What the webhook had in its head is lost. */
  restartWebhook(): void {
    this.#reservations = undefined;
  }

  /** A second goes by for the controller, after one of the world. */
  async second(): Promise<void> {
    this.#mirror.write(this.spec);
    if (!this.controllerUp) this.#die();
    else if (this.#life?.alive !== true) this.#start();
    await this.#clock.runUntil(this.#clock.monotonic() + 1000);
    this.evictions.push(...this.#mirror.read(this.#moved));
  }

  readonly #admit: Webhook = ({ uid, name, revision }) => {
    if (!this.webhookUp) return undefined;
    const { workload, pods } = this.#world.view;
    const { nowMs } = this.#world;
    const { shortage } = this.#remembered();
    const answer = admitPod(this.#reservations ?? noReservations(pods), {
      // The workload is read with the request; pods come from a cache.
      workload: { ...workload, replicas: this.#world.workload.replicas },
      spec: this.spec,
      pods,
      shortage: shortagePhase(shortage, nowMs),
      pod: { uid, name, revision },
      dryRun: false,
      nowMs,
    });
    const { reservations, ...made } = answer;
    this.#reservations = reservations;
    return made;
  };

  /** The memory in the ConfigMap. */
  #remembered(): PlacementMemory {
    return memoryAt(this.#stored, this.#world.nowMs + 1000);
  }

  #die(): void {
    if (this.#life === undefined) return;
    this.#life.alive = false;
    this.#life.end.abort();
    this.#life = undefined;
  }

  /** A write of a life: it arrives while the life lasts, and its end may come before the answer. */
  async #send<R>(life: Life, write: () => Promise<R>): Promise<R> {
    const never = new Promise<never>(() => {});
    if (!life.alive) return await never;
    this.writes++;
    const isLast = this.diesAfter === 0;
    if (this.diesAfter !== undefined) this.diesAfter = isLast ? undefined : this.diesAfter - 1;
    const answer = await write();
    if (isLast) {
      this.deaths++;
      life.alive = false;
      life.end.abort();
    }
    return life.alive ? answer : await never;
  }

  #start(): void {
    const { lastMoveAtMs } = this.#remembered();
    const life: Life = { end: new AbortController(), alive: true, lastMoveAtMs };
    this.#life = life;
    const { signal } = life.end;
    const options = { clock: this.#clock, random: seededRandom(8), log: silentLog };
    const api = this.#api;
    const caches = {
      ...createCaches(cacheSources(api), options),
      ...createPlacementInformers({
        replicaSets: api.listWatch("ReplicaSet"),
        budgets: api.listWatch("PodDisruptionBudget"),
        volumes: api.listWatch("PersistentVolume"),
      }, options),
    };
    const { pods, nodes, namespaces, deployments, statefulSets } = caches;
    const { replicaSets, budgets, volumes } = caches;
    const copies = [nodes, namespaces, deployments, statefulSets, replicaSets, budgets, volumes];
    for (const copy of [pods, ...copies]) void copy.run(signal);
    const state = createPlacementState({
      store: {
        ...this.#checkpoints,
        apply: (one, term) =>
          this.#send(life, async () => {
            await this.#checkpoints.apply(one, term);
            const entries = new Map(await decodeEntries(one.data["entries"] ?? ""));
            this.#stored = decodeMemory(entries.get(WORKLOAD_UID) ?? {});
          }),
        remove: (name, term) =>
          this.#send(life, async () => {
            await this.#checkpoints.remove(name, term);
            this.#stored = {};
          }),
      },
      clock: this.#clock,
      log: silentLog,
    });
    void state.load(signal).then(() =>
      runPlacementLoop({
        ...options,
        caches,
        state,
        config: this.#config,
        evictor: {
          evict: (pod) => {
            const { lastMoveAtMs } = this.#remembered();
            this.rememberedAtEvictions.push(lastMoveAtMs);
            if (lastMoveAtMs !== life.lastMoveAtMs) this.#moved.add(pod.uid);
            life.lastMoveAtMs = lastMoveAtMs;
            return this.#send(life, () => api.podEvictor.evict(pod));
          },
        },
        costs: {
          write: (pod, cost) => this.#send(life, () => api.deletionCostWriter.write(pod, cost)),
        },
        events: { emit: (event) => void this.events.push(event) },
      }, signal)
    );
  }
}
