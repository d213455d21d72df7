/**
 * PodDisruptionBudgets on a real API server.
 *
 * @module
 */
import { labelSelectorSchema } from "../../shared/api/label_selector_field.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import { jsonText, memberOf, objectOf, wholeMemberOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";

/** List-watch of the budgets of all namespaces. */
export function podDisruptionBudgetListWatch(
  connection: KubeConnection,
  options: ListWatchSurroundings = {},
): ListWatch<PodDisruptionBudget> {
  return kubeListWatch(connection, {
    ...options,
    path: "/apis/policy/v1/poddisruptionbudgets",
    parse: parsePodDisruptionBudget,
  });
}

/** The trimmed budget, or why it can't be read. Throws a `TypeError` without identity. */
export function parsePodDisruptionBudget(raw: unknown): PodDisruptionBudget {
  const blank: PodDisruptionBudget = {
    metadata: parseNamespacedIdentity(raw),
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed: 0,
    current: false,
    freesUnready: false,
  };
  return readOrTell(() => ({ metadata: blank.metadata, ...boundsOf(raw) }), blank);
}

function boundsOf(raw: unknown): Omit<PodDisruptionBudget, "metadata"> {
  const spec = memberOf(objectOf(raw), "spec");
  const status = memberOf(objectOf(raw), "status");
  const generation = wholeMemberOf(memberOf(objectOf(raw), "metadata"), "generation") ?? 0;
  const healthy = wholeMemberOf(status, "currentHealthy") ?? 0;
  const desired = wholeMemberOf(status, "desiredHealthy") ?? 0;
  return {
    ...selectorOf(spec["selector"]),
    disruptionsAllowed: wholeMemberOf(status, "disruptionsAllowed") ?? 0,
    current: (wholeMemberOf(status, "observedGeneration") ?? 0) >= generation,
    // As the server decides it (pkg/registry/core/pod/storage, EvictionREST.Create).
    freesUnready: spec["unhealthyPodEvictionPolicy"] === "AlwaysAllow" ||
      (desired > 0 && healthy >= desired),
  };
}

function selectorOf(raw: unknown): Pick<PodDisruptionBudget, "selector"> {
  if (raw === undefined || raw === null) return {};
  const { data } = labelSelectorSchema.safeParse(raw);
  if (data !== undefined) return { selector: data };
  throw new TypeError(`Cannot read a budget: its selector is ${jsonText(raw)}`);
}
