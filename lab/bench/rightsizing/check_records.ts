/**
 * Whether what was recommended is what known usage comes to.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import {
  type ClusterSize,
  containerName,
  namespaceOf,
  valueAt,
  workloadName,
} from "./known_usage.ts";

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

/** Of each sample of the P90 the factor 1.2, as the benchmark's policy has it. */
const SHARE = 0.9;
const FACTOR = 1.2;
const WINDOW_MS = 86_400_000;
/** Of a window of 24 h. */
const STEP_MS = 120_000;
/** Millicores a core; bytes are bytes. */
const UNITS: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };

/**
 * P90 × 1.2 of the 24 h that end at `nowMs`, over all pods: millicores or bytes, not truncated. The
 * rank lies between two samples, and so does the value, in a line.
 */
export function expectedRequest(
  { workload, container }: { readonly workload: number; readonly container: number },
  { size, resource, nowMs }: {
    readonly size: Pick<ClusterSize, "pods">;
    readonly resource: ResourceName;
    readonly nowMs: number;
  },
): number {
  const values: number[] = [];
  for (let pod = 0; pod < size.pods; pod++) {
    for (let atMs = nowMs; atMs > nowMs - WINDOW_MS; atMs -= STEP_MS) {
      values.push(valueAt({ workload, pod, container }, { resource, atMs }));
    }
  }
  values.sort((a, b) => a - b);
  const rank = SHARE * (values.length - 1);
  const low = values[Math.floor(rank)] ?? NaN;
  const high = values[Math.ceil(rank)] ?? NaN;
  return FACTOR * UNITS[resource] * (low + (high - low) * (rank % 1));
}
