/**
 * VerticalPodAutoscalers on a real API server, whether it knows the kind or not.
 *
 * @module
 */
import { PUBLISHED_LABEL } from "../../shared/actuation/methods/published_vpa.ts";
import { TEMPLATE_MANAGER } from "../../shared/actuation/methods/template_patch.ts";
import type { CPUPolicy, VerticalPodAutoscaler } from "../../shared/api/vertical_pod_autoscaler.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import {
  type JSONObject,
  jsonText,
  listMemberOf,
  listOf,
  memberOf,
  objectOf,
  textOf,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { optionalKind } from "./optional_kind.ts";
import { readOrTell } from "./partial_object.ts";
import { parseWorkloadRef, workloadRefOrAny } from "./workload_ref_fields.ts";

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

/** Whose resources it sets, or why that can't be read. Throws a `TypeError` without identity. */
export function parseVerticalPodAutoscaler(raw: unknown): VerticalPodAutoscaler {
  const { targetRef } = objectOf(objectOf(raw).spec);
  const blank: VerticalPodAutoscaler = {
    metadata: parseNamespacedIdentity(raw),
    target: workloadRefOrAny(targetRef),
    updateMode: "Off",
  };
  return readOrTell(() => readActing(blank, objectOf(raw)), blank);
}

function readActing(blank: VerticalPodAutoscaler, raw: JSONObject): VerticalPodAutoscaler {
  const spec = memberOf(raw, "spec");
  const updateMode = modeOf(memberOf(spec, "updatePolicy"));
  // One that does nothing does it to nobody, whatever else it says.
  if (updateMode === "Off") return isPublished(raw) ? { ...blank, published: true } : blank;
  const cpuPolicies = cpuPoliciesOf(spec);
  return {
    ...blank,
    target: parseWorkloadRef(spec["targetRef"], "spec.targetRef"),
    updateMode,
    ...(cpuPolicies.length === 0 ? {} : { cpuPolicies }),
  };
}

/** By two marks of this product: others may set either. */
function isPublished({ metadata, spec }: JSONObject): boolean {
  const { recommenders } = objectOf(spec);
  return objectOf(objectOf(metadata).labels)[PUBLISHED_LABEL.name] === PUBLISHED_LABEL.value &&
    listOf(recommenders).some((one) => objectOf(one).name === TEMPLATE_MANAGER);
}

/** Without a policy it acts. Source: VPA's API, "If not specified, all fields … default values". */
function modeOf({ updateMode }: JSONObject): string {
  const mode = updateMode ?? "";
  if (typeof mode === "string") return mode === "" ? "Auto" : mode;
  throw new TypeError(`Cannot read an object of the API: updateMode is ${jsonText(mode)}`);
}

/** A container without a policy counts as controlled. */
function cpuPoliciesOf(spec: JSONObject): readonly CPUPolicy[] {
  const policies = listMemberOf(memberOf(spec, "resourcePolicy"), "containerPolicies");
  return policies.flatMap((raw): CPUPolicy[] => {
    const policy = memberOf({ policy: raw }, "policy");
    const { containerName, mode, controlledResources, startupBoost } = policy;
    const container = textOf(containerName);
    if (container === undefined) return [];
    const cpu = (controlledResources ?? undefined) === undefined ||
      listMemberOf(policy, "controlledResources").includes("cpu");
    // A boost is of CPU, whatever the policy says of the time after it.
    const boosts = (startupBoost ?? spec["startupBoost"] ?? undefined) !== undefined;
    return [{ container, controlled: boosts || (mode !== "Off" && cpu) }];
  });
}
