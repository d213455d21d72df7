/**
 * The decision table of placement's formula: how replicas are split, and which class each next pod gets.
 *
 * @module
 */
import {
  type AdmissionInput,
  admitPod,
  type CountedPod,
  noReservations,
} from "../../../../shared/placement/admit_pod.ts";
import { NODE_CLASS_PRESETS, type NodeClass } from "../../../../shared/placement/node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../../../shared/placement/node_departure.ts";
import { classifyPod, type PlacedPod } from "../../../../shared/placement/placed_pod.ts";
import { readPlacementSpec } from "../../../../shared/placement/eligibility.ts";
import { splitReplicas } from "../../../../shared/placement/split.ts";
import {
  type DecisionRow,
  type DecisionTable,
  type Draw,
  drawWith,
  tableOf,
} from "../decision_table.ts";
import type { SplitInput } from "./move_table.ts";
import { nodesOf, NOW_MS, placementAnnotations, placementPods } from "./raw_placement.ts";
import {
  fallbackDueMs,
  nextShortage,
  remakeDueMs,
  type Shortage,
  shortagePhase,
  unplacedInFallback,
} from "../../../../shared/placement/shortage.ts";

const SEED = 5;
const ROWS = 50;
/** Pods that are made in a row at most. */
const MOST_NEXT = 6;

/** What becomes of an input. */
interface SplitResult {
  /** Of all replicas. */
  readonly split: { readonly spot: number; readonly onDemand: number };
  /** The class of each pod that is made next, one after the other, and its deletion cost. */
  readonly next: readonly string[];
  /** Present where a second request for the same pod has another answer. */
  readonly differs?: boolean;
}

/** Draws the inputs and splits each. */
export function splitTable(): DecisionTable {
  const draw = drawWith(SEED);
  const rows = Array.from({ length: ROWS }, () => {
    const input = drawn(draw);
    return { input, result: splitResult(input) };
  });
  return tableOf(rows, {
    reasonsOf: ({ next }) => next.map((one) => one.replace(/ .*/, "")),
    expected: ["spot", "on-demand"],
    impossible: {},
  });
}

function drawn(draw: Draw): SplitInput {
  const kind = draw.oneOf(["Deployment", "Deployment", "StatefulSet"]);
  const spot = draw.oneOf([0, 0, 1, 2, 4]);
  const onDemand = draw.oneOf([0, 0, 1, 2, 4]);
  const shortage = draw.oneOf([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    "fallback",
    "returning",
  ]);
  return {
    kind,
    annotations: {
      "spot-percentage": `${draw.oneOf([0, 33, 50, 60, 70, 75, 100, draw.whole(1, 99)])}`,
      ...(draw.chance(3 / 4) ? { "min-on-demand": `${draw.oneOf([0, 1, 1, 2, 3, 20])}` } : {}),
    },
    replicas: spot + onDemand + draw.whole(1, MOST_NEXT),
    ...(kind === "StatefulSet" && draw.chance(1 / 4) ? { firstOrdinal: draw.whole(1, 3) } : {}),
    spot,
    onDemand,
    ...(shortage === undefined ? {} : { shortage }),
  };
}

function splitResult(input: SplitInput): SplitResult {
  const { kind, annotations, replicas, firstOrdinal, spot, onDemand } = input;
  const reading = readPlacementSpec({
    workload: { labels: {}, annotations: placementAnnotations(annotations) },
  });
  if (reading.is !== "valid") {
    throw new RangeError(`Cannot decide a row: its annotations are ${JSON.stringify(reading)}`);
  }
  const { spec } = reading;
  const pods = podsOf(input);
  const next: string[] = [];
  let differs = false;
  let reservations = noReservations(pods);
  for (let made = spot + onDemand; made < replicas; made++) {
    const facts: AdmissionInput = {
      workload: { kind, replicas, ...(firstOrdinal === undefined ? {} : { firstOrdinal }) },
      spec,
      pods,
      shortage: input.shortage ?? "none",
      pod: {
        uid: `uid-next-${made}`,
        revision: "new",
        // A ReplicaSet's pods have no name yet.
        ...(kind === "StatefulSet" ? { name: `web-${(firstOrdinal ?? 0) + made}` } : {}),
      },
      dryRun: false,
      nowMs: NOW_MS,
    };
    const admission = admitPod(reservations, facts);
    const again = admitPod(admission.reservations, facts);
    if (admission.class !== again.class || admission.deletionCost !== again.deletionCost) {
      differs = true;
    }
    reservations = again.reservations;
    const { deletionCost } = admission;
    next.push(deletionCost === undefined ? admission.class : `${admission.class} ${deletionCost}`);
  }
  const { "on-demand": rest, ...split } = splitReplicas(replicas, spec);
  return { split: { ...split, onDemand: rest }, next, ...(differs ? { differs } : {}) };
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
      classes: NODE_CLASS_PRESETS.karpenter,
      departures: DEFAULT_DEPARTURE_SIGNS,
      evicted: false,
    })
  );
}

