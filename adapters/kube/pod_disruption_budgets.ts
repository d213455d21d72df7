/**
 * PodDisruptionBudgets on a real API server.
 *
 * @module
 */
import { labelSelectorSchema } from "../../shared/api/label_selector_field.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { jsonText, memberOf, objectOf, wholeMemberOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";

/** Which budgets. */
export interface BudgetSelection extends ListWatchSurroundings {
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of budgets, by default of all. */
export function podDisruptionBudgetListWatch(
  connection: KubeConnection,
  { namespace, ...surroundings }: BudgetSelection = {},
): ListWatch<PodDisruptionBudget> {
  const place = namespace === undefined ? "" : `/namespaces/${pathPart(namespace)}`;
  return kubeListWatch(connection, {
    ...surroundings,
    path: `/apis/policy/v1${place}/poddisruptionbudgets`,
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
