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
import { NODE_CLASS_PRESETS } from "../../../../shared/placement/node_classes.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../../../shared/placement/node_departure.ts";
import { classifyPod } from "../../../../shared/placement/placed_pod.ts";
import { readPlacementSpec } from "../../../../shared/placement/eligibility.ts";
import { splitReplicas } from "../../../../shared/placement/split.ts";
import { type DecisionTable, tableOf } from "../decision_table.ts";
import { type Draw, drawWith } from "../draw.ts";
import type { SplitInput } from "./placement_input.ts";
import { nodesOf, NOW_MS, placementAnnotations, placementPods } from "./raw_placement.ts";

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
