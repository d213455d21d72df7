/**
 * What new pods of a workload begin with: the values that are in force for it.
 *
 * @module
 */
import type { Resources } from "../../shared/api/pod.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { WorkloadRef } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { recordsOf } from "../../shared/rightsizing/report_parts.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import { resourcesInForce } from "../../shared/rightsizing/values_in_force.ts";
import type { WorkloadRecord } from "../../shared/rightsizing/workload_record.ts";

/** What tells it. */
export interface CreationValuesParts {
  readonly reports: Pick<Informer<RecommendationReport>, "byIndex">;
  readonly policies: Pick<Informer<StoredPolicy>, "get">;
  readonly dryRun: () => boolean;
}

/** By container; undefined where pods are as their template says. */
export type CreationValues = (
  namespace: string,
  workload: WorkloadRef,
) => ReadonlyMap<string, Resources> | undefined;

interface ReadReports {
  /** Versions of the reports that were read. */
  readonly versions: string;
  readonly records: ReadonlyMap<string, WorkloadRecord>;
}

/**
 * Values of workloads whose policy is in mode Auto and changes pods in place: where it may only recreate
 * them, the template has the values. `reports` are indexed by namespace, and read once for each version.
 */
export function createCreationValues(
  { reports, policies, dryRun }: CreationValuesParts,
): CreationValues {
  const read = new Map<string, ReadReports>();

  function recordsIn(namespace: string): ReadReports["records"] {
    const present = reports.byIndex(namespace);
    const versions = present.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
      .toSorted().join();
    const known = read.get(namespace);
    if (known?.versions === versions) return known.records;
    const records = new Map(
      recordsOf(present, namespace).map((record): [string, WorkloadRecord] => [
        `${record.workload.kind}/${record.workload.name}`,
        record,
      ]),
    );
    if (present.length === 0) read.delete(namespace);
    else read.set(namespace, { versions, records });
    return records;
  }

  return (namespace, { kind, name }) => {
    if (dryRun()) return undefined;
    const record = recordsIn(namespace).get(`${kind}/${name}`);
    if (record === undefined || record.inForce.length === 0) return undefined;
    const spec = policies.get(`${record.policy.namespace}/${record.policy.name}`)?.spec;
    if (spec?.mode !== "Auto" || !spec.updateStrategy.allowInPlaceResize) return undefined;
    return resourcesInForce(record.inForce);
  };
}
