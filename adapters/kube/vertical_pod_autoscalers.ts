/**
 * VerticalPodAutoscalers on a real API server, whether it knows the kind or not.
 *
 * @module
 */
import type { CPUPolicy, VerticalPodAutoscaler } from "../../shared/api/vertical_pod_autoscaler.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { type JSONObject, listOf, objectOf, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { optionalKind } from "./optional_kind.ts";
import { parseWorkloadRef } from "./workload_ref_fields.ts";

const API = "/apis/autoscaling.k8s.io/v1";

/** Which VerticalPodAutoscalers. */
export interface VerticalPodAutoscalerSelection extends ListWatchSurroundings {
  readonly clock: Clock;
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of VerticalPodAutoscalers, by default of all; none where nobody defined the kind. */
export function verticalPodAutoscalerListWatch(
  connection: KubeConnection,
  { clock, namespace, ...surroundings }: VerticalPodAutoscalerSelection,
): ListWatch<VerticalPodAutoscaler> {
  const place = namespace === undefined ? API : `${API}/namespaces/${pathPart(namespace)}`;
  const source = kubeListWatch(connection, {
    ...surroundings,
    path: `${place}/verticalpodautoscalers`,
    parse: parseVerticalPodAutoscaler,
  });
  return optionalKind(source, clock);
}

/** Whose resources it sets. Throws a `TypeError` that names what can't be read. */
export function parseVerticalPodAutoscaler(raw: unknown): VerticalPodAutoscaler {
  const spec = objectOf(objectOf(raw).spec);
  const { targetRef, updatePolicy } = spec;
  const cpuPolicies = cpuPoliciesOf(spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    target: parseWorkloadRef(targetRef, "spec.targetRef"),
    // Without a policy it acts. Source: VPA's API, "If not specified, all fields … default values".
    updateMode: textOf(objectOf(updatePolicy).updateMode) ?? "Auto",
    ...(cpuPolicies.length === 0 ? {} : { cpuPolicies }),
  };
}

/** What can't be read excuses nobody: a container without a policy counts as controlled. */
function cpuPoliciesOf({ resourcePolicy, startupBoost }: JSONObject): readonly CPUPolicy[] {
  return listOf(objectOf(resourcePolicy).containerPolicies).flatMap((raw): CPUPolicy[] => {
    const policy = objectOf(raw);
    const container = textOf(policy.containerName);
    if (container === undefined) return [];
    const { mode, controlledResources } = policy;
    const cpu = !Array.isArray(controlledResources) || controlledResources.includes("cpu");
    // A boost is of CPU, whatever the policy says of the time after it.
    const boosts = (policy.startupBoost ?? startupBoost ?? undefined) !== undefined;
    return [{ container, controlled: boosts || (mode !== "Off" && cpu) }];
  });
}
