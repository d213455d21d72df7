/**
 * Warnings about labels and annotations with a value other than "true" or "false", and about those
 * without effect.
 *
 * @module
 */
import {
  type KeyHolder,
  type KeyPlace,
  MANAGED,
  MARKET_KEYS,
  MARKET_PREFIX,
  SKIP_GUARANTEED,
} from "../../../shared/api/market_keys.ts";
import { managedValue, type OutOfScope } from "../../../shared/resize/scope.ts";
import { switchValue, type Texts } from "../../../shared/api/object.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import {
  type AnnotationWarning,
  autoscalerSubject,
  namespaceSubject,
  warningOf,
  workloadSubject,
} from "../bounds/annotation_warning.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import type { SharedSubject } from "../ports.ts";

/**
 * Warnings about keys that may have been meant to manage a pod that is out of scope for this reason.
 */
export function outsideWarnings(
  facts: AnnotatedObjects,
  scope: OutOfScope | undefined,
): readonly AnnotationWarning[] {
  switch (scope?.reason) {
    case "NotOptedIn":
      return [
        ...wantsIn(facts).map((say) => say(scope.message)),
        ...valueWarnings(facts, [MANAGED]),
        ...annotationPlaceWarnings(facts),
      ];
    case "OptedOut":
      return [...valueWarnings(facts, [MANAGED]), ...annotationPlaceWarnings(facts)];
    case "NotBurstable":
      return [...valueWarnings(facts, [SKIP_GUARANTEED]), ...annotationPlaceWarnings(facts)];
    default:
      return [];
  }
}

/** The objects that ask for management without effect; the scope's message names what is missing. */
function wantsIn(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly ((message: string) => AnnotationWarning)[] {
  if (managedValue(pod) === "true") return [warningOf(undefined)];
  if (namespace === undefined || managedValue(namespace) !== "true") return [];
  return [warningOf(namespaceSubject(namespace))];
}

/** Warnings about all switches that concern a pod in the market, and about keys without effect. */
export function switchWarnings(facts: AnnotatedObjects): readonly AnnotationWarning[] {
  return [...valueWarnings(facts, MARKET_KEYS.keys()), ...annotationPlaceWarnings(facts)];
}

/** A warning for each of these switches, wherever it is read, with another value. */
function valueWarnings(
  facts: AnnotatedObjects,
  keys: Iterable<string>,
): readonly AnnotationWarning[] {
  const written = writtenIn(facts);
  return [...keys].flatMap((key) => {
    const { kind, places } = MARKET_KEYS.get(key) ?? { kind: undefined, places: [] };
    if (kind !== "switch") return [];
    return written.flatMap(({ place, texts, about }) => {
      const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
      if (text === undefined || !places.includes(place) || switchValue(texts, key)) return [];
      return [warningOf(about)(`${key}: ${quotedText(text)} is not "true" or "false"`)];
    });
  });
}

/** Without the prefix, which would make any two keys similar. */
const KNOWN = [...MARKET_KEYS.keys()].map((key) => key.slice(MARKET_PREFIX.length));

/** Texts in a place, and the pod, namespace, workload or HPA that they are of. */
interface Written {
  readonly place: KeyPlace;
  readonly texts: Texts;
  readonly of: object;
  /** Absent for the pod. */
  readonly about: SharedSubject | undefined;
}

/** The objects that carry such keys. */
export type AnnotatedObjects = Pick<BidFacts, "pod" | "namespace" | "workload" | "autoscalers">;

function writtenIn(
  { pod, namespace, workload, autoscalers }: AnnotatedObjects,
): readonly Written[] {
  const holders: readonly (readonly [
    KeyHolder,
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

/** A warning for each key that is unknown, or has no effect in its place. O(labels and annotations). */
export function annotationPlaceWarnings(facts: AnnotatedObjects): readonly AnnotationWarning[] {
  const written = writtenIn(facts);
  return written.flatMap(({ place, texts, of, about }) =>
    Object.keys(texts).flatMap((key) => {
      if (!key.startsWith(MARKET_PREFIX)) return [];
      const places = MARKET_KEYS.get(key)?.places;
      if (places === undefined) return [warningOf(about)(unknownKey(key, place))];
      if (places.includes(place)) return [];
      // A key that is also in the right place is a harmless repetition.
      const isSaid = written.some((other) =>
        places.includes(other.place) && Object.hasOwn(other.texts, key) &&
        (other.of === of || other.of === facts.pod || other.texts[key] === texts[key])
      );
      return isSaid ? [] : [warningOf(about)(misplacedKey(key, { place, places }))];
    })
  );
}

function unknownKey(key: string, place: KeyPlace): string {
  const nearest = nearestName(key.slice(MARKET_PREFIX.length), KNOWN);
  const hint = nearest === undefined ? "" : `: did you mean ${MARKET_PREFIX}${nearest}?`;
  return `${key}, ${place}, is not known${hint}`;
}

function misplacedKey(
  key: string,
  { place, places }: { readonly place: KeyPlace; readonly places: readonly KeyPlace[] },
): string {
  const hint = place.endsWith("workload") ? "; of pods it stands in spec.template.metadata" : "";
  return `${key} does not count as ${place}, but as ${places.join(" or ")}${hint}`;
}
