/**
 * Decides one input of placement's formula: how replicas are split, which class each next pod gets, and
 * what becomes of a shortage.
 *
 * @module
 */
import {
  type AdmissionInput,
  admitPod,
  type CountedPod,
  noReservations,
} from "../../../../shared/placement/admit_pod.ts";
import type { NodeClass } from "../../../../shared/placement/node_classes.ts";
import { placementScope } from "../../../../shared/placement/settings.ts";
import { PLACEMENT_DEFAULTS } from "../../../fixtures/placement/placement_defaults.ts";
import { classifyPod, type PlacedPod } from "../../../../shared/placement/placed_pod.ts";
import { checkEligibility } from "../../../../shared/placement/eligibility.ts";
import { splitReplicas } from "../../../../shared/placement/split.ts";
import {
  nodesOf,
  NOW_MS,
  type PlacementAnnotations,
  placementAnnotations,
  placementPods,
} from "./raw_placement.ts";
import {
  fallbackDueMs,
  nextShortage,
  recreationDueMs,
  type Shortage,
  shortagePhase,
  unplacedInFallback,
} from "../../../../shared/placement/shortage.ts";

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
    const decisionInput: AdmissionInput = {
      workload: { kind, replicas, ...(firstOrdinal === undefined ? {} : { firstOrdinal }) },
      spec,
      pods,
      shortage: input.shortage ?? "none",
      pod: {
        revision: "new",
        // A ReplicaSet's pods have no name yet.
        ...(kind === "StatefulSet"
          ? { name: `web-${(firstOrdinal ?? 0) + made}` }
          : { generateName: "web-" }),
      },
      dryRun: false,
      nowMs: NOW_MS,
    };
    const admission = admitPod(reservations, decisionInput);
    const { deletionCost } = admission;
    reservations = admission.reservations;
    next.push(deletionCost === undefined ? admission.class : `${admission.class} ${deletionCost}`);
  }
  const { "on-demand": rest, ...split } = splitReplicas(replicas, spec);
  return { split: { ...split, onDemand: rest }, next };
}

function podsOf({ kind, spot, onDemand }: SplitInput): readonly CountedPod[] {
  const pods = [
    ...Array.from({ length: spot }, () => "spot"),
    ...Array.from({ length: onDemand }, () => "on-demand"),
  ];
  const nodes = nodesOf({ pods });
  return placementPods({ kind, pods }).map((pod, index) =>
    classifyPod(pod, {
      node: nodes[index],
      ...PLACEMENT_DEFAULTS,
      evicted: false,
    })
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
  const shortage = input.shortage === undefined ? undefined : shortageOf(input.shortage);
  const present = { pods: input.pods.map(podOf), shortage, nowMs: NOW_MS };
  const next = nextShortage({ ...present, asSpecified: asWished }, PLACEMENT_DEFAULTS);
  return {
    phase: shortagePhase(shortage, NOW_MS),
    remake: secondsTo(recreationDueMs(present, PLACEMENT_DEFAULTS)),
    fallback: secondsTo(fallbackDueMs(present, PLACEMENT_DEFAULTS)),
    unplaced: unplacedInFallback(present).length,
    next: next === undefined ? null : secondsOf(next),
  };
}

function shortageOf(
  { until, since, rounds, remade }: NonNullable<ShortageInput["shortage"]>,
): Shortage {
  return {
    untilMs: timeOf(until),
    ...(since === undefined ? {} : { sinceMs: timeOf(since) }),
    rounds,
    ...(remade === undefined ? {} : { remade: { atMs: timeOf(remade.at), count: remade.count } }),
  };
}

function secondsOf({ untilMs, sinceMs, rounds, remade }: Shortage): ShortageInput["shortage"] {
  return {
    until: (untilMs - NOW_MS) / 1000,
    ...(sinceMs === undefined ? {} : { since: (sinceMs - NOW_MS) / 1000 }),
    rounds,
    ...(remade === undefined
      ? {}
      : { remade: { at: (remade.atMs - NOW_MS) / 1000, count: remade.count } }),
  };
}

function podOf(
  { class: one, created, waitsSince, scheduled, gone, bound }: ShortageInput["pods"][number],
  index: number,
): PlacedPod {
  return {
    uid: `uid-${index}`,
    name: `web-${index}`,
    revision: "new",
    class: one,
    gone: gone ?? false,
    ...(waitsSince === undefined ? {} : { unschedulableSinceMs: timeOf(waitsSince) }),
    node: scheduled ? "node-1" : "",
    scheduled: scheduled ?? false,
    ready: scheduled ?? false,
    cordoned: false,
    createdAtMs: timeOf(created),
    ...(bound === undefined ? {} : { pinned: "its volume" }),
  };
}

function timeOf(seconds: number): number {
  return NOW_MS + 1000 * seconds;
}

function secondsTo(ms: number): number | null {
  return Number.isFinite(ms) ? (ms - NOW_MS) / 1000 : null;
}
