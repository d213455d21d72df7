/**
 * What no policy is for any more is forgotten, and so are the words on it.
 *
 * @module
 */
import type { Workload } from "../../shared/api/workload.ts";
import type { Permits } from "../../shared/control/permits.ts";
import type { Log } from "../../shared/log.ts";
import {
  isOwnAnnotation,
  POLICY_ANNOTATION,
} from "../../shared/rightsizing/apply/workload_annotations.ts";
import {
  matchesWorkload,
  policiesFor,
  type PolicySurroundings,
  readablePolicies,
} from "../../shared/rightsizing/policy_choice.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { WorkloadWriter } from "./loop_ports.ts";
import type { PublishedVPAs } from "./published_vpas.ts";
import type { RecordBook } from "./record_book.ts";
import { tellAnnotations } from "./told_workloads.ts";

/** What there is, and what is kept of it. */
export interface HouseParts extends PolicySurroundings {
  /** By key; those whose template can't be read now, too: that may be a matter of an edit. */
  readonly workloads: ReadonlyMap<string, Pick<Workload, "kind" | "metadata">>;
  /** All of them. */
  readonly policies: readonly StoredPolicy[];
  readonly annotateWorkloads: boolean;
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly book: Pick<RecordBook, "keepOnly" | "flush">;
  readonly writer: WorkloadWriter;
  readonly vpas: Pick<PublishedVPAs, "keepOnly">;
  readonly permits: Permits;
  readonly log: Log;
}

/** For so long a workload that is gone may come back under its name, as in a reinstallation, ms. */
const GONE_MS = 600_000;

/**
 * Forgets records of workloads that are gone for good or that no policy is for, and takes away words of
 * policies that are gone or not for their workload any more. A policy that is disabled keeps what it knows
 * and has told, and so does one that can't be read: whose workloads it has, its spec does not tell.
 */
export async function keepHouse(
  { workloads, policies, annotateWorkloads, nowMs, book, writer, vpas, permits, log, ...around }:
    HouseParts,
): Promise<void> {
  const readable = readablePolicies(policies);
  const enabled = readable.map((one) => ({
    ...one,
    spec: { ...one.spec, mode: "Recommend" as const },
  }));
  const byName = new Map(enabled.map((one) => [nameOf(one), one]));
  const unreadable = new Set(policies.filter(({ spec }) => spec === undefined).map(nameOf));
  const ofUnreadable = new Set<string>();
  book.keepOnly(({ workload: { kind, namespace, name }, policy, recommendedAtMs = 0 }) => {
    const key = `${kind}/${namespace}/${name}`;
    const workload = workloads.get(key);
    if (workload === undefined) {
      // What comes back is asked for by its name, and has the former one's usage: so has it its edits.
      const { intervalMs = -Infinity } = byName.get(nameOf({ metadata: policy }))?.spec ?? {};
      return nowMs - recommendedAtMs < intervalMs + GONE_MS;
    }
    if (unreadable.has(nameOf({ metadata: policy }))) {
      ofUnreadable.add(key);
      return true;
    }
    return enabled.some((one) => matchesWorkload(one, workload, around));
  });
  await book.flush();
  const told = [...workloads.values()].filter((workload) => {
    const { annotations } = workload.metadata;
    if (!Object.keys(annotations).some(isOwnAnnotation)) return false;
    const name = annotations[POLICY_ANNOTATION] ?? "";
    const policy = byName.get(name);
    const applies = unreadable.has(name) ||
      policy !== undefined && matchesWorkload(policy, workload, around);
    return !annotateWorkloads || !applies;
  });
  await tellAnnotations(
    told.map((workload) => ({ workload, record: undefined })),
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

function nameOf(
  { metadata: { namespace, name } }: {
    readonly metadata: { readonly namespace: string; readonly name: string };
  },
): string {
  return `${namespace}/${name}`;
}
