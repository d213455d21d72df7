/**
 * Webhook and controller of placement as they are to be, around the simulated world: they see it through
 * caches, may be down, and begin anew with nothing but what was written.
 *
 * @module
 */
import { admitPod } from "../../shared/placement/admit_pod.ts";
import { costChanges } from "../../shared/placement/deletion_cost.ts";
import { nextMove } from "../../shared/placement/next_move.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";
import { memoryText, readMemory } from "../../shared/placement/placement_memory.ts";
import { budgetRefusal } from "../../shared/placement/pod_budget.ts";
import { noReservations, type Reservations } from "../../shared/placement/reservations.ts";
import { nextShortage, shortagePhase, strandedPods } from "../../shared/placement/shortage.ts";
import type { SplitWish } from "../../shared/placement/split_replicas.ts";
import type { PlacementWorld, Webhook, WorldView } from "./placement_world.ts";

/** Shorter than by default, so that a case ends soon. */
const PATIENCE = { scheduleTimeoutMs: 20_000, fallbackMs: 40_000, longestFallbackMs: 160_000 };
const COOLDOWN_MS = 10_000;
const WORKLOAD = { uid: "w1" } as const;

/** Webhook and controller. */
export class PlacementProduct {
  wish: SplitWish;
  webhookUp = true;
  controllerUp = true;
  /** Pods that were evicted, in order, with why. */
  readonly evictions: { readonly uid: string; readonly why: "move" | "stranded" }[] = [];
  /** Evictions that the API has refused. */
  refused = 0;
  readonly #world: PlacementWorld;
  /** The entry in the ConfigMap. */
  #memory: string | undefined;
  #reservations: Reservations | undefined;

  constructor(world: PlacementWorld, wish: SplitWish) {
    this.#world = world;
    this.wish = wish;
    world.webhook = this.#admit;
  }

  /** What the webhook had in its head is lost. */
  restartWebhook(): void {
    this.#reservations = undefined;
  }

  readonly #admit: Webhook = ({ uid, name, revision }) => {
    if (!this.webhookUp) return undefined;
    const { workload, pods } = this.#world.view;
    const { nowMs } = this.#world;
    const { shortage } = readMemory(this.#memory, { ...WORKLOAD, nowMs });
    const answer = admitPod(this.#reservations ?? noReservations(pods), {
      // The workload is read with the request; pods come from a cache.
      workload: { ...workload, replicas: this.#world.workload.replicas },
      wish: this.wish,
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

  /** One look, and what follows from it. */
  reconcile(): void {
    if (!this.controllerUp) return;
    const { nowMs, view } = this.#world;
    const memory = readMemory(this.#memory, { ...WORKLOAD, nowMs });
    const pods = view.pods.map((pod) => withBudget(pod, view));
    const next = nextMove(
      {
        workload: view.workload,
        wish: { ...this.wish, paused: false },
        pods,
        shortage: memory.shortage,
        lastMoveAtMs: memory.lastMoveAtMs,
        evictionFromMs: 0,
        nowMs,
      },
      { cooldownMs: COOLDOWN_MS },
    );
    const asWished = "wait" in next && next.wait === "AsWished";
    const shortage = nextShortage(memory.shortage, { pods, asWished, nowMs }, PATIENCE);
    let { lastMoveAtMs } = memory;
    if (shortagePhase(shortage, nowMs) === "fallback") {
      for (const { uid } of strandedPods(pods)) this.#evict(uid, "stranded");
    }
    if ("move" in next && this.#evict(next.move.pod.uid, "move")) lastMoveAtMs = nowMs;
    this.#writeCosts(view);
    this.#memory = memoryText(
      {
        ...(lastMoveAtMs === undefined ? {} : { lastMoveAtMs }),
        ...(shortage === undefined ? {} : { shortage }),
      },
      WORKLOAD.uid,
    );
  }

  #evict(uid: string, why: "move" | "stranded"): boolean {
    const gone = this.#world.evict(uid);
    if (gone) this.evictions.push({ uid, why });
    else this.refused++;
    return gone;
  }

  #writeCosts({ workload, pods }: WorldView): void {
    if (workload.kind !== "Deployment") return;
    for (const revision of Map.groupBy(pods, (pod) => pod.revision).values()) {
      for (const { pod: { uid }, cost } of costChanges(revision, this.wish)) {
        const pod = this.#world.pods.find((one) => one.uid === uid);
        if (pod !== undefined) pod.deletionCost = cost;
      }
    }
  }
}

function withBudget(pod: PlacedPod, { disruptionsAllowed }: WorldView): PlacedPod {
  if (disruptionsAllowed === undefined) return pod;
  const refusal = budgetRefusal({ labels: {}, ready: pod.ready }, [{
    name: "web",
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed,
    current: true,
    freesUnready: false,
  }]);
  return refusal === undefined ? pod : { ...pod, budget: refusal };
}
