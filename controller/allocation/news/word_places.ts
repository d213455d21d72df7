/**
 * Words of ours that nobody reads where they stand, or at all: someone has written them for a reason.
 *
 * @module
 */
import { nearestName } from "../../../shared/config/nearest_name.ts";
import { HPA_COORDINATION } from "../../../shared/resize/checks/horizontal_autoscaler.ts";
import type { Texts } from "../../../shared/resize/inputs/switches.ts";
import { ALLOW_OVERRIDES, MANAGED, SKIP_GUARANTEED } from "../../../shared/resize/scope.ts";
import { DEMAND_QUERY } from "../../metrics_demand/metric_question.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { STARTUP_BOOST } from "../bid_rules/startup_boost.ts";
import { BURST_FACTOR, MAX_CPU, PRIORITY_MULTIPLIER } from "../bounds/overrides.ts";
import type { SharedSubject } from "../ports.ts";
import {
  autoscalerSubject,
  namespaceSubject,
  warningOf,
  type WordWarning,
  workloadSubject,
} from "./word_warning.ts";

/** Whose words may concern a pod. */
type Holder = "pod" | "namespace" | "workload" | "HPA";

type Place = `${"label" | "annotation"} of the ${Holder}`;

const OF_POD: readonly Place[] = ["annotation of the pod"];

/** Where each word is read. */
const PLACES: ReadonlyMap<string, readonly Place[]> = new Map<string, readonly Place[]>([
  [MANAGED, [
    "label of the pod",
    "annotation of the pod",
    "label of the namespace",
    "annotation of the namespace",
  ]],
  [SKIP_GUARANTEED, OF_POD],
  [MAX_CPU, OF_POD],
  [PRIORITY_MULTIPLIER, OF_POD],
  [STARTUP_BOOST, OF_POD],
  [DEMAND_QUERY, OF_POD],
  [BURST_FACTOR, ["label of the namespace", "annotation of the namespace"]],
  [HPA_COORDINATION, [
    "annotation of the pod",
    "annotation of the workload",
    "annotation of the HPA",
  ]],
  [ALLOW_OVERRIDES, ["label of the namespace"]],
]);

const PREFIX = "mbcas.io/";
/** Without the prefix, which would make any two words alike. */
const KNOWN = [...PLACES.keys()].map((key) => key.slice(PREFIX.length));

/** Texts in a place, and the pod, namespace, workload or HPA that they are of. */
interface Written {
  readonly place: Place;
  readonly texts: Texts;
  readonly of: object;
  /** Absent for the pod. */
  readonly about: SharedSubject | undefined;
}

/** The facts that hold such words. */
export type WordHolders = Pick<BidFacts, "pod" | "namespace" | "workload" | "autoscalers">;

function writtenIn({ pod, namespace, workload, autoscalers }: WordHolders): readonly Written[] {
  const holders: readonly (readonly [
    Holder,
    {
      readonly metadata: { readonly labels?: Texts; readonly annotations: Texts };
    },
    SharedSubject | undefined,
  ])[] = [
    ["pod", pod, undefined],
    ...(namespace === undefined
      ? []
      : [["namespace", namespace, namespaceSubject(namespace)] as const]),
    ...(workload === undefined ? [] : [["workload", workload, workloadSubject(workload)] as const]),
    ...autoscalers.map((one) => ["HPA", one, autoscalerSubject(one)] as const),
  ];
  return holders.flatMap(([holder, of, about]): Written[] => {
    const { labels = {}, annotations } = of.metadata;
    return [
      { place: `label of the ${holder}`, texts: labels, of, about },
      { place: `annotation of the ${holder}`, texts: annotations, of, about },
    ];
  });
}

/** A sentence for each word that is not known, or not where it stands. O(labels and annotations). */
export function wordPlaceWarnings(facts: WordHolders): readonly WordWarning[] {
  const written = writtenIn(facts);
  return written.flatMap(({ place, texts, of, about }) =>
    Object.keys(texts).flatMap((key) => {
      if (!key.startsWith(PREFIX)) return [];
      const places = PLACES.get(key);
      if (places === undefined) return [warningOf(about)(unknownWord(key, place))];
      if (places.includes(place)) return [];
      // Who has said it in the right place as well has only said it twice.
      const isSaid = written.some((other) =>
        places.includes(other.place) && Object.hasOwn(other.texts, key) &&
        (other.of === of || other.of === facts.pod || other.texts[key] === texts[key])
      );
      return isSaid ? [] : [warningOf(about)(misplacedWord(key, { place, places }))];
    })
  );
}

function unknownWord(key: string, place: Place): string {
  const nearest = nearestName(key.slice(PREFIX.length), KNOWN);
  const hint = nearest === undefined ? "" : `: did you mean ${PREFIX}${nearest}?`;
  return `${key}, ${place}, is not known${hint}`;
}

function misplacedWord(
  key: string,
  { place, places }: { readonly place: Place; readonly places: readonly Place[] },
): string {
  const hint = place.endsWith("workload") ? "; of pods it stands in spec.template.metadata" : "";
  return `${key} does not count as ${place}, but as ${places.join(" or ")}${hint}`;
}
