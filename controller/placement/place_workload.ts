/**
 * One look at a workload that takes part, and what follows from it: at most one replica is moved.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { RateLimiter } from "../../shared/control/rate_limiter.ts";
import { costChanges } from "../../shared/placement/deletion_cost.ts";
import { leavesAtOnce, leavesInTurn } from "../../shared/placement/leaving_pods.ts";
import { misplacedCount } from "../../shared/placement/misplaced.ts";
import { type MovedWorkload, type NextMove, nextMove } from "../../shared/placement/next_move.ts";
import { type PlacedPod, runningByClass } from "../../shared/placement/placed_pod.ts";
import { placedPod, placedPodsOf, withBudgets } from "../../shared/placement/placed_workload.ts";
import type { PlacementMemory } from "../../shared/placement/placement_memory.ts";
import type { PlacementWish } from "../../shared/placement/placement_wish.ts";
import {
  isLeftBehind,
  nextShortage,
  remakeDueMs,
  type Shortage,
  shortagePhase,
  strandedPods,
  unplacedInFallback,
} from "../../shared/placement/shortage.ts";
import { movesInVain } from "../../shared/placement/vain_moves.ts";
import { floorOf, splitReplicas } from "../../shared/placement/split_replicas.ts";
import { cachedObjects } from "./cached_objects.ts";
import { EVICTED_FOR_MS, type EvictedPods } from "./evicted_pods.ts";
import type { RefusedEvictions } from "./refused_evictions.ts";
import type { SeenSigns } from "./seen_signs.ts";
import type { PlacementBook } from "./placement_book.ts";
import type { PlacementConfig } from "../../shared/placement/settings/placement_config.ts";
import type { PlacementCaches } from "./placement_copies.ts";
import type { PlacementLook } from "./placement_observer.ts";
import type { DeletionCostWriter, EvictionAnswer, PodEvictor } from "./placement_ports.ts";

/** What a look works with. */
export interface PlacementPassParts {
  readonly caches: PlacementCaches;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  readonly book: PlacementBook;
  readonly config: PlacementConfig;
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  /** Of moves, for the whole cluster. */
  readonly rate: RateLimiter;
  /** Bounds how many costs are written at the same time. */
  readonly permits: Permits;
  readonly evicted: EvictedPods;
  readonly refused: RefusedEvictions;
  /** Of nodes that are about to go. */
  readonly signs: SeenSigns;
}

/** The workload with its wish. */
export interface WishedWorkload {
  readonly workload: Workload;
  readonly moved: MovedWorkload;
  readonly wish: PlacementWish;
}

/** What was sent for a pod, and answered; without an answer it would have been sent. */
export interface SentEviction {
  readonly pod: PlacedPod;
  /** For the message of an event, for instance `to spot`. */
  readonly why: string;
  readonly answer?: EvictionAnswer;
  /** True where it was refused before, as now. */
  readonly again?: boolean;
}

/** What a look came to. */
export interface PlacementPass {
  readonly next: NextMove;
  readonly evictions: readonly SentEviction[];
  readonly shortage: {
    readonly before?: Shortage | undefined;
    readonly after?: Shortage | undefined;
    /** Pods that were made for spot in a fallback, see `unplacedInFallback()`. */
    readonly unplaced: readonly PlacedPod[];
  };
  readonly replicas: NonNullable<PlacementLook["replicas"]>;
  /** When to look again though nothing changes, ms from now; Infinity: only then. */
  readonly againInMs: number;
  /** What stopped a part of it; the other parts were done. */
  readonly failure?: unknown;
}

