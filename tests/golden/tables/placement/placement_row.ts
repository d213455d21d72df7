/**
 * Decides one input of placement's tables: how replicas are split and which class each next pod gets, which
 * pod is evicted, and what becomes of a shortage.
 *
 * @module
 */
import { parseNamespace } from "../../../../adapters/kube/kinds/namespaces.ts";
import { parsePodDisruptionBudget } from "../../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import type { ReadPlacementCaches } from "../../../../controller/placement/caches.ts";
import {
  eligibilityInput,
  placedPodsWithBudgets,
  replicaStatus,
} from "../../../../controller/placement/workload_snapshot.ts";
import type { Workload } from "../../../../shared/api/workload.ts";
import { defined, mapDefined } from "../../../../shared/defined.ts";
import {
  admitPod,
  type CountedPod,
  noReservations,
} from "../../../../shared/placement/admit_pod.ts";
import {
  decideMove,
  leavesAtOnce,
  type MoveDecisionInput,
} from "../../../../shared/placement/decide_move.ts";
import { checkEligibility, type PlacementSpec } from "../../../../shared/placement/eligibility.ts";
import type { NodeClass } from "../../../../shared/placement/node_classes.ts";
import { classifyPod, type PlacedPod } from "../../../../shared/placement/placed_pod.ts";
import { placementScope } from "../../../../shared/placement/settings.ts";
import {
  fallbackDueMs,
  nextShortage,
  recreationDueMs,
  type Shortage,
  shortagePhase,
  unplacedInFallback,
} from "../../../../shared/placement/shortage.ts";
import { misplacedCount, splitReplicas } from "../../../../shared/placement/split.ts";
import { placedPod } from "../../../fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../../fixtures/placement/placement_defaults.ts";
import { listedObjects } from "../../../fixtures/placement/placement_reader.ts";
import { given, rawMetadata } from "../raw_pod.ts";
import {
  type MoveInput,
  nodesOf,
  NOW_MS,
  type PlacementAnnotations,
  placementAnnotations,
  placementPods,
  placementWorkload,
  replicaSetOf,
} from "./raw_placement.ts";

/** The decision on an input. */
export interface MoveResult {
  /** Why no replica is moved; null: one is. */
  readonly reason: string | null;
  /** `POD to CLASS`. */
  readonly move?: string;
  /** Pods that leave their node at once, as it is about to go. */
  readonly leave?: readonly string[];
  /** When to look again. */
  readonly againInS?: number;
}

/** Decides which replica moves. */
export function moveResult(input: MoveInput): MoveResult {
  const pods = placementPods(input);
  const workload = placementWorkload(input, pods);
  const labels = { labels: input.namespaceLabels ?? {} };
  const caches = listedObjects({
    pods,
    nodes: nodesOf(input),
    replicaSets: [replicaSetOf()],
    namespaces: [parseNamespace({ metadata: rawMetadata(workload.metadata.namespace, labels) })],
    budgets: given(
      input.disruptionsAllowed,
      (disruptionsAllowed) =>
        parsePodDisruptionBudget({
          metadata: rawMetadata("budget", { generation: 1 }),
          spec: { selector: { matchLabels: { app: "web" } } },
          status: { observedGeneration: 1, disruptionsAllowed },
        }),
    ),
  });
  const namespace = caches.namespaces.get(workload.metadata.namespace);
  const gate = checkEligibility(eligibilityInput(workload, namespace), {
    ...placementScope(PLACEMENT_DEFAULTS),
    ...(input.selectsTeam && {
      namespaceSelector: { matchLabels: { team: "shop" }, matchExpressions: [] },
    }),
  });
  if (gate.spec === undefined) return { reason: gate.reason };
  return decided(input, { workload, spec: gate.spec, caches });
}

interface Placed {
  readonly workload: Workload;
  readonly spec: PlacementSpec;
  readonly caches: ReadPlacementCaches;
}

function decided(input: MoveInput, { workload, spec, caches }: Placed): MoveResult {
  const moved = replicaStatus(workload);
  if (moved === undefined) throw new RangeError("Cannot decide a row: its counts are not read");
  const { shortageEndsInS, lastMoveSecondsAgo, vainMoves, evictionInMs = 0 } = input;
  const pods = placedPodsWithBudgets(workload, {
    caches,
    settings: () => PLACEMENT_DEFAULTS,
    evicted: new Set<string>(),
    signSinceMs: () => NOW_MS - 1000,
  });
  const misplaced = misplacedCount(pods, { ...moved, spec });
  const decisionInput: MoveDecisionInput = {
    ...{ workload: moved, spec, pods, nowMs: NOW_MS, evictionFromMs: NOW_MS + evictionInMs },
    ...defined({
      shortage: mapDefined(shortageEndsInS, (until) => ({ untilMs: timeOf(until), rounds: 1 })),
      lastMoveAtMs: mapDefined(lastMoveSecondsAgo, (ago) => timeOf(-ago)),
      ineffectiveMoves: mapDefined(vainMoves, (count) => ({ count, misplaced, spec })),
    }),
  };
  const decision = decideMove(decisionInput, PLACEMENT_DEFAULTS);
  const leave = pods.filter(leavesAtOnce).map(({ name }) => name);
  const base = leave.length === 0 ? {} : { leave };
  if ("move" in decision) {
    return { reason: null, move: `${decision.move.pod.name} to ${decision.move.to}`, ...base };
  }
  const { wait: reason, untilMs } = decision;
  return { reason, ...base, ...defined({ againInS: mapDefined(untilMs, secondsTo) }) };
}

/** The split of an input. */
export interface SplitResult {
  /** Counts of all replicas. */
  readonly split: { readonly spot: number; readonly onDemand: number };
  /** The class of each pod that is made next, one after the other, and its deletion cost. */
  readonly next: readonly string[];
}

