/**
 * Templates of Deployments, StatefulSets and DaemonSets on a real API server.
 *
 * @module
 */
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { TemplateContainer, WorkloadTemplate } from "../../shared/api/workload_template.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import type { KubeConnection } from "./connection.ts";
import {
  type JSONObject,
  listMemberOf,
  memberOf,
  objectOf,
  present,
  wholeMemberOf,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { readOrTell } from "./partial_object.ts";
import { parseContainer } from "./pod_container_fields.ts";
import { workloadCollection } from "./workloads.ts";

/** Which templates. */
export interface TemplateSelection extends ListWatchSurroundings {
  readonly kind: WorkloadKind;
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of the workloads of a kind with their templates, by default of all namespaces. */
export function workloadTemplateListWatch(
  connection: KubeConnection,
  { kind, namespace, ...surroundings }: TemplateSelection,
): ListWatch<WorkloadTemplate> {
  return kubeListWatch(connection, {
    ...surroundings,
    path: workloadCollection(kind, namespace),
    parse: (raw) => parseWorkloadTemplate(raw, kind),
  });
}

/** The template, or why it can't be read. Throws a `TypeError` without identity. */
export function parseWorkloadTemplate(raw: unknown, kind: WorkloadKind): WorkloadTemplate {
  const metadata = parseNamespacedIdentity(raw);
  const blank: WorkloadTemplate = { kind, metadata, replicas: 0, containers: [] };
  return readOrTell(
    () => ({
      ...blank,
      replicas: replicasOf(objectOf(raw), kind),
      containers: containersOf(memberOf(memberOf(objectOf(raw), "spec"), "template")),
    }),
    blank,
  );
}

/** A DaemonSet's spec has no number: its controller counts the nodes. */
function replicasOf(raw: JSONObject, kind: WorkloadKind): number {
  return kind === "DaemonSet"
    ? wholeMemberOf(memberOf(raw, "status"), "desiredNumberScheduled") ?? 0
    : wholeMemberOf(memberOf(raw, "spec"), "replicas") ?? 1;
}

function containersOf(template: JSONObject): readonly TemplateContainer[] {
  const spec = memberOf(template, "spec");
  const sidecars = listMemberOf(spec, "initContainers")
    .filter((one) => objectOf(one).restartPolicy === "Always");
  return [
    ...listMemberOf(spec, "containers").map((one) => containerOf(one, false)),
    ...sidecars.map((one) => containerOf(one, true)),
  ];
}

/**
 * What is limited and has no request gets the limit for one: the server writes that into pods, and
 * leaves templates as they are.
 */
function containerOf(raw: unknown, sidecar: boolean): TemplateContainer {
  const { name, requestCPU, limitCPU, requestMemory, limitMemory } = parseContainer({
    spec: raw,
    status: undefined,
    limitManagers: undefined,
  });
  return {
    name,
    sidecar,
    ...present("requestCPU", requestCPU ?? limitCPU),
    ...present("limitCPU", limitCPU),
    ...present("requestMemory", requestMemory ?? limitMemory),
    ...present("limitMemory", limitMemory),
  };
}