/** Looks, and acts. Throws nothing that a server says: see `failure`. */
// deno-lint-ignore house/function-length
export async function placeWorkload(
  { workload, moved, wish }: WishedWorkload,
  { parts, signal }: { readonly parts: PlacementPassParts; readonly signal: AbortSignal },
): Promise<PlacementPass> {
  const { caches, config, book, clock, rate, evicted, refused } = parts;
  const nowMs = clock.wall();
  const objects = cachedObjects(caches);
  const look = { objects, config, evicted, signSinceMs: parts.signs.sinceMs };
  const pods = placedPodsOf(workload, look);
  const remembered = { kind: moved.kind, metadata: workload.metadata };
  const memory = book.memoryOf(remembered, nowMs);
  const { shortage: before, vainMoves, ...others } = memory;
  const evictionFromMs = nowMs + rate.wait(clock.monotonic());
  const facts = { ...memory, workload: moved, wish, evictionFromMs, nowMs };
  const movable = pods.map(deniedPod);
  const first = nextMove({ ...facts, pods: movable }, config);
  const next = "move" in first
    ? nextMove({ ...facts, pods: withBudgets(movable, { workload, objects }) }, config)
    : first;
  const asWished = "wait" in next && next.wait === "AsWished";
  const shortage = nextShortage(before, { pods, asWished, nowMs }, config.shortage);
  // Once all is as wished the moves before have helped.
  const isHealed = asWished && vainMoves !== undefined;
  const after: PlacementMemory = {
    ...others,
    ...(vainMoves === undefined || isHealed ? {} : { vainMoves }),
    ...(shortage === undefined ? {} : { shortage }),
  };
  const isNews = isHealed || !isSame(shortage, before);
  // In the moment of the look, and before anything is awaited: the webhook sends by it who is made from now
  // on, in place of whom a part evicts.
  if (isNews) book.remember(remembered, after);
  const evictions: SentEviction[] = [];
  const failures: unknown[] = [];
  const { namespace } = workload.metadata;

  /** Others are moved in place of who may not be evicted. */
  function deniedPod(pod: PlacedPod): PlacedPod {
    const denial = refused.denial(pod.uid, clock.monotonic());
    return pod.bound !== undefined || denial === undefined
      ? pod
      : { ...pod, bound: `its eviction was denied: ${denial}` };
  }

  /** One part that fails leaves the others; whoever was told to end begins nothing. */
  async function attempt(part: () => Promise<void>): Promise<void> {
    if (signal.aborted) return;
    try {
      await part();
    } catch (error) {
      failures.push(error);
    }
  }

  async function know(now: PlacementMemory): Promise<void> {
    book.remember(remembered, now);
    if (!config.readOnly) await book.save(namespace, signal);
  }

  /** Whether one still holds for it by now: evictions take their time, and those before it had theirs. */
  function isStill({ name, uid }: PlacedPod, holds: (pod: PlacedPod) => boolean): boolean {
    const pod = caches.pods.get(`${namespace}/${name}`);
    return pod?.metadata.uid === uid && holds(placedPod(pod, look));
  }

  function mayGo({ uid, bound }: PlacedPod): boolean {
    return bound === undefined && refused.of(uid, clock.monotonic()) === undefined;
  }

  async function evict(pod: PlacedPod, why: string): Promise<void> {
    if (signal.aborted) return;
    if (config.readOnly) return void evictions.push({ pod, why });
    // Also where no answer comes: the request may have arrived.
    evicted.note(pod.uid, clock.monotonic());
    const answer = await parts.evictor.evict({ namespace, name: pod.name, uid: pod.uid });
    if (answer.is !== "blocked" && answer.is !== "forbidden") {
      refused.forget(pod.uid);
      return void evictions.push({ pod, why, answer });
    }
    evicted.forget(pod.uid);
    const { cooldownMs } = config;
    const again = refused.note(pod.uid, answer, { nowMs: clock.monotonic(), cooldownMs });
    evictions.push({ pod, why, answer, again });
  }

  async function leaveNodes(): Promise<void> {
    if (wish.paused) return;
    for (const pod of pods) {
      if (!leavesAtOnce(pod) || !mayGo(pod) || !isStill(pod, leavesAtOnce)) continue;
      await evict(pod, leavingWords(pod));
    }
  }

  async function fallBack(): Promise<void> {
    // Before anybody is made again: a process that ends in between must not forget it.
    if (isNews) await know(after);
    if (shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback") return;
    const isLeft = (pod: PlacedPod): boolean => isLeftBehind(pod, { shortage, nowMs });
    for (const pod of pods) {
      if (!isLeft(pod) || !mayGo(pod) || !isStill(pod, isLeft)) continue;
      await evict(pod, "to on-demand, as it found no spot node");
    }
  }

  async function move(): Promise<void> {
    if (!("move" in next)) return;
    const { pod, to } = next.move;
    const leaves = leavesInTurn(pod);
    const why = leaves ? leavingWords(pod) : `to ${to}`;
    if (config.readOnly) return void evictions.push({ pod, why });
    // Others may have used it up meanwhile.
    if (rate.take(clock.monotonic()) > 0) return;
    // Known before it is done: a process that ends in between must not forget it.
    await know({ ...after, lastMoveAtMs: nowMs });
    await evict(pod, why);
    const answer = evictions.at(-1)?.answer?.is;
    const isTried = answer === "evicted" || answer === "forbidden";
    if (leaves || !isTried || signal.aborted) return;
    const misplaced = misplacedCount(pods, { ...moved, wish });
    const { spotPercentage, minOnDemand } = wish;
    const now = { misplaced, wish: { spotPercentage, minOnDemand } };
    const count = movesInVain(vainMoves, now);
    // Not before: a move that is not tried, or that a budget puts off, is none in vain.
    await know({ ...after, lastMoveAtMs: nowMs, vainMoves: { count, ...now } });
  }

  async function tellCosts(): Promise<void> {
    if (moved.kind !== "Deployment" || config.readOnly) return;
    const revisions = Map.groupBy(pods, ({ revision }) => revision).values();
    const changes = [...revisions].flatMap((revision) => costChanges(revision, wish));
    await Promise.all(changes.map(({ pod: { name, uid }, cost }) =>
      parts.permits.run(async () => {
        if (!signal.aborted) await parts.costs.write({ namespace, name, uid }, cost);
      })
    ));
  }

  for (const part of [leaveNodes, fallBack, move, tellCosts]) await attempt(part);
  const sinceMs = ({ unschedulableSinceMs = nowMs }: PlacedPod): number => unschedulableSinceMs;
  const waitingSinceMs = strandedPods(pods).map(sinceMs);
  const waiting = pods.filter(({ gone, scheduled }) => !gone && !scheduled);
  return {
    next,
    evictions,
    shortage: { before, after: shortage, unplaced: unplacedInFallback(pods, { shortage, nowMs }) },
    replicas: {
      actual: runningByClass(pods),
      desired: splitReplicas(moved.replicas, wish),
      floor: floorOf(moved.replicas, wish),
      pendingMs: nowMs - Math.min(nowMs, ...waiting.map(sinceMs)),
    },
    againInMs: Math.min(
      againInMs({ next, shortage, waitingSinceMs }, { config, nowMs }),
      remakeDueMs(pods, { shortage, nowMs }, config.shortage) - nowMs,
      // Whose eviction came to nothing tells nobody so.
      pods.some(({ uid }) => evicted.has(uid)) ? EVICTED_FOR_MS : Infinity,
      ...pods.map(({ uid }) => {
        const at = clock.monotonic();
        return (refused.of(uid, at)?.untilMs ?? Infinity) - at;
      }),
    ),
    ...(failures.length === 0 ? {} : { failure: failures[0] }),
  };
}

function leavingWords({ departs }: PlacedPod): string {
  return `from a node that is about to go (${departs})`;
}

function isSame(a: Shortage | undefined, b: Shortage | undefined): boolean {
  return a?.untilMs === b?.untilMs && a?.rounds === b?.rounds &&
    a?.remade?.atMs === b?.remade?.atMs;
}

function againInMs(
  { next, shortage, waitingSinceMs }: {
    readonly next: NextMove;
    readonly shortage: Shortage | undefined;
    readonly waitingSinceMs: readonly number[];
  },
  { config: { cooldownMs, shortage: { scheduleTimeoutMs = 60_000 } }, nowMs }: {
    readonly config: PlacementConfig;
    readonly nowMs: number;
  },
): number {
  const waits = [
    "move" in next ? nowMs + cooldownMs : next.untilMs ?? Infinity,
    shortage?.untilMs ?? Infinity,
    ...waitingSinceMs.map((since) =>
      Math.max(since, shortage?.untilMs ?? since) + scheduleTimeoutMs
    ),
  ];
  return Math.min(...waits.filter((atMs) => atMs > nowMs)) - nowMs;
}
