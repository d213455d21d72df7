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

/** The objects that carry such keys. */
export type AnnotatedObjects = Pick<PodSnapshot, "pod" | "namespace" | "workload" | "autoscalers">;

/** The keys that may have been meant to take in a pod that is out of scope for this reason. */
const MEANT: Readonly<Partial<Record<EnforcementReason, string>>> = {
  NotOptedIn: MANAGED,
  OptedOut: MANAGED,
  NotBurstable: SKIP_GUARANTEED,
};

/** Warnings about keys that may have been meant to manage a pod that is out of scope. */
export function outsideWarnings(
  objects: AnnotatedObjects,
  scope: OutOfScope | undefined,
): readonly AnnotationWarning[] {
  const key = scope && MEANT[scope.reason];
  if (key === undefined) return [];
  const asked = scope?.reason === "NotOptedIn" ? wantsIn(objects, scope.message) : [];
  return [...asked, ...unreadableSwitches(objects, [key]), ...placeWarnings(objects)];
}

/** The object that asks for management without effect; the scope's message names what is missing. */
function wantsIn(
  { pod, namespace }: AnnotatedObjects,
  message: string,
): readonly AnnotationWarning[] {
  if (managedValue(pod) === "true") return [{ message }];
  if (namespace === undefined || managedValue(namespace) !== "true") return [];
  return [{ message, about: eventSubject("Namespace", namespace) }];
}

const SWITCHES = [...MARKET_KEYS].flatMap(([key, { kind }]) => kind === "switch" ? [key] : []);

/** Warnings about all switches that concern a pod in the market, and about keys without effect. */
export function switchWarnings(objects: AnnotatedObjects): readonly AnnotationWarning[] {
  return [...unreadableSwitches(objects, SWITCHES), ...placeWarnings(objects)];
}

function unreadableSwitches(
  objects: AnnotatedObjects,
  keys: readonly string[],
): readonly AnnotationWarning[] {
  const written = writtenIn(objects);
  return keys.flatMap((key) =>
    written.flatMap(({ place, texts, about }) => {
      const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
      const counts = MARKET_KEYS.get(key)?.places.includes(place);
      if (text === undefined || !counts || switchValue(texts, key) !== undefined) return [];
      return [{ message: `${key}: ${quotedText(text)} is not "true" or "false"`, ...about }];
    })
  );
}

/** Without the prefix, which would make any two keys similar. */
const KNOWN = [...MARKET_KEYS.keys()].map((key) => key.slice(MARKET_PREFIX.length));

/** Texts in a place, and the pod, namespace, workload or HPA that they are of. */
interface Written {
  readonly place: KeyPlace;
  readonly texts: Texts;
  readonly of: object;
  /** Empty for the pod. */
  readonly about: Pick<AnnotationWarning, "about">;
}

function writtenIn(
  { pod, namespace, workload, autoscalers }: AnnotatedObjects,
): readonly Written[] {
  type Kind = Parameters<typeof eventSubject>[0];
  const textsOf = (
    holder: KeyHolder,
    of: ApiObject & { readonly metadata: { readonly labels?: Texts; readonly annotations: Texts } },
    kind?: Kind,
  ): readonly Written[] => {
    const about = kind === undefined ? {} : { about: eventSubject(kind, of) };
    const { labels = {}, annotations } = of.metadata;
    return [
      { place: `label of the ${holder}`, texts: labels, of, about },
      { place: `annotation of the ${holder}`, texts: annotations, of, about },
    ];
  };
  return [
    ...textsOf("pod", pod),
    ...(namespace === undefined ? [] : textsOf("namespace", namespace, "Namespace")),
    ...(workload === undefined ? [] : textsOf("workload", workload, workload.kind)),
    ...autoscalers.flatMap((one) => textsOf("HPA", one, "HorizontalPodAutoscaler")),
  ];
}

/** A warning for each key that is unknown, or has no effect in its place. O(labels and annotations). */
function placeWarnings(objects: AnnotatedObjects): readonly AnnotationWarning[] {
  const written = writtenIn(objects);
  return written.flatMap(({ place, texts, of, about }) =>
    Object.keys(texts).flatMap((key) => {
      if (!key.startsWith(MARKET_PREFIX)) return [];
      const places = MARKET_KEYS.get(key)?.places;
      if (places === undefined) return [{ message: unknownKey(key, place), ...about }];
      // A key that is also in the right place is a harmless repetition.
      const isReported = places.includes(place) || written.some((other) =>
        places.includes(other.place) && Object.hasOwn(other.texts, key) &&
        (other.of === of || other.of === objects.pod || other.texts[key] === texts[key])
      );
      return isReported ? [] : [{ message: misplacedKey(key, { place, places }), ...about }];
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
