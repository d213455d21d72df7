/**
 * Decides one input of the table of moves, from the API's objects to the pod that is evicted.
 *
 * @module
 */
import { parseNamespace } from "../../../../adapters/kube/kinds/namespaces.ts";
import { parsePodDisruptionBudget } from "../../../../adapters/kube/kinds/pod_disruption_budgets.ts";
import type { Workload } from "../../../../shared/api/workload.ts";
import {
  decideMove,
  leavesAtOnce,
  type MoveDecisionInput,
} from "../../../../shared/placement/decide_move.ts";
import type { ReadPlacementCaches } from "../../../../controller/placement/caches.ts";
import {
  eligibilityInput,
  placedPodsWithBudgets,
  replicaStatus,
} from "../../../../controller/placement/workload_snapshot.ts";
import { listedObjects } from "../../../fixtures/placement/placement_reader.ts";
import { placementScope } from "../../../../shared/placement/settings.ts";
import { PLACEMENT_DEFAULTS } from "../../../fixtures/placement/placement_defaults.ts";
import { misplacedCount } from "../../../../shared/placement/split.ts";
import { checkEligibility, type PlacementSpec } from "../../../../shared/placement/eligibility.ts";
import { given, rawMetadata } from "../raw_pod.ts";
import {
  type MoveInput,
  nodesOf,
  NOW_MS,
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
    ...(input.selectsTeam === undefined
      ? {}
      : { namespaceSelector: { matchLabels: { team: "shop" }, matchExpressions: [] } }),
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
  const decisionInput: Omit<MoveDecisionInput, "pods"> = {
    workload: moved,
    spec,
    nowMs: NOW_MS,
    evictionFromMs: NOW_MS + evictionInMs,
    ...(shortageEndsInS === undefined
      ? {}
      : { shortage: { untilMs: NOW_MS + 1000 * shortageEndsInS, rounds: 1 } }),
    ...(lastMoveSecondsAgo === undefined
      ? {}
      : { lastMoveAtMs: NOW_MS - 1000 * lastMoveSecondsAgo }),
    ...(vainMoves === undefined ? {} : { ineffectiveMoves: { count: vainMoves, misplaced, spec } }),
  };
  const decision = decideMove({ ...decisionInput, pods }, PLACEMENT_DEFAULTS);
  const leave = pods.filter(leavesAtOnce).map(({ name }) => name);
  const base = leave.length === 0 ? {} : { leave };
  if ("move" in decision) {
    return { reason: null, move: `${decision.move.pod.name} to ${decision.move.to}`, ...base };
  }
  const { wait: reason, untilMs } = decision;
  return {
    reason,
    ...base,
    ...(untilMs === undefined ? {} : { againInS: (untilMs - NOW_MS) / 1000 }),
  };
}
