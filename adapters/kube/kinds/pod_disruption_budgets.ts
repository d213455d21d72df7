/**
 * PodDisruptionBudgets on a real API server.
 *
 * @module
 */
import type { PodDisruptionBudget } from "../../../shared/api/pod_disruption_budget.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import { parseLabelSelector, parseNamespacedIdentity } from "./object_fields.ts";
import type { RawObject, RawSelector } from "./raw_objects.ts";

/** List-watch of budgets. */
export const podDisruptionBudgetListWatch: OpenListWatch<PodDisruptionBudget> = listWatchOf({
  groupVersion: "policy/v1",
  resource: "poddisruptionbudgets",
  parse: parsePodDisruptionBudget,
});

type RawBudget = RawObject<{ selector?: RawSelector; unhealthyPodEvictionPolicy?: string }, {
  currentHealthy?: number;
  desiredHealthy?: number;
  disruptionsAllowed?: number;
  observedGeneration?: number;
}>;

/** Projects a budget. */
export function parsePodDisruptionBudget(raw: unknown): PodDisruptionBudget {
  const { metadata: { generation = 0 }, spec, status } = raw as RawBudget;
  const { currentHealthy = 0, desiredHealthy = 0, disruptionsAllowed = 0, observedGeneration = 0 } =
    status ?? {};
  return {
    metadata: parseNamespacedIdentity(raw),
    ...(spec.selector === undefined ? {} : { selector: parseLabelSelector(spec.selector) }),
    disruptionsAllowed,
    current: observedGeneration >= generation,
    // As the server decides it (pkg/registry/core/pod/storage, EvictionREST.Create).
    freesUnready: spec.unhealthyPodEvictionPolicy === "AlwaysAllow" ||
      (desiredHealthy > 0 && currentHealthy >= desiredHealthy),
  };
}
