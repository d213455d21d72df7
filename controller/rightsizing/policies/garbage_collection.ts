/**
 * Deletes records, annotations and VerticalPodAutoscalers of workloads that no policy selects.
 *
 * @module
 */
import { objectKey } from "../../../shared/control/object_key.ts";
import {
  isOwnAnnotation,
  POLICY_ANNOTATION,
} from "../../../shared/rightsizing/workload_annotations.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { Permits } from "../../../shared/control/permits.ts";
import type { Log } from "../../../shared/log.ts";
import {
  matchesWorkload,
  policyFor,
  type PolicyInput,
  type ReadablePolicy,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { writeAnnotations } from "../events.ts";
import type { WorkloadWriter } from "../../../shared/rightsizing/ports.ts";
import { keyOfName, type RecordStore } from "../store.ts";
import type { PublishedVPAs } from "./published_vpas.ts";

/** Workloads and policies that exist, and the stores to clean up. */
export interface GarbageParts extends PolicyInput {
  /** By key; also those with a template that can't be read now. */
  readonly workloads: ReadonlyMap<string, Pick<Workload, "kind" | "metadata">>;
  readonly policies: readonly StoredPolicy[];
  readonly annotateWorkloads: boolean;
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly records: Pick<RecordStore, "keepOnly" | "flush">;
  readonly writer: Pick<WorkloadWriter, "annotate">;
  readonly vpas: Pick<PublishedVPAs, "keepOnly">;
  readonly permits: Permits;
  readonly log: Log;
}

/** A workload may be created again within this time, as in a reinstallation, ms. */
const RECREATED_MS = 600_000;

/**
 * Deletes records of workloads that were deleted or that no policy selects, and annotations and VPAs of
 * policies that were deleted or select other workloads now. Disabled policies, and those that can't be
 * read, keep theirs.
 */
export async function collectGarbage(parts: GarbageParts): Promise<void> {
  const { workloads, policies, nowMs, records, vpas } = parts;
  const enabled = policies.flatMap(({ metadata, spec }) =>
    spec === undefined ? [] : [{ metadata, spec: { ...spec, mode: "Recommend" as const } }]
  );
  const byName = new Map(enabled.map((one) => [objectKey(one.metadata), one]));
  const unreadable = new Set(
    policies.filter(({ spec }) => spec === undefined).map(({ metadata }) => objectKey(metadata)),
  );
  const ofUnreadable = new Set<string>();
  records.keepOnly(({ workload: name, policy, recommendedAtMs = 0 }) => {
    const key = keyOfName(name);
    const workload = workloads.get(key);
    if (workload === undefined) {
      const { intervalMs = -Infinity } = byName.get(objectKey(policy))?.spec ?? {};
      return nowMs - recommendedAtMs < intervalMs + RECREATED_MS;
    }
    if (unreadable.has(objectKey(policy))) {
      ofUnreadable.add(key);
      return true;
    }
    return enabled.some((one) => matchesWorkload(one, workload, parts));
  });
  await records.flush();
  await deleteAnnotations(parts, { byName, unreadable });
  await vpas.keepOnly((key) => {
    const workload = workloads.get(key);
    const winner = workload && policyFor(workload, parts);
    return ofUnreadable.has(key) || winner?.spec.updateStrategy.publishVPA === true;
  });
}

/** Deletes annotations of policies that do not select their workload, and all where annotations are disabled. */
async function deleteAnnotations(
  parts: GarbageParts,
  { byName, unreadable }: {
    readonly byName: ReadonlyMap<string, ReadablePolicy>;
    readonly unreadable: ReadonlySet<string>;
  },
): Promise<void> {
  const { workloads, annotateWorkloads, writer, permits, log } = parts;
  const targets = [...workloads.values()].filter((workload) => {
    const { annotations } = workload.metadata;
    if (!Object.keys(annotations).some(isOwnAnnotation)) return false;
    const name = annotations[POLICY_ANNOTATION] ?? "";
    const policy = byName.get(name);
    const applies = unreadable.has(name) ||
      policy !== undefined && matchesWorkload(policy, workload, parts);
    return !annotateWorkloads || !applies;
  });
  await writeAnnotations(
    targets.map((workload) => ({ workload, record: undefined })),
    { workloads: writer, permits, log },
  );
}
