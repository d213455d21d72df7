/**
 * What rightsizing reports of a workload on the workload itself.
 *
 * @module
 */
import { formatBytes, formatCPU } from "../quantity.ts";
import type { ContainerRecommendation } from "./recommend.ts";

/** Before the `/` of all these annotations. */
export const ANNOTATION_PREFIX = "optipod.io/";

/** What an annotation may have after the `/`. */
const LONGEST_NAME = 63;

const RECOMMENDATION = "recommendation.";

/** The values of a container that have annotations of their own. */
export const ANNOTATED_VALUES = [
  "cpu-request",
  "memory-request",
  "cpu-limit",
  "memory-limit",
] as const;

/** One of {@linkcode ANNOTATED_VALUES}. */
export type AnnotatedValue = typeof ANNOTATED_VALUES[number];

const FIXED = ["managed", "policy", "last-recommendation", "last-applied"] as const;
/** Names the policy that the annotations of a workload are of, as `namespace/name`. */
export const POLICY_ANNOTATION = `${ANNOTATION_PREFIX}policy`;
const TIME = `${ANNOTATION_PREFIX}last-recommendation`;

/** The longest container name beside the longest value: 63 − 15 − 15 = 33 characters. */
const ROOM = LONGEST_NAME - RECOMMENDATION.length -
  Math.max(...ANNOTATED_VALUES.map((value) => `.${value}`.length));

const HASH_LENGTH = 16;

/**
 * The annotation for a value of a container: `optipod.io/recommendation.app.cpu-request`. A container
 * name of more than 33 characters is cut to 16 and gets `_` and a hash of the whole name; no name of a
 * container has a `_`, so that none is taken for a cut one.
 */
export function recommendationAnnotation(container: string, value: AnnotatedValue): string {
  const short = container.length <= ROOM
    ? container
    : `${container.slice(0, ROOM - HASH_LENGTH - 1)}_${hashOf(container)}`;
  return `${ANNOTATION_PREFIX}${RECOMMENDATION}${short}.${value}`;
}

/** FNV-1a of 64 bits in hexadecimal digits: the same in each version. Source: Fowler, Noll and Vo. */
function hashOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(HASH_LENGTH, "0");
}

/** What is to be reported. */
export interface ReportedWorkload {
  /** `namespace/name` of the policy that has won the workload. */
  readonly policy: string;
  /** When the recommendations were made, ms since 1970. */
  readonly recommendedAtMs: number;
  /** When values were last applied, ms since 1970; absent: never. */
  readonly appliedAtMs?: number;
  readonly recommendations: readonly ContainerRecommendation[];
}

/** All annotations of a workload. */
export function workloadAnnotations(
  { policy, recommendedAtMs, appliedAtMs, recommendations }: ReportedWorkload,
): Readonly<Record<string, string>> {
  const fixed: Record<typeof FIXED[number], string | undefined> = {
    managed: "true",
    policy,
    "last-recommendation": new Date(recommendedAtMs).toISOString(),
    "last-applied": appliedAtMs === undefined ? undefined : new Date(appliedAtMs).toISOString(),
  };
  const entries = [
    ...FIXED.map((name) => [`${ANNOTATION_PREFIX}${name}`, fixed[name]] as const),
    ...recommendations.flatMap(({ container, cpu, memory, cpuLimit, memoryLimit }) => {
      const values: Record<AnnotatedValue, string | undefined> = {
        "cpu-request": formatCPU(cpu),
        "memory-request": formatBytes(memory),
        "cpu-limit": cpuLimit === undefined ? undefined : formatCPU(cpuLimit),
        "memory-limit": memoryLimit === undefined ? undefined : formatBytes(memoryLimit),
      };
      return ANNOTATED_VALUES.map((value) =>
        [recommendationAnnotation(container, value), values[value]] as const
      );
    }),
  ];
  return Object.fromEntries(
    entries.flatMap(([name, text]) => text === undefined ? [] : [[name, text] as const]),
  );
}

/** A merge patch of annotations: null removes one. */
export interface AnnotationPatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
}

/** True for an annotation that rightsizing writes; others below the prefix are of others. */
export function isOwnAnnotation(name: string): boolean {
  if (!name.startsWith(ANNOTATION_PREFIX)) return false;
  const rest = name.slice(ANNOTATION_PREFIX.length);
  return FIXED.some((one) => one === rest) ||
    (rest.startsWith(RECOMMENDATION) &&
      ANNOTATED_VALUES.some((value) => rest.endsWith(`.${value}`)));
}

/**
 * The merge patch that brings the workload's annotations to these, and takes away what is said of
 * containers that are gone; `{}` takes all away, for when no policy applies any more. Others stay.
 * Undefined where nothing changes, or the time of the recommendation alone: it goes along with other
 * changes, since each cycle makes the same values anew.
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
    name !== TIME || present[TIME] === undefined;
  if (gone.length === 0 && !set.some(isChange)) return undefined;
  const annotations = Object.fromEntries([...set, ...gone.map((name) => [name, null])]);
  return { metadata: { annotations } };
}
