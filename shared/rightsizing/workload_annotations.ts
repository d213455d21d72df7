/**
 * Annotations by which rightsizing reports on a workload itself.
 *
 * @module
 */
import { formatBytes, formatCPU } from "../quantity.ts";
import { mapDefined } from "../defined.ts";
import type { ContainerRecommendation } from "./recommend.ts";
import { timeText, type WorkloadRecord } from "./workload_record.ts";

const PREFIX = "optipod.io/";
const RECOMMENDATION = `${PREFIX}recommendation.`;

/** The values of a container that have annotations of their own. */
const VALUES: Readonly<Record<string, (one: ContainerRecommendation) => string | undefined>> = {
  "cpu-request": ({ cpu }) => formatCPU(cpu),
  "memory-request": ({ memory }) => formatBytes(memory),
  "cpu-limit": ({ cpuLimit }) => mapDefined(cpuLimit, formatCPU),
  "memory-limit": ({ memoryLimit }) => mapDefined(memoryLimit, formatBytes),
};

/** The annotation with the policy of the recommendation, as `namespace/name`. */
export const POLICY_ANNOTATION = `${PREFIX}policy`;
const MANAGED = `${PREFIX}managed`;
const RECOMMENDED_AT = `${PREFIX}last-recommendation`;
const APPLIED_AT = `${PREFIX}last-applied`;
const FIXED: readonly string[] = [MANAGED, POLICY_ANNOTATION, RECOMMENDED_AT, APPLIED_AT];

/** The longest container name beside the longest value: 63 − 15 − 15 characters. */
const ROOM = 33;
const HASH_LENGTH = 16;

/**
 * The annotation for a value of a container: `optipod.io/recommendation.app.cpu-request`. A container
 * name of more than 33 characters is cut to 16 and gets `_` and a hash of the whole name; no name of a
 * container has a `_`, so that none is taken for a cut one.
 */
function recommendationAnnotation(container: string, value: string): string {
  const short = container.length <= ROOM
    ? container
    : `${container.slice(0, ROOM - HASH_LENGTH - 1)}_${hashOf(container)}`;
  return `${RECOMMENDATION}${short}.${value}`;
}

/** FNV-1a of 64 bits in hexadecimal digits: the same in each version. Source: Fowler, Noll and Vo. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(HASH_LENGTH, "0");
}

/** All annotations of a workload by its record; none without a recommendation. */
export function workloadAnnotations(
  record: WorkloadRecord | undefined,
): Readonly<Record<string, string>> {
  if (record?.recommendedAtMs === undefined) return {};
  const { policy, recommendedAtMs, appliedAtMs, recommendations } = record;
  const entries = [
    [MANAGED, "true"],
    [POLICY_ANNOTATION, `${policy.namespace}/${policy.name}`],
    [RECOMMENDED_AT, timeText(recommendedAtMs)],
    [APPLIED_AT, mapDefined(appliedAtMs, timeText)],
    ...recommendations.flatMap((one) =>
      Object.entries(VALUES).map(([value, textOf]) =>
        [recommendationAnnotation(one.container, value), textOf(one)] as const
      )
    ),
  ] as const;
  return Object.fromEntries(
    entries.flatMap(([name, text]) => text === undefined ? [] : [[name, text]]),
  );
}

/** A merge patch of annotations: null removes one. */
export interface AnnotationPatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
}

/** True for an annotation that rightsizing writes; other clients may use the same prefix. */
export function isOwnAnnotation(name: string): boolean {
  return FIXED.includes(name) ||
    name.startsWith(RECOMMENDATION) &&
      Object.keys(VALUES).some((value) => name.endsWith(`.${value}`));
}

/**
 * The merge patch from the present annotations to `next`. It deletes other annotations of rightsizing, as of
 * containers that were removed, and leaves those of other clients. Undefined where nothing changes but the time
 * of the recommendation, which each cycle renews.
 */
export function annotationPatch(
  present: Readonly<Record<string, string>>,
  next: Readonly<Record<string, string>>,
): AnnotationPatch | undefined {
  const gone = Object.keys(present).filter((name) =>
    isOwnAnnotation(name) && !Object.hasOwn(next, name)
  );
  const set = Object.entries(next).filter(([name, text]) => present[name] !== text);
  const isChange = ([name]: readonly [string, string]): boolean =>
    name !== RECOMMENDED_AT || present[RECOMMENDED_AT] === undefined;
  if (gone.length === 0 && !set.some(isChange)) return undefined;
  const annotations = Object.fromEntries([...set, ...gone.map((name) => [name, null])]);
  return { metadata: { annotations } };
}
