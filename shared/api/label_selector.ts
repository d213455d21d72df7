/**
 * Label selectors, as Kubernetes has them.
 *
 * @module
 */

/** One term of a label selector, as `metav1.LabelSelectorRequirement`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** All terms are ANDed; none at all selects everything. */
export interface LabelSelector {
  readonly matchLabels: Readonly<Record<string, string>>;
  readonly matchExpressions: readonly LabelRequirement[];
}

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/**
 * True when all terms hold. As in Kubernetes, `NotIn` holds for an object without the label
 * (k8s.io/apimachinery/pkg/labels, Requirement.Matches).
 */
export function labelsMatch(labels: Labels, selector: LabelSelector): boolean {
  return Object.entries(selector.matchLabels).every(([key, value]) =>
    valueOf(labels, key) === value
  ) && selector.matchExpressions.every((term) => isMet(term, valueOf(labels, term.key)));
}

function isMet({ operator, values }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
  }
}

/** `constructor` and the like are labels only as properties of the object itself. */
function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
