/**
 * Which workloads the user asks for. Pure.
 *
 * @module
 */
import type { Workload } from "../../../shared/api/workload.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import { isPlacedKind } from "../../../shared/placement/eligibility.ts";
import { CommandProblem, type NamespaceChoice } from "../command_context.ts";
import { workloadTitle } from "../formats.ts";
import type { PlacedArgument } from "./placed_argument.ts";
import type { PlaceableWorkload } from "./shown_workload.ts";

/** What the user asks for. */
export interface PlacedChoice {
  /** All of them when absent. */
  readonly workload?: PlacedArgument;
  readonly namespace: NamespaceChoice;
}

/** By namespace, kind and name. Throws a {@linkcode CommandProblem} where an argument names none. */
export function choosePlaced(
  all: readonly Workload[],
  { workload, namespace }: PlacedChoice,
): readonly PlaceableWorkload[] {
  const placeable = all.flatMap((one) => isPlaceable(one) ? [one] : []);
  const chosen = placeable.filter(({ kind, metadata: { name } }) =>
    workload === undefined || (name === workload.name && (workload.kind ?? kind) === kind)
  );
  if (workload !== undefined && chosen.length === 0) {
    throw new CommandProblem(missing(workload, { placeable, namespace }));
  }
  return chosen.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function keyOf({ kind, metadata: { namespace, name } }: PlaceableWorkload): string {
  return `${namespace}/${kind}/${name}`;
}

function isPlaceable(workload: Workload): workload is PlaceableWorkload {
  return isPlacedKind(workload.kind);
}

function missing(
  { kind, name }: PlacedArgument,
  { placeable, namespace }: {
    readonly placeable: readonly PlaceableWorkload[];
    readonly namespace: NamespaceChoice;
  },
): string {
  const known = placeable.map((one) => ({ kind: one.kind, name: one.metadata.name }));
  const nearest = nearestName(name, known.map((one) => one.name));
  const meant = known.find((one) => one.name === nearest);
  const where = namespace.all ? "the cluster" : `namespace ${namespace.name}`;
  const hint = meant === undefined ? "is -n right?" : `is it ${workloadTitle(meant)}?`;
  return `Cannot show placement of ${name}: ${where} has no such ${
    kind ?? "Deployment or StatefulSet"
  }; ${hint}`;
}