/** One input of the table of splits. Absent members are as usual. */
export interface SplitInput {
  readonly kind: "Deployment" | "StatefulSet";
  readonly annotations: PlacementAnnotations;
  readonly replicas: number;
  /** `spec.ordinals.start` of a StatefulSet. */
  readonly firstOrdinal?: number;
  /** Pods that there are of each class. */
  readonly spot: number;
  readonly onDemand: number;
  /** Spot nodes are short, or were a moment ago. */
  readonly shortage?: "fallback" | "returning";
}

/** Splits the replicas of an input, and admits its next pods. */
export function splitResult(input: SplitInput): SplitResult {
  const { kind, annotations, replicas, firstOrdinal, spot, onDemand } = input;
  const answer = checkEligibility({
    labels: {},
    annotations: placementAnnotations(annotations),
    namespace: { name: "shop" },
  }, placementScope(PLACEMENT_DEFAULTS));
  if (answer.spec === undefined) {
    throw new RangeError(`Cannot decide a row: ${answer.message}`);
  }
  const { spec } = answer;
  const pods = podsOf(input);
  const next: string[] = [];
  let reservations = noReservations(pods);
  for (let made = spot + onDemand; made < replicas; made++) {
    // A ReplicaSet's pods have no name yet.
    const named = kind === "StatefulSet"
      ? { name: `web-${(firstOrdinal ?? 0) + made}` }
      : { generateName: "web-" };
    const admission = admitPod(reservations, {
      workload: { kind, replicas, ...defined({ firstOrdinal }) },
      ...{ spec, pods, shortage: input.shortage ?? "none", dryRun: false, nowMs: NOW_MS },
      pod: { revision: "new", ...named },
    });
    const { deletionCost } = admission;
    reservations = admission.reservations;
    next.push(deletionCost === undefined ? admission.class : `${admission.class} ${deletionCost}`);
  }
  const { "on-demand": rest, ...split } = splitReplicas(replicas, spec);
  return { split: { ...split, onDemand: rest }, next };
}

function podsOf({ kind, spot, onDemand }: SplitInput): readonly CountedPod[] {
  const pods = [
    ...Array<string>(spot).fill("spot"),
    ...Array<string>(onDemand).fill("on-demand"),
  ];
  const nodes = nodesOf({ pods });
  return placementPods({ kind, pods }).map((pod, index) =>
    classifyPod(pod, { node: nodes[index], ...PLACEMENT_DEFAULTS, evicted: false })
  );
}

/** Times in seconds from now: negative ones are past. */
export interface ShortageInput {
  readonly asWished: boolean;
  readonly shortage?: {
    readonly until: number;
    readonly since?: number;
    readonly rounds: number;
    readonly remade?: { readonly at: number; readonly count: number };
  };
  readonly pods: readonly {
    readonly class: NodeClass;
    readonly created: number;
    readonly waitsSince?: number;
    readonly scheduled?: true;
    readonly gone?: true;
    readonly bound?: true;
  }[];
}

/** The state afterwards, times in seconds from now. */
export interface ShortageResult {
  readonly phase: string;
  readonly remake: number | null;
  readonly fallback: number | null;
  readonly unplaced: number;
  readonly next: ShortageInput["shortage"] | null;
}

/** The next state of a shortage of spot nodes. */
export function shortageResult({ asWished, ...input }: ShortageInput): ShortageResult {
  const shortage = mapDefined(input.shortage, shortageOf);
  const present = { pods: input.pods.map(podOf), shortage, nowMs: NOW_MS };
  const next = nextShortage({ ...present, asSpecified: asWished }, PLACEMENT_DEFAULTS);
  const within = (ms: number): number | null => Number.isFinite(ms) ? secondsTo(ms) : null;
  return {
    phase: shortagePhase(shortage, NOW_MS),
    remake: within(recreationDueMs(present, PLACEMENT_DEFAULTS)),
    fallback: within(fallbackDueMs(present, PLACEMENT_DEFAULTS)),
    unplaced: unplacedInFallback(present).length,
    next: mapDefined(next, secondsOf) ?? null,
  };
}

function shortageOf(
  { until, since, rounds, remade }: NonNullable<ShortageInput["shortage"]>,
): Shortage {
  return {
    untilMs: timeOf(until),
    ...defined({ sinceMs: mapDefined(since, timeOf) }),
    rounds,
    ...(remade && { remade: { atMs: timeOf(remade.at), count: remade.count } }),
  };
}

function secondsOf({ untilMs, sinceMs, rounds, remade }: Shortage): ShortageInput["shortage"] {
  return {
    until: secondsTo(untilMs),
    ...defined({ since: mapDefined(sinceMs, secondsTo) }),
    rounds,
    ...(remade && { remade: { at: secondsTo(remade.atMs), count: remade.count } }),
  };
}

function podOf(
  { class: one, created, waitsSince, bound, ...pod }: ShortageInput["pods"][number],
  index: number,
): PlacedPod {
  const scheduled = pod.scheduled ?? false;
  return placedPod(`web-${index}`, {
    ...{ revision: "new", class: one, gone: pod.gone ?? false, scheduled, ready: scheduled },
    ...{ node: scheduled ? "node-1" : "", createdAtMs: timeOf(created) },
    ...defined({ unschedulableSinceMs: mapDefined(waitsSince, timeOf) }),
    ...(bound && { pinned: "its volume" }),
  });
}

function timeOf(seconds: number): number {
  return NOW_MS + 1000 * seconds;
}

function secondsTo(ms: number): number {
  return (ms - NOW_MS) / 1000;
}
