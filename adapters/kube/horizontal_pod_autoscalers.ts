/**
 * HorizontalPodAutoscalers on a real API server.
 *
 * @module
 */
import type {
  CPUTarget,
  HorizontalPodAutoscaler,
} from "../../shared/api/horizontal_pod_autoscaler.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import {
  type JSONObject,
  listMemberOf,
  listOf,
  memberOf,
  objectOf,
  present,
  textOf,
  wholeMemberOf,
  wholeOf,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseTime } from "./micro_time.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { ownAnnotations } from "./own_annotations.ts";
import { readOrTell } from "./partial_object.ts";
import { cpuBoundOf } from "./quantity_fields.ts";
import { parseWorkloadRef, workloadRefOrAny } from "./workload_ref_fields.ts";

/** What an HPA without `behavior` waits; source: kube-controller-manager's default flag. */
const DEFAULT_STABILIZATION_S = 300;
/** What the API server lets people set. */
const WINDOW_S = { least: 0, most: 3600 };
/** `int32`, above 0. */
const PERCENT = { least: 1, most: 2 ** 31 - 1 };

const API = "/apis/autoscaling/v2";

/** Which HorizontalPodAutoscalers. */
export interface HorizontalPodAutoscalerSelection extends ListWatchSurroundings {
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of HorizontalPodAutoscalers, by default of all. */
export function horizontalPodAutoscalerListWatch(
  connection: KubeConnection,
  { namespace, ...surroundings }: HorizontalPodAutoscalerSelection = {},
): ListWatch<HorizontalPodAutoscaler> {
  const place = namespace === undefined ? API : `${API}/namespaces/${pathPart(namespace)}`;
  return kubeListWatch(connection, {
    ...surroundings,
    path: `${place}/horizontalpodautoscalers`,
    parse: parseHorizontalPodAutoscaler,
  });
}

/** What it looks at of CPU and of shares of memory, or why that can't be read. Throws a `TypeError` without identity. */
export function parseHorizontalPodAutoscaler(raw: unknown): HorizontalPodAutoscaler {
  const { metadata, spec, status } = objectOf(raw);
  const { scaleTargetRef, behavior } = objectOf(spec);
  const { stabilizationWindowSeconds } = objectOf(objectOf(behavior).scaleDown);
  const { annotations } = objectOf(metadata);
  const blank: HorizontalPodAutoscaler = {
    metadata: { ...parseNamespacedIdentity(raw), annotations: ownAnnotations(annotations) },
    target: workloadRefOrAny(scaleTargetRef),
    cpuTargets: [],
    ...memoryTargetsOf(objectOf(spec).metrics),
    ...present("lastScaleMs", parseTime(objectOf(status).lastScaleTime)),
    stabilizationMs: 1000 *
      (wholeOf(stabilizationWindowSeconds, WINDOW_S) ?? DEFAULT_STABILIZATION_S),
  };
  return readOrTell(() => readCPU(blank, objectOf(raw)), blank);
}

function readCPU(blank: HorizontalPodAutoscaler, raw: JSONObject): HorizontalPodAutoscaler {
  const spec = memberOf(raw, "spec");
  const cpuTargets = listMemberOf(spec, "metrics").flatMap(parseTarget);
  // Whom it scales is no matter where it does not look at CPU.
  if (cpuTargets.length === 0) return blank;
  return {
    ...blank,
    target: parseWorkloadRef(spec["scaleTargetRef"], "spec.scaleTargetRef"),
    cpuTargets,
  };
}

/**
 * The market takes no part in memory, so nothing of it makes an HPA unreadable: a share that can't be
 * read is one all the same.
 */
function memoryTargetsOf(metrics: unknown): Pick<HorizontalPodAutoscaler, "memoryTargets"> {
  const memoryTargets = listOf(metrics).flatMap((raw) => {
    const { resource, containerResource } = objectOf(raw);
    const { name, target, container } = objectOf(resource ?? containerResource);
    const share = objectOf(target).averageUtilization ?? undefined;
    if (name !== "memory" || share === undefined) return [];
    return [present("container", textOf(container))];
  });
  return memoryTargets.length === 0 ? {} : { memoryTargets };
}

function parseTarget(raw: unknown): readonly CPUTarget[] {
  const { resource, containerResource } = objectOf(raw);
  const { name, target, container } = objectOf(resource ?? containerResource);
  if (name !== "cpu") return [];
  const { averageUtilization, averageValue } = memberOf({ target }, "target");
  const percent = wholeMemberOf({ averageUtilization }, "averageUtilization", PERCENT);
  const wanted = {
    ...present("utilization", percent === undefined ? undefined : percent / 100),
    ...present("value", cpuBoundOf({ averageValue }, "averageValue")),
  };
  if (Object.keys(wanted).length === 0) return [];
  return [{ ...present("container", textOf(container)), ...wanted }];
}
