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
import {
  leavesAtOnce,
  leavesInTurn,
  type NextMove,
  nextMove,
  type ReplicaStatus,
} from "../../shared/placement/next_move.ts";
import { floorOf, misplacedCount, splitReplicas } from "../../shared/placement/split.ts";
import { type PlacedPod, runningByClass } from "../../shared/placement/placed_pod.ts";
import { placedPod, placedPodsOf, withBudgets } from "../../shared/placement/workload_snapshot.ts";
import type { PlacementMemory } from "../../shared/placement/placement_memory.ts";
import type { PlacementSpec } from "../../shared/placement/placement_spec.ts";
import {
  isLeftBehind,
  nextShortage,
  remakeDueMs,
  type Shortage,
  shortagePhase,
  strandedPods,
  unplacedInFallback,
} from "../../shared/placement/shortage.ts";
import { ineffectiveMoveCount } from "../../shared/placement/move_cooldown.ts";
import { cachedObjects, type PlacementCaches } from "./caches.ts";
import { EVICTED_FOR_MS, type EvictedPods, type RefusedEvictions } from "./evictions.ts";
import type { DepartureTimes } from "./watch.ts";
import type { PlacementState } from "./store.ts";
import type { PlacementConfig } from "../../shared/placement/config.ts";
import type { DeletionCostWriter, EvictionAnswer, PodEvictor, ReconcileReport } from "./ports.ts";

/** What a look works with. */
export interface PlacementPassParts {
  readonly caches: PlacementCaches;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  readonly book: PlacementState;
  readonly config: PlacementConfig;
  readonly clock: Pick<Clock, "wall" | "monotonic">;
  /** Of moves, for the whole cluster. */
  readonly rate: RateLimiter;
  /** Bounds how many costs are written at the same time. */
  readonly permits: Permits;
  readonly evicted: EvictedPods;
  readonly refused: RefusedEvictions;
  /** Of nodes that are about to go. */
  readonly signs: DepartureTimes;
}

/** The workload with its spec. */
export interface WishedWorkload {
  readonly workload: Workload;
  readonly moved: ReplicaStatus;
  readonly spec: PlacementSpec;
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
export interface PlacementResult {
  readonly next: NextMove;
  readonly evictions: readonly SentEviction[];
  readonly shortage: {
    readonly before?: Shortage | undefined;
    readonly after?: Shortage | undefined;
    /** Pods that were made for spot in a fallback, see `unplacedInFallback()`. */
    readonly unplaced: readonly PlacedPod[];
  };
  readonly replicas: NonNullable<ReconcileReport["replicas"]>;
  /** When to look again though nothing changes, ms from now; Infinity: only then. */
  readonly againInMs: number;
  /** What stopped a part of it; the other parts were done. */
  readonly failure?: unknown;
}

/** Looks, and acts. Throws nothing that a server says: see `failure`. */
export async function placeWorkload(
  { workload, moved, spec }: WishedWorkload,
  { parts, signal }: { readonly parts: PlacementPassParts; readonly signal: AbortSignal },
): Promise<PlacementResult> {
  const { caches, config, book, clock, rate, evicted, refused } = parts;
  const nowMs = clock.wall();
  const objects = cachedObjects(caches);
  const look = { objects, config, evicted, signSinceMs: parts.signs.sinceMs };
  const pods = placedPodsOf(workload, look);
  const remembered = { kind: moved.kind, metadata: workload.metadata };
  const memory = book.memoryOf(remembered, nowMs);
  const { shortage: before, ineffectiveMoves, ...others } = memory;
  const evictionFromMs = nowMs + rate.wait(clock.monotonic());
  const facts = { ...memory, workload: moved, spec, evictionFromMs, nowMs };
  const movable = pods.map(deniedPod);
  const first = nextMove({ ...facts, pods: movable }, config);
  const next = "move" in first
    ? nextMove({ ...facts, pods: withBudgets(movable, { workload, objects }) }, config)
    : first;
  const asSpecified = "wait" in next && next.wait === "AsWished";
  const shortage = nextShortage(before, { pods, asSpecified, nowMs }, config.shortage);
  // Once all is as wished the moves before have helped.
  const isHealed = asSpecified && ineffectiveMoves !== undefined;
  const after: PlacementMemory = {
    ...others,
    ...(ineffectiveMoves === undefined || isHealed ? {} : { ineffectiveMoves }),
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
    return pod.pinned !== undefined || denial === undefined
      ? pod
      : { ...pod, pinned: `its eviction was denied: ${denial}` };
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

  function mayGo({ uid, pinned }: PlacedPod): boolean {
    return pinned === undefined && refused.of(uid, clock.monotonic()) === undefined;
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
    if (spec.paused) return;
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
    const misplaced = misplacedCount(pods, { ...moved, spec });
    const { spotPercentage, minOnDemand } = spec;
    const now = { misplaced, spec: { spotPercentage, minOnDemand } };
    const count = ineffectiveMoveCount(ineffectiveMoves, now);
    // Not before: a move that is not tried, or that a budget puts off, is none in vain.
    await know({ ...after, lastMoveAtMs: nowMs, ineffectiveMoves: { count, ...now } });
  }

  async function tellCosts(): Promise<void> {
    if (moved.kind !== "Deployment" || config.readOnly) return;
    const revisions = Map.groupBy(pods, ({ revision }) => revision).values();
    const changes = [...revisions].flatMap((revision) => costChanges(revision, spec));
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
      desired: splitReplicas(moved.replicas, spec),
      floor: floorOf(moved.replicas, spec),
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
