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
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { OutOfScope } from "../../../shared/resize/inputs/resize_input.ts";
import { managedValue } from "../../../shared/resize/scope.ts";
import { type ApiObject, switchValue, type Texts } from "../../../shared/api/object.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { nearestName } from "../../../shared/nearest_name.ts";
import type { PodSnapshot } from "../pod_snapshot.ts";
import { type AnnotationWarning, eventSubject } from "../ports.ts";

/** The objects that carry labels and annotations of the market. */
export type AnnotatedObjects = Pick<PodSnapshot, "pod" | "namespace" | "workload" | "autoscalers">;

/** The key that takes a pod into the market which is out of scope for this reason. */
const OPT_IN_KEYS: Readonly<Partial<Record<EnforcementReason, string>>> = {
  NotOptedIn: MANAGED,
  OptedOut: MANAGED,
  NotBurstable: SKIP_GUARANTEED,
};

/** Warnings about keys that may have been meant to manage a pod that is out of scope. */
export function outsideWarnings(
  objects: AnnotatedObjects,
  scope: OutOfScope | undefined,
): readonly AnnotationWarning[] {
  const key = scope && OPT_IN_KEYS[scope.reason];
  if (key === undefined) return [];
  const optIns = scope?.reason === "NotOptedIn" ? ineffectiveOptIn(objects, scope.message) : [];
  return [...optIns, ...unreadableSwitches(objects, [key]), ...placeWarnings(objects)];
}

/** A warning about the opt-in that does not count; the scope's message names what is missing. */
function ineffectiveOptIn(
  { pod, namespace }: AnnotatedObjects,
  message: string,
): readonly AnnotationWarning[] {
  if (managedValue(pod) === "true") return [{ message }];
  if (namespace === undefined || managedValue(namespace) !== "true") return [];
  return [{ message, about: eventSubject("Namespace", namespace) }];
}

const SWITCHES = [...MARKET_KEYS].flatMap(([key, { kind }]) => kind === "switch" ? [key] : []);

/** Warnings about unreadable switches of a pod in the market, and about keys without effect. */
export function switchWarnings(objects: AnnotatedObjects): readonly AnnotationWarning[] {
  return [...unreadableSwitches(objects, SWITCHES), ...placeWarnings(objects)];
}

function unreadableSwitches(
  objects: AnnotatedObjects,
  keys: readonly string[],
): readonly AnnotationWarning[] {
  const placed = textsIn(objects);
  return keys.flatMap((key) =>
    placed.flatMap(({ place, texts, about }) => {
      const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
      const counts = MARKET_KEYS.get(key)?.places.includes(place);
      if (text === undefined || !counts || switchValue(texts, key) !== undefined) return [];
      return [{ message: `${key}: ${quotedText(text)} is not "true" or "false"`, ...about }];
    })
  );
}

/** The known keys without their prefix, which would make any two of them similar. */
const KNOWN = [...MARKET_KEYS.keys()].map((key) => key.slice(MARKET_PREFIX.length));

/** The labels or annotations of an object. */
interface PlacedTexts {
  readonly place: KeyPlace;
  readonly texts: Texts;
  readonly object: ApiObject;
  /** Empty for the pod. */
  readonly about: Pick<AnnotationWarning, "about">;
}

function textsIn(
  { pod, namespace, workload, autoscalers }: AnnotatedObjects,
): readonly PlacedTexts[] {
  type Kind = Parameters<typeof eventSubject>[0];
  const textsOf = (
    holder: KeyHolder,
    object: ApiObject & {
      readonly metadata: { readonly labels?: Texts; readonly annotations: Texts };
    },
    kind?: Kind,
  ): readonly PlacedTexts[] => {
    const about = kind === undefined ? {} : { about: eventSubject(kind, object) };
    const { labels = {}, annotations } = object.metadata;
    return [
      { place: `label of the ${holder}`, texts: labels, object, about },
      { place: `annotation of the ${holder}`, texts: annotations, object, about },
    ];
  };
  return [
    ...textsOf("pod", pod),
    ...(namespace === undefined ? [] : textsOf("namespace", namespace, "Namespace")),
    ...(workload === undefined ? [] : textsOf("workload", workload, workload.kind)),
    ...autoscalers.flatMap((hpa) => textsOf("HPA", hpa, "HorizontalPodAutoscaler")),
  ];
}

/** A warning for each key that is unknown, or has no effect in its place. O(labels and annotations). */
function placeWarnings(objects: AnnotatedObjects): readonly AnnotationWarning[] {
  const placed = textsIn(objects);
  return placed.flatMap(({ place, texts, object, about }) =>
    Object.keys(texts).flatMap((key) => {
      if (!key.startsWith(MARKET_PREFIX)) return [];
      const places = MARKET_KEYS.get(key)?.places;
      if (places === undefined) return [{ message: unknownKey(key, place), ...about }];
      // A repetition of a key that is in the right place does no harm.
      const isHarmless = places.includes(place) || placed.some((other) =>
        places.includes(other.place) && Object.hasOwn(other.texts, key) &&
        (other.object === object || other.object === objects.pod || other.texts[key] === texts[key])
      );
      return isHarmless ? [] : [{ message: misplacedKey(key, { place, places }), ...about }];
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
