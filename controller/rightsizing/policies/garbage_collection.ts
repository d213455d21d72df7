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
  policiesFor,
  type PolicyInput,
  readablePolicies,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { writeAnnotations } from "../events.ts";
import type { WorkloadWriter } from "../ports.ts";
import type { RecordStore } from "../store.ts";
import type { PublishedVPAs } from "./published_vpas.ts";

/** The workloads and policies that exist, and what is kept of them. */
export interface GarbageParts extends PolicyInput {
  /** By key; also those with a template that can't be read now. */
  readonly workloads: ReadonlyMap<string, Pick<Workload, "kind" | "metadata">>;
  /** All of them. */
  readonly policies: readonly StoredPolicy[];
  readonly annotateWorkloads: boolean;
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly records: Pick<RecordStore, "keepOnly" | "flush">;
  readonly writer: WorkloadWriter;
  readonly vpas: Pick<PublishedVPAs, "keepOnly">;
  readonly permits: Permits;
  readonly log: Log;
}

/** A workload that is gone may come back under its name within this time, as in a reinstallation, ms. */
const GONE_MS = 600_000;

/**
 * Deletes records of workloads that are gone for good or that no policy selects, and annotations and VPAs of
 * policies that are gone or do not select their workload any more. Disabled policies, and those that can't be
 * read, keep theirs.
 */
export async function collectGarbage(
  { workloads, policies, annotateWorkloads, nowMs, records, writer, vpas, permits, log, ...around }:
    GarbageParts,
): Promise<void> {
  const readable = readablePolicies(policies);
  const enabled = readable.map((one) => ({
    ...one,
    spec: { ...one.spec, mode: "Recommend" as const },
  }));
  const byName = new Map(enabled.map((one) => [objectKey(one.metadata), one]));
  const unreadable = new Set(
    policies.filter(({ spec }) => spec === undefined).map(({ metadata }) => objectKey(metadata)),
  );
  const ofUnreadable = new Set<string>();
  records.keepOnly(({ workload: { kind, namespace, name }, policy, recommendedAtMs = 0 }) => {
    const key = `${kind}/${namespace}/${name}`;
    const workload = workloads.get(key);
    if (workload === undefined) {
      // What comes back is asked for by its name, and has the former one's usage: so has it its edits.
      const { intervalMs = -Infinity } = byName.get(objectKey(policy))?.spec ?? {};
      return nowMs - recommendedAtMs < intervalMs + GONE_MS;
    }
    if (unreadable.has(objectKey(policy))) {
      ofUnreadable.add(key);
      return true;
    }
    return enabled.some((one) => matchesWorkload(one, workload, around));
  });
  await records.flush();
  const annotated = [...workloads.values()].filter((workload) => {
    const { annotations } = workload.metadata;
    if (!Object.keys(annotations).some(isOwnAnnotation)) return false;
    const name = annotations[POLICY_ANNOTATION] ?? "";
    const policy = byName.get(name);
    const applies = unreadable.has(name) ||
      policy !== undefined && matchesWorkload(policy, workload, around);
    return !annotateWorkloads || !applies;
  });
  await writeAnnotations(
    annotated.map((workload) => ({ workload, record: undefined })),
    { workloads: writer, permits, log },
  );
  await vpas.keepOnly((key) => {
    const workload = workloads.get(key);
    const [winner] = workload === undefined
      ? []
      : policiesFor(workload, { ...around, policies: readable });
    return ofUnreadable.has(key) || winner?.spec.updateStrategy.publishVPA === true;
  });
}
