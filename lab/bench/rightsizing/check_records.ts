/**
 * Whether what was recommended is what known usage comes to.
 *
 * @module
 */

import type { ResourceName } from "../../../shared/api/pod.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import { expectedRequest } from "./expected_requests.ts";
import { type ClusterSize, containerName, namespaceOf, workloadName } from "./known_usage.ts";

/** What was found. */
export interface CheckedRecords {
  /** Containers with a recommendation. */
  readonly recommended: number;
  /** Requests that are missing, twice there, or off by more than a unit. */
  readonly wrong: number;
  /** The first of them, as messages. */
  readonly example?: string;
}

const RESOURCES: readonly ResourceName[] = ["cpu", "memory"];
/** Truncation to whole millicores and bytes, and what binary fractions leave. */
const UNIT = 1.001;

/** Compares the records with what must be in them. */
export function checkRecords(
  records: readonly WorkloadRecord[],
  size: ClusterSize,
): CheckedRecords {
  const byName = new Map(
    records.map((record) => [`${record.workload.namespace}/${record.workload.name}`, record]),
  );
  const faults: string[] = [];
  let recommended = 0;
  for (let workload = 0; workload < size.workloads; workload++) {
    const name = `${namespaceOf(workload)}/${workloadName(workload)}`;
    const { recommendations = [], recommendedAtMs: nowMs = NaN } = byName.get(name) ?? {};
    for (let container = 0; container < size.containers; container++) {
      const own = recommendations.filter((one) => one.container === containerName(container));
      const [only] = own;
      if (only !== undefined) recommended++;
      for (const resource of RESOURCES) {
        const got = own.length === 1 ? only?.[resource] ?? NaN : NaN;
        const expected = expectedRequest({ workload, container }, { size, resource, nowMs });
        if (Math.abs(got - expected) <= UNIT) continue;
        faults.push(
          `${name} ${containerName(container)}: ${resource} ${got}, expected ${expected}`,
        );
      }
    }
  }
  const [example] = faults;
  return {
    recommended,
    wrong: faults.length,
    ...(example === undefined ? {} : { example }),
  };
}