const SHORTAGE_SEED = 9;
const SHORTAGE_ROWS = 240;

/** Times in seconds from now: negative ones are past. */
interface ShortageInput {
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

/** Pods are made again at once, or a second later. */
const AT_BOUNDS: readonly ShortageInput[] = [-60, -59].map((waitsSince) => ({
  asWished: false,
  shortage: { until: 60, since: -60, rounds: 1 },
  pods: [{ class: "spot", created: -60, waitsSince }],
}));

/** What is known afterwards, times in seconds from now. */
export interface ShortageResult {
  readonly phase: string;
  readonly remake: number | null;
  readonly fallback: number | null;
  readonly unplaced: number;
  readonly next: ShortageInput["shortage"] | null;
}

/** Draws the inputs and decides each. */
export function shortageRows(): readonly DecisionRow<ShortageResult>[] {
  const draw = drawWith(SHORTAGE_SEED);
  const inputs = [
    ...AT_BOUNDS,
    ...Array.from({ length: SHORTAGE_ROWS }, () => drawnShortage(draw)),
  ];
  return inputs.map((input) => ({ input, result: shortageResult(input) }));
}

function drawnShortage(draw: Draw): ShortageInput {
  const since = draw.oneOf([-240, -120, -61, -60, -59]);
  const pods = Array.from({ length: draw.oneOf([0, 1, 1, 1, 2]) }, () => ({
    class: draw.oneOf(["spot", "spot", "spot", "on-demand"]),
    created: draw.oneOf([-241, -240, -121, -120, -119, -60, -59, -1, 0]),
    ...draw.oneOf([
      { waitsSince: -61 },
      { waitsSince: -60 },
      { waitsSince: -60 },
      { waitsSince: -59 },
      { waitsSince: 0 },
      { scheduled: true as const },
      {},
    ]),
    ...draw.oneOf([{}, {}, {}, {}, { gone: true as const }, { bound: true as const }]),
  }));
  const shortage = {
    until: draw.oneOf([-241, -240, -239, -121, -120, -119, -60, -1, 0, 0, 1, 60, 60, 60]),
    ...(draw.chance(4 / 5) ? { since } : {}),
    rounds: draw.oneOf([1, 1, 2]),
    ...(draw.chance(1 / 3)
      ? { remade: { at: draw.oneOf([-121, -120, -119, -60, 0]), count: draw.oneOf([1, 2]) } }
      : {}),
  };
  return {
    asWished: draw.chance(1 / 6),
    ...(draw.chance(1 / 6) ? {} : { shortage }),
    pods,
  };
}

function shortageResult({ asWished, ...input }: ShortageInput): ShortageResult {
  const shortage = input.shortage === undefined ? undefined : shortageOf(input.shortage);
  const pods = input.pods.map(podOf);
  const next = nextShortage(shortage, { pods, asSpecified: asWished, nowMs: NOW_MS });
  return {
    phase: shortagePhase(shortage, NOW_MS),
    remake: secondsTo(remakeDueMs(pods, { shortage, nowMs: NOW_MS })),
    fallback: secondsTo(fallbackDueMs(shortage, pods)),
    unplaced: unplacedInFallback(pods, { shortage, nowMs: NOW_MS }).length,
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
