/**
 * Gives new pods the values in force for their workload, before they are stored.
 *
 * @module
 */
import { byResource } from "../../shared/resize/inputs/resources.ts";
import { NO_RESOURCES, type Pod, type PodContainer, type Resources } from "../../shared/api/pod.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { Workload, WorkloadRef } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { countingValues } from "../../shared/rightsizing/guards/counting_values.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import { recordsOf } from "../../shared/rightsizing/reports.ts";
import {
  resourcesOfAmounts,
  type ValuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import type { SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { membersOf, textsIn } from "../../shared/members.ts";
import { type OwnedPod, workloadsOf } from "../../shared/resize/workloads_of.ts";
import { podCreationPatch, readCreatedPod } from "../../shared/rightsizing/pod_creation_patch.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
  type RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { largestNode } from "../../shared/rightsizing/namespace_bounds.ts";
import type { Caches } from "../caches.ts";
import { cachedAutoscalers, cachedRules } from "./cluster_facts.ts";

/** The caches that are read. */
export type CreationCaches = Pick<
  Caches,
  | "deployments"
  | "statefulSets"
  | "daemonSets"
  | "horizontalPodAutoscalers"
  | "verticalPodAutoscalers"
  | "limitRanges"
  | "resourceQuotas"
  | "nodes"
>;

/** The workload, and the bounds of its pods' values. */
export interface CreationInput extends
  Pick<
    RightsizingFacts,
    | "autoscalers"
    | "verticalAutoscalers"
    | "ranges"
    | "quotas"
    | "largestNode"
    | "unreadable"
  > {
  readonly workload: RightsizedWorkload;
}

/** Undefined where the workload is not known, or a cache is not synced. */
export type CreationInputs = (
  namespace: string,
  workload: WorkloadRef,
) => CreationInput | undefined;

/** Reads the caches. */
export function createCreationInputs(caches: CreationCaches): CreationInputs {
  const bounds = [
    caches.horizontalPodAutoscalers,
    caches.verticalPodAutoscalers,
    caches.limitRanges,
    caches.resourceQuotas,
    caches.nodes,
  ];

  function workloadOf(kind: string, key: string): Workload | undefined {
    if (kind === "Deployment") return caches.deployments.get(key);
    if (kind === "StatefulSet") return caches.statefulSets.get(key);
    return kind === "DaemonSet" ? caches.daemonSets.get(key) : undefined;
  }

  return (namespace, { kind, name }) => {
    const found = workloadOf(kind, `${namespace}/${name}`);
    const workload = found && rightsizedWorkload(found);
    if (workload === undefined || !bounds.every(({ synced }) => synced)) return undefined;
    const autoscalers = cachedAutoscalers(caches, workload);
    const rules = cachedRules(caches, workload, { pods: [] });
    const largest = largestNode(caches.nodes.all());
    return {
      ...rules,
      ...(largest === undefined ? {} : { largestNode: largest }),
      ...autoscalers,
      unreadable: [...rules.unreadable, ...autoscalers.unreadable],
      workload,
    };
  };
}

/** Parts of {@linkcode createCreationValues}. */
export interface CreationValuesParts {
  readonly reports: Pick<Informer<RecommendationReport>, "byIndex">;
  readonly policies: Pick<Informer<StoredPolicy>, "get">;
  readonly inputOf: CreationInputs;
  readonly dryRun: () => boolean;
}

/** A pod as it was sent. */
export type SentPod = Pick<Pod, "containers" | "initContainers" | "podLevel">;

/** The initial values of a pod, by container. */
export type ValuesOfPod = (pod: SentPod) => ReadonlyMap<string, Resources>;

/** Undefined where all pods of the workload are as their template says. */
export type CreationValues = (
  namespace: string,
  workload: WorkloadRef,
) => ValuesOfPod | undefined;

interface ReadReports {
  /** Versions of the reports that were read. */
  readonly versions: string;
  readonly records: ReadonlyMap<string, WorkloadRecord>;
}

/**
 * Values of workloads with a policy in mode Auto that changes pods in place: where it may only recreate
 * them, the template has the values. `reports` are indexed by namespace, and read once for each version.
 *
 * A pod with unknown bounds stays as its template says: no value of rightsizing may get it refused.
 */
export function createCreationValues(
  { reports, policies, inputOf, dryRun }: CreationValuesParts,
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

  return (namespace, workload) => {
    if (dryRun()) return undefined;
    const record = recordsIn(namespace).get(`${workload.kind}/${workload.name}`);
    if (record === undefined || record.inForce.length === 0) return undefined;
    const policy = policies.get(`${record.policy.namespace}/${record.policy.name}`)?.spec;
    if (policy?.mode !== "Auto" || !policy.updateStrategy.allowInPlaceResize) return undefined;
    const found = inputOf(namespace, workload);
    if (found === undefined || found.unreadable.length > 0) return undefined;
    const { inForce, usage = [] } = record;
    const memoryPeaks = new Map(
      usage.flatMap(({ container, memory }) =>
        memory === undefined ? [] : [[container, memory.max] as const]
      ),
    );
    return (pod) => {
      const { template } = found.workload;
      const workload = { ...found.workload, template: { ...template, ...pod } };
      const written = writtenIn(pod, { inForce, template: template.containers });
      return countingValues(inForce, { ...found, workload, policy, memoryPeaks }, { written })
        .values;
    };
  };
}

/**
 * The pod's containers as their author wrote them. By the pod itself, since the copy of the template may
 * be older than it; but what neither that nor the template of the adoption has comes from a LimitRange,
 * or from a limit that stands for the request, too.
 */
function writtenIn(
  { containers }: SentPod,
  { inForce, template }: {
    readonly inForce: readonly ValuesInForce[];
    readonly template: readonly PodContainer[];
  },
): readonly PodContainer[] {
  return containers.map((container) => {
    const isSame = ({ name }: { readonly name: string }): boolean => name === container.name;
    const adopted = inForce.find((one) => isSame({ name: one.container }))?.adoptedOn ?? {};
    const before = resourcesOfAmounts(adopted);
    const now: Resources = template.find(isSame) ?? NO_RESOURCES;
    const written = (side: keyof Resources) =>
      byResource((name) =>
        (before[side][name] ?? now[side][name]) === undefined ? undefined : container[side][name]
      );
    return { ...container, requests: written("requests"), limits: written("limits") };
  });
}

/** A mutator of new pods of workloads; it leaves other objects and pods alone. */
export function createPodCreationMutator(valuesOf: CreationValues): Mutator {
  return {
    name: "rightsizing",
    mutate({ resource, operation, namespace, object }) {
      if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
      for (const workload of workloadsOf(ownedPod(object))) {
        const values = valuesOf(namespace, workload);
        if (values === undefined) continue;
        const created = readCreatedPod(object);
        const { containers, initContainers, podLevel } = created.subject;
        const sent = {
          containers,
          initContainers,
          ...(podLevel === undefined ? {} : { podLevel }),
        };
        const patch = podCreationPatch(created, values(sent));
        return patch.length === 0 ? undefined : { patch };
      }
      return undefined;
    },
  };
}

/** The owner of the pod, as far as the request has it. */
function ownedPod({ metadata }: SentObject): OwnedPod {
  const { ownerReferences, labels } = membersOf(metadata);
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(membersOf) : [];
  const { apiVersion, kind, name, uid } = owners.find(({ controller }) => controller === true) ??
    {};
  const own = { labels: textsIn(labels) };
  const isOwned = typeof apiVersion === "string" && typeof kind === "string" &&
    typeof name === "string" && typeof uid === "string";
  return { metadata: isOwned ? { ...own, owner: { apiVersion, kind, name, uid } } : own };
}
