/**
 * Gives new pods the values in force for their workload, before they are stored.
 *
 * @module
 */
import { newPodSubject } from "../../shared/resize/inputs/subject.ts";
import { parseTemplate } from "../../adapters/kube/kinds/workloads.ts";
import { parseOwner } from "../../adapters/kube/kinds/pods.ts";
import type { RawObject, RawPodSpec } from "../../adapters/kube/kinds/raw_objects.ts";
import { byResource, hasAmounts, RESOURCE_SIDES } from "../../shared/resize/inputs/resources.ts";
import { containerResources } from "../../shared/resize/patch.ts";
import { isMembers } from "../../shared/members.ts";
import type { JSONPatchOperation } from "../../shared/admission/json_patch.ts";
import {
  NO_RESOURCES,
  type Pod,
  type PodContainer,
  type Resources,
  withResources,
} from "../../shared/api/pod.ts";
import type { RecommendationReport } from "../../shared/api/recommendation_report.ts";
import type { PodTemplate, WorkloadRef } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { defined } from "../../shared/defined.ts";
import { validValues } from "../../shared/rightsizing/guards/valid_values.ts";
import type { StoredPolicy } from "../../shared/rightsizing/policy_spec.ts";
import { lastApplied, recordsOf } from "../../shared/rightsizing/reports.ts";
import {
  resourcesOfAmounts,
  type ValuesInForce,
  type WorkloadRecord,
} from "../../shared/rightsizing/workload_record.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { workloadsOf } from "../../shared/resize/workloads_of.ts";
import { rightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { type WorkloadCaches, workloadOf } from "../caches.ts";
import { type BoundCaches, workloadBounds } from "./cluster_snapshots.ts";

/** A pod as it was sent. */
export type SentPod = Pick<Pod, "containers" | "initContainers" | "podLevel">;

/**
 * Returns a function for the initial values of a pod, by container; undefined where the workload's pods keep the
 * template's values.
 */
export type CreationValues = (
  namespace: string,
  workload: WorkloadRef,
) => ((pod: SentPod) => ReadonlyMap<string, Resources>) | undefined;

/** A pod that is to be created. */
export interface CreatedPod {
  /** `spec.containers` as they were sent. */
  readonly raw: readonly { readonly resources?: unknown }[];
  /** The same as parsed, without the server's defaults; its containers end with the sidecars. */
  readonly template: PodTemplate;
}

/** A mutator of workloads' new pods; it changes no other objects. */
export function createPodCreationMutator(valuesOf: CreationValues): Mutator {
  return {
    name: "rightsizing",
    mutate({ resource, operation, namespace, object }) {
      if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
      // The server has decoded the pod, so the types of its fields are right.
      const { metadata: { labels = {}, ownerReferences }, spec } = object as Pick<
        RawObject<RawPodSpec>,
        "metadata" | "spec"
      >;
      const metadata = defined({ labels, owner: parseOwner(ownerReferences) });
      for (const workload of workloadsOf({ metadata })) {
        const values = valuesOf(namespace, workload);
        if (values === undefined) continue;
        const template = parseTemplate({ spec });
        const { containers, initContainers } = newPodSubject(template, { name: "", count: 1 });
        const sent = { ...template, containers, initContainers };
        const patch = podCreationPatch({ raw: spec.containers, template }, values(sent));
        return patch.length === 0 ? undefined : { patch };
      }
      return undefined;
    },
  };
}

/**
 * Values for new pods of workloads with a policy in mode Auto that changes pods in place; where it may only recreate
 * them, the template has the values. Each version of a report is parsed once.
 *
 * A pod with unknown bounds keeps the template's values, so that the server does not refuse it for those of
 * rightsizing.
 */
export function createCreationValues(
  { caches, reports, policies, dryRun }: {
    readonly caches: WorkloadCaches & BoundCaches;
    /** By their namespaces. */
    readonly reports: Pick<Informer<RecommendationReport>, "byIndex">;
    readonly policies: Pick<Informer<StoredPolicy>, "get">;
    readonly dryRun: () => boolean;
  },
): CreationValues {
  const read = new WeakMap<RecommendationReport, ReadonlyMap<string, WorkloadRecord>>();
  const { horizontalPodAutoscalers: hpas, verticalPodAutoscalers: vpas, ...bounds } = caches;
  const boundCaches = [hpas, vpas, bounds.limitRanges, bounds.resourceQuotas, bounds.nodes];

  function recordsIn(report: RecommendationReport): ReadonlyMap<string, WorkloadRecord> {
    const known = read.get(report);
    if (known !== undefined) return known;
    const records = new Map(
      recordsOf([report], report.metadata.namespace).map((record) =>
        [`${record.workload.kind}/${record.workload.name}`, record] as const
      ),
    );
    read.set(report, records);
    return records;
  }

  return (namespace, ref) => {
    if (dryRun()) return undefined;
    const [first, ...others] = reports.byIndex(namespace)
      .flatMap((report) => recordsIn(report).get(`${ref.kind}/${ref.name}`) ?? []);
    const record = first && others.reduce(lastApplied, first);
    if (record === undefined || record.inForce.length === 0) return undefined;
    const policy = policies.get(`${record.policy.namespace}/${record.policy.name}`)?.spec;
    if (policy?.mode !== "Auto" || !policy.updateStrategy.allowInPlaceResize) return undefined;
    const found = workloadOf(caches, { namespace, refs: [ref] });
    const workload = found && rightsizedWorkload(found);
    if (workload === undefined || !boundCaches.every(({ synced }) => synced)) return undefined;
    const bounds = workloadBounds(caches, { workload, pods: [] });
    if (bounds.unreadable.length > 0) return undefined;
    const { usage = [] } = record;
    const memoryPeaks = new Map(
      usage.flatMap(({ container, memory }) =>
        memory === undefined ? [] : [[container, memory.max] as const]
      ),
    );
    return ({ containers, initContainers, podLevel }) => {
      const template = {
        ...workload.template,
        ...{ containers, initContainers },
        ...(podLevel && { podLevel }),
      };
      const inForce = record.inForce.map((one) => withoutBareLimits(one, containers));
      const written = writtenIn(containers, { inForce, template: workload.template.containers });
      const snapshot = { ...bounds, workload: { ...workload, template }, policy, memoryPeaks };
      return validValues(inForce, snapshot, { written }).values;
    };
  };
}

/** Leaves out limits of resources without a request: the server would use the limit as the request. */
function withoutBareLimits(
  { cpuLimit, memoryLimit, ...values }: ValuesInForce,
  containers: readonly PodContainer[],
): ValuesInForce {
  const { requests } = containers.find(({ name }) => name === values.container) ?? NO_RESOURCES;
  const limits = {
    cpuLimit: (values.cpu ?? requests.cpu) === undefined ? undefined : cpuLimit,
    memoryLimit: (values.memory ?? requests.memory) === undefined ? undefined : memoryLimit,
  };
  return { ...values, ...defined(limits) };
}

/**
 * The pod's containers as their author wrote them: the pod's values, since the cached template may be older,
 * without those that neither the template nor the template of the adoption has. These come from a LimitRange, or
 * from a limit that is the default request.
 */
function writtenIn(
  containers: readonly PodContainer[],
  { inForce, template }: {
    readonly inForce: readonly ValuesInForce[];
    readonly template: readonly PodContainer[];
  },
): readonly PodContainer[] {
  return containers.map((container) => {
    const { name } = container;
    const adopted = inForce.find((one) => one.container === name)?.adoptedOn ?? {};
    const before = resourcesOfAmounts(adopted);
    const now: Resources = template.find((one) => one.name === name) ?? NO_RESOURCES;
    const written = (side: keyof Resources) =>
      byResource((resource) =>
        (before[side][resource] ?? now[side][resource]) === undefined
          ? undefined
          : container[side][resource]
      );
    return { ...container, requests: written("requests"), limits: written("limits") };
  });
}

/**
 * The operations that give the pod these values, by container name; none where it has them already. Init
 * containers and sidecars stay as they are.
 */
export function podCreationPatch(
  { raw, template }: CreatedPod,
  values: ReadonlyMap<string, Resources>,
): readonly JSONPatchOperation[] {
  const { containers } = newPodSubject(template, { name: "", count: 1 });
  return containers.slice(0, raw.length).flatMap((present, index) => {
    const after = withResources(present, values.get(present.name) ?? NO_RESOURCES);
    const fields = changedFields(present, after, template.containers[index] ?? NO_RESOURCES);
    if (!hasAmounts(fields)) return [];
    const { resources } = containerResources({ name: present.name, ...fields });
    return operationsFor(`/spec/containers/${index}/resources`, raw[index]?.resources, resources);
  });
}

/**
 * Request and limit of each resource of which one differs, unless the pod was sent with the value: a request that
 * is only the default from its limit would follow a new limit.
 */
function changedFields(present: Resources, after: Resources, written: Resources): Resources {
  const changed = (side: keyof Resources) =>
    byResource((name) => {
      const isSame = RESOURCE_SIDES.every((one) => present[one][name] === after[one][name]);
      const amount = after[side][name];
      return isSame || amount === written[side][name] ? undefined : amount;
    });
  return { requests: changed("requests"), limits: changed("limits") };
}

/** Adds a missing member as a whole, and replaces the members of a present one. */
function operationsFor(
  path: string,
  present: unknown,
  value: object,
): readonly JSONPatchOperation[] {
  if (!isMembers(present)) return [{ op: "add", path, value }];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    typeof member === "object" && member !== null
      ? operationsFor(`${path}/${name}`, present[name], member)
      : [{
        op: Object.hasOwn(present, name) ? "replace" as const : "add" as const,
        path: `${path}/${name}`,
        value: member,
      }]
  );
}
