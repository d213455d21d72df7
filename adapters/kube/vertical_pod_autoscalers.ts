/**
 * VerticalPodAutoscalers on a real API server, whether it knows the kind or not.
 *
 * @module
 */
import type { VerticalPodAutoscaler } from "../../shared/api/vertical_pod_autoscaler.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { objectOf, textOf } from "./json_fields.ts";
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
  const { targetRef, updatePolicy } = objectOf(objectOf(raw).spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    target: parseWorkloadRef(targetRef, "spec.targetRef"),
    // Without a policy it acts. Source: VPA's API, "If not specified, all fields … default values".
    updateMode: textOf(objectOf(updatePolicy).updateMode) ?? "Auto",
  };
}
