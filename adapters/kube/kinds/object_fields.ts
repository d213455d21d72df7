/**
 * Fields that many kinds share: identity, annotations, conditions, times and quantities.
 *
 * The API server has validated what it stores, so readers of its kinds use the fields as they are. They
 * check what other clients may write freely (annotations, custom resources without our schema).
 *
 * @module
 */
import { parseBytes, parseBytesBound, parseCPU, parseCPUBound } from "../../../shared/quantity.ts";
import type { LabelRequirement, LabelSelector } from "../../../shared/api/label_selector.ts";
import { present } from "../client/json_fields.ts";
import type { RawCondition, RawObject, RawSelector, Texts } from "./raw_objects.ts";

/** Identity and version of an object. */
export interface ObjectIdentity {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** Reads the identity. */
export function parseIdentity(raw: unknown): ObjectIdentity {
  const { name, uid, resourceVersion } = (raw as RawObject<unknown>).metadata;
  return { name, uid, resourceVersion };
}

/** Reads the identity with the namespace. */
export function parseNamespacedIdentity(raw: unknown): ObjectIdentity & { namespace: string } {
  const { namespace = "" } = (raw as RawObject<unknown>).metadata;
  return { ...parseIdentity(raw), namespace };
}

/** Reads a `metav1.LabelSelector`. */
export function parseLabelSelector(
  { matchLabels = {}, matchExpressions = [] }: RawSelector,
): LabelSelector {
  return {
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({
      key,
      operator: operator as LabelRequirement["operator"],
      values,
    })),
  };
}

/** `{[name]: map}`, or nothing when the map is absent or empty. */
export function mapOf<K extends string>(
  name: K,
  map: Texts | undefined,
): { [key in K]?: Texts } {
  return present(name, map === undefined || Object.keys(map).length === 0 ? undefined : map);
}

/**
 * Annotations with these prefixes, by default the market's. Those of other products can be as large as
 * the object itself (`last-applied-configuration`).
 */
export function ownAnnotations(
  annotations: Texts = {},
  { prefixes = ["mbcas.io"] }: { readonly prefixes?: readonly string[] } = {},
): Texts {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) =>
      prefixes.some((prefix) => key.startsWith(`${prefix}/`))
    ),
  );
}

/** The condition of this type, if its status is "True". */
export function trueCondition(
  conditions: readonly RawCondition[],
  type: string,
): RawCondition | undefined {
  return conditions.find((one) => one.type === type && one.status === "True");
}

/**
 * Formats a `MicroTime`. The server's parser requires exactly six decimals (k8s.io/apimachinery,
 * `RFC3339Micro`): 0 is `1970-01-01T00:00:00.000000Z`.
 */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** Parses a `Time` or `MicroTime` to ms since the Unix epoch; undefined for an absent or null one. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * Millicores of a resource in a list such as `limits`; undefined when the list does not have it. Throws
 * a `SyntaxError` for more than can be counted exactly (2^53 m), which the server accepts.
 */
export function cpuOf(list: Texts | undefined): number | undefined {
  return parsed(list?.["cpu"], parseCPU);
}

/** As `cpuOf`, for a bound: one that is too large to be counted is 2^53 m. */
export function cpuBoundOf(list: Texts | undefined, name = "cpu"): number | undefined {
  return parsed(list?.[name], parseCPUBound);
}

/** Bytes of `memory`, as `cpuOf`. */
export function memoryOf(list: Texts | undefined): number | undefined {
  return parsed(list?.["memory"], parseBytes);
}

/** As `memoryOf`, for a bound: one that is too large to be counted is 2^53 bytes. */
export function memoryBoundOf(list: Texts | undefined, name = "memory"): number | undefined {
  return parsed(list?.[name], parseBytesBound);
}

function parsed(
  text: string | undefined,
  parse: (text: string) => number,
): number | undefined {
  return text === undefined ? undefined : parse(text);
}

/** An object of which a part may be unreadable. */
export interface PartialObject {
  /** Why, in a sentence. */
  readonly unreadable?: string;
}

/**
 * Reads an object. Where `read` throws a `TypeError` or `SyntaxError`, returns `blank` with the message as
 * `unreadable`: an unreadable bound must not count as none.
 */
export function readOrReport<T extends PartialObject>(read: () => T, blank: T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    return { ...blank, unreadable: error.message };
  }
}
