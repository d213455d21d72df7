/**
 * Does a PodDisruptionBudget let a pod go?
 *
 * @module
 */
import { type LabelSelector, labelsMatch } from "../api/label_selector.ts";

/** A PodDisruptionBudget of the pods' namespace. */
export interface PodBudget {
  readonly name: string;
  /** Absent: of no pods. One without terms: of all. */
  readonly selector?: LabelSelector;
  /** `status.disruptionsAllowed`. */
  readonly disruptionsAllowed: number;
  /** False while `status.observedGeneration` is behind: the server refuses evictions until then. */
  readonly current: boolean;
  /** True where pods that are not Ready may go: by `unhealthyPodEvictionPolicy`, or as enough are healthy. */
  readonly freesUnready: boolean;
}

/** Whom a budget is asked about. */
export interface BudgetedPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
}

/**
 * Why the server would refuse to evict the pod, in a sentence; undefined where it would not. It refuses
 * pods that several budgets are for, whatever these allow.
 */
export function budgetRefusal(
  { labels, ready }: BudgetedPod,
  budgets: readonly PodBudget[],
): string | undefined {
  const own = budgets.filter(({ selector }) =>
    selector !== undefined && labelsMatch(labels, selector)
  );
  const [budget, second] = own;
  if (budget === undefined) return undefined;
  if (second !== undefined) {
    return `budgets ${
      own.map(({ name }) => name).join(", ")
    } are for the same pod, which nobody may evict`;
  }
  if (!budget.current) return `budget ${budget.name} has changed and is not counted yet`;
  if (budget.disruptionsAllowed > 0 || (!ready && budget.freesUnready)) return undefined;
  return `budget ${budget.name} allows no disruption`;
}
