/**
 * Compares recommendations of reports with the present workloads and pods. Pure.
 *
 * @module
 */
import { defined, mapDefined } from "../defined.ts";
import { workloadsOf } from "../resize/workloads_of.ts";
import { isFinished, type Pod, type PodContainer } from "../api/pod.ts";
import type { PodAllocation } from "../api/pod_allocation.ts";
import type { RecommendationReport } from "../api/recommendation_report.ts";
import { remedyFor, sentenceOf } from "../api/reasons/reasons.ts";
import type { WorkloadTemplate } from "../api/workload.ts";
import { recordsOf } from "../rightsizing/reports.ts";
import {
  amountsOfResources,
  type ContainerAmounts,
  timeText,
  type ValuesInForce,
  type WorkloadRecord,
} from "../rightsizing/workload_record.ts";
import type { AdvisedContainer, AdvisedWorkload, PodAmounts } from "./advice_view.ts";
import { changesOf, sumOfChanges } from "./changes.ts";
import { workloadKey } from "./figures.ts";
import { countableCPU } from "../quantity.ts";
import { recordedLimitsOf } from "../resize/original_limits.ts";

/** The input of the advice; a list that the user may not read is undefined. */
export interface AdviceInput {
  readonly reports: readonly RecommendationReport[];
  readonly templates: readonly WorkloadTemplate[] | undefined;
  readonly pods: readonly Pod[] | undefined;
  readonly allocations: readonly PodAllocation[];
}

/** Each workload of the reports, by namespace, kind and name. */
export function adviseAll(
  { reports, templates, pods, allocations }: AdviceInput,
): readonly AdvisedWorkload[] {
  const byNamespace = Map.groupBy(reports, ({ metadata }) => metadata.namespace);
  const records = [...byNamespace].flatMap(([namespace, reports]) => recordsOf(reports, namespace));
  const templateByKey = new Map(
    templates?.map((one) => [workloadKey({ ...one, ...one.metadata }), one]),
  );
  const podsByKey = Map.groupBy(
    (pods ?? []).filter(holdsRequests).flatMap((pod) =>
      workloadsOf(pod).map((workload) => ({
        pod,
        key: workloadKey({ ...workload, namespace: pod.metadata.namespace }),
      }))
    ),
    ({ key }) => key,
  );
  const allocationByUID = new Map(allocations.map((one) => [one.spec.podUID, one]));
  return records.map((record) => {
    const key = workloadKey(record.workload);
    return advise(record, {
      template: templateByKey.get(key),
      exists: templates && templateByKey.has(key),
      pods: pods && (podsByKey.get(key)?.map(({ pod }) => pod) ?? []),
      allocationByUID,
    });
  }).toSorted((a, b) => {
    const [one, other] = [workloadKey(a), workloadKey(b)];
    return one < other ? -1 : one > other ? 1 : 0;
  });
}

/** False for pods that have ended, or are about to. */
function holdsRequests(pod: Pod): boolean {
  return !pod.metadata.terminating && !isFinished(pod);
}

interface AdviceSources {
  readonly template: WorkloadTemplate | undefined;
  readonly exists: boolean | undefined;
  readonly pods: readonly Pod[] | undefined;
  readonly allocationByUID: ReadonlyMap<string, PodAllocation>;
}

function advise(record: WorkloadRecord, sources: AdviceSources): AdvisedWorkload {
  const { workload, policy, status, reason, message, recommendedAtMs, appliedAtMs, method } =
    record;
  const containers = containersOf(record, sources);
  return defined({
    ...workload,
    name: workload.name,
    policy: { namespace: policy.namespace, name: policy.name },
    status,
    reason,
    means: reason && sentenceOf(reason),
    remedy: reason && remedyFor(reason),
    message,
    lastRecommendation: mapDefined(recommendedAtMs, timeText),
    lastApplied: mapDefined(appliedAtMs, timeText),
    lastApplyMethod: method,
    exists: sources.exists,
    pods: sources.pods?.length,
    containers,
    changes: sumOfChanges(containers.map(({ changes }) => changes)),
  });
}

/** Containers of the template in its order, then others of the report. */
function containersOf(
  { recommendations, inForce, usage = [] }: WorkloadRecord,
  { template, pods, allocationByUID }: AdviceSources,
): readonly AdvisedContainer[] {
  const templateContainers = new Map(template?.containers.map((one) => [one.name, one]));
  const names = [
    ...templateContainers.keys(),
    ...[recommendations, inForce, usage].flat().map(({ container }) => container),
  ];
  return [...new Set(names)].map((name) => {
    const templateContainer = templateContainers.get(name);
    const wanted = recommendations.find(({ container }) => container === name);
    const adopted = inForce.find(({ container }) => container === name);
    const used = usage.find(({ container }) => container === name);
    const compared = defined({
      template: mapDefined(templateContainer, amountsOfResources),
      pods: podAmounts(name, { pods: pods ?? [], allocationByUID }),
      recommended: mapDefined(wanted, valuesOf),
    });
    const changes = changesOf(compared, { pods: pods?.length, replicas: template?.replicas });
    return {
      name,
      sidecar: templateContainer?.sidecar === true,
      ...compared,
      ...defined({
        inForce: mapDefined(adopted, valuesOf),
        explanation: wanted?.explanation,
        usage: mapDefined(used, ({ cpu, memory }) => defined({ cpu, memory })),
        changes,
      }),
    };
  });
}

function valuesOf({ cpu, memory, cpuLimit, memoryLimit }: ValuesInForce): ContainerAmounts {
  return defined({ cpu, memory, cpuLimit, memoryLimit });
}

/** Requests and limits of the container in pods, grouped by equal amounts, most pods first. */
function podAmounts(
  name: string,
  { pods, allocationByUID }: {
    readonly pods: readonly Pod[];
    readonly allocationByUID: ReadonlyMap<string, PodAllocation>;
  },
): readonly PodAmounts[] {
  const found = pods.flatMap((pod) => {
    const container = pod.containers.find((one) => one.name === name);
    if (container === undefined) return [];
    const allocation = allocationByUID.get(pod.metadata.uid);
    return [amountsOfResources(withOriginals(container, allocation))];
  });
  const groups = Map.groupBy(found, (one) => JSON.stringify(one));
  return [...groups.values()].map((same) => ({ count: same.length, ...same[0] }))
    .toSorted((a, b) => b.count - a.count);
}

/** The container with its original CPU limit and request in place of the market's. */
function withOriginals(
  container: PodContainer,
  allocation: PodAllocation | undefined,
): PodContainer {
  const limit = recordedLimitsOf(allocation)?.get(container.name);
  const originals = allocation?.status?.originalRequests;
  const text = originals?.find(({ name }) => name === container.name)?.cpu;
  return {
    ...container,
    requests: { ...container.requests, ...defined({ cpu: mapDefined(text, countableCPU) }) },
    limits: { ...container.limits, ...defined({ cpu: limit }) },
  };
}
