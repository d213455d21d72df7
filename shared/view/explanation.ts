/**
 * Explains a pod's limit as plain data, from what each part of the product reports. Pure.
 *
 * @module
 */
import type { HorizontalPodAutoscaler, VerticalPodAutoscaler } from "../api/autoscalers.ts";
import type { Node } from "../api/node.ts";
import type { Workload } from "../api/workload.ts";
import type { Namespace } from "../api/namespace.ts";
import type { Pod, PodContainer, ResizeCondition } from "../api/pod.ts";
import type {
  BoundRule,
  Bounds,
  ContainerBounds,
  Desired,
  PodAllocation,
  PodAllocationStatus,
} from "../api/pod_allocation.ts";
import { remedyFor } from "../api/reasons/reasons.ts";
import { defined, mapDefined } from "../defined.ts";
import { parseCPUBound } from "../quantity.ts";
import type { OutOfScope } from "../resize/inputs/resize_input.ts";
import { outOfScope, type ScopeSettings } from "../resize/scope.ts";
import type { ContainerView, NodeView, PodView } from "./node_view.ts";
import { type TopNode, topNode } from "./top_view.ts";
import { recordedLimitsOf } from "../resize/original_limits.ts";

/** One container. CPU in millicores; absent where unknown. */
export interface ContainerExplanation {
  readonly name: string;
  readonly sidecar: boolean;
  readonly request?: number;
  /** In the pod's spec. */
  readonly limit?: number;
  /** As the kubelet reports it. */
  readonly applied?: number;
  /** The original limit, from before the first change. */
  readonly originalLimit?: number;
  /** The market's desired limit. */
  readonly desired?: number;
  readonly bounds?: ContainerBounds;
  /** The agent's current view. */
  readonly view?: ContainerView;
}

/** The controller's result for the last desired limits that it has checked. */
export interface ControllerExplanation extends
  Pick<
    PodAllocationStatus,
    "phase" | "reason" | "message" | "observedGeneration" | "lastAppliedTime"
  > {
  /** Time since the kubelet applied the last change, ms; absent when no time is recorded. */
  readonly appliedAgeMs?: number;
}

/** The pod's bounds: revision, reasons, and the rules that set them. */
export interface ExplainedBounds extends Pick<Bounds, "revision" | "reason"> {
  /** Each with its remedy; absent in an allocation of an older version. */
  readonly rules?: readonly (BoundRule & { readonly remedy?: string })[];
}

/** Everything that is known of a pod's limit. */
export interface Explanation {
  readonly namespace: string;
  readonly pod: string;
  readonly node: string;
  readonly phase: Pod["phase"];
  readonly terminating: boolean;
  readonly qosClass: Pod["qosClass"];
  /** Why the pod takes no part; absent when it does. */
  readonly outside?: OutOfScope;
  /** False while the controller has made no allocation for the pod. */
  readonly hasAllocation: boolean;
  /** The market's desired limit of the whole pod. */
  readonly desired?: number;
  /** The figures of the last clearing that was published. */
  readonly market?: NonNullable<Desired["market"]>;
  readonly bounds?: ExplainedBounds;
  readonly nodeView?: TopNode;
  readonly cpuPressure?: NonNullable<PodView["cpuPressure"]>;
  readonly controller?: ControllerExplanation;
  readonly resizeConditions: readonly ResizeCondition[];
  readonly containers: readonly ContainerExplanation[];
  /** A sentence for each part that could not be read. */
  readonly problems: readonly string[];
}

/** Other objects that decide whether a pod takes part; undefined where the user may not read them. */
export interface ScopeInput {
  /** VPAs of the pod's workload. */
  readonly verticalAutoscalers?: readonly VerticalPodAutoscaler[];
  /** HPAs of a Guaranteed pod's workload. */
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
  /** The workload that the HPAs scale; undefined for other kinds, too. */
  readonly workload?: Workload;
  /** The pod's node; undefined where it is not known. */
  readonly node?: Node;
}

/** The objects that an explanation is made from. */
export interface ExplanationInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  readonly settings: ScopeSettings;
  /** Further objects that decide whether the pod takes part. */
  readonly scopeInput?: ScopeInput;
  readonly allocation: PodAllocation | undefined;
  /** The view of the pod's node, where an agent answered. */
  readonly nodeView: NodeView | undefined;
  readonly problems: readonly string[];
  /** The only container to explain; undefined: all. */
  readonly container: string | undefined;
  /** Wall-clock time, ms. */
  readonly nowMs: number;
}

/** Combines all that is known of the pod. */
export function explanationOf(input: ExplanationInput): Explanation {
  const { pod, namespace, settings, scopeInput, allocation, nodeView, problems, container } = input;
  const { spec, status } = allocation ?? {};
  const outside = outOfScope({ pod, namespace, config: settings, ...scopeInput });
  const podView = nodeView?.pods.find(({ uid }) => uid === pod.metadata.uid);
  const parts = { allocation, podView };
  return defined({
    namespace: pod.metadata.namespace,
    pod: pod.metadata.name,
    node: pod.nodeName,
    phase: pod.phase,
    terminating: pod.metadata.terminating,
    qosClass: pod.qosClass,
    outside,
    hasAllocation: allocation !== undefined,
    desired: mapDefined(spec?.desiredCPULimit, parseCPUBound),
    market: spec?.market,
    bounds: mapDefined(status?.bounds, boundsOf),
    nodeView: mapDefined(nodeView, (view) => topNode(view, input.nowMs)),
    cpuPressure: podView?.cpuPressure,
    controller: mapDefined(status, (one) => controllerOf(one, input.nowMs)),
    resizeConditions: pod.resizeConditions,
    containers: pod.containers.filter(({ name }) => container === undefined || name === container)
      .map((one) => containerOf(one, parts)),
    problems,
  });
}

function boundsOf({ revision, reason, rules }: Bounds): ExplainedBounds {
  const explained = rules?.map((rule) => defined({ ...rule, remedy: remedyFor(rule.reason) }));
  return defined({ revision, reason, rules: explained });
}

function controllerOf(status: PodAllocationStatus, nowMs: number): ControllerExplanation {
  const { phase, reason, message, observedGeneration, lastAppliedTime } = status;
  const ageMs = nowMs - Date.parse(lastAppliedTime ?? "");
  return {
    ...{ phase, reason, message, observedGeneration, lastAppliedTime },
    ...(Number.isFinite(ageMs) ? { appliedAgeMs: Math.max(0, ageMs) } : {}),
  };
}

function containerOf(
  { name, sidecar, requests, limits, applied }: PodContainer,
  { allocation, podView }: {
    readonly allocation: PodAllocation | undefined;
    readonly podView: PodView | undefined;
  },
): ContainerExplanation {
  const hasName = (one: { readonly name: string }): boolean => one.name === name;
  const { spec, status } = allocation ?? {};
  return defined({
    name,
    sidecar,
    request: requests.cpu,
    limit: limits.cpu,
    applied: applied.limits.cpu,
    originalLimit: recordedLimitsOf(allocation)?.get(name),
    desired: mapDefined(spec?.containers?.find(hasName)?.cpuLimit, parseCPUBound),
    bounds: status?.bounds?.containers.find(hasName),
    view: podView?.containers.find(hasName),
  });
}

/** Millicores; absent where unknown. */
export interface DemandAndLimit {
  readonly demand?: number | undefined;
  readonly limit?: number | undefined;
}

/** Demand up to this share above the limit counts as covered. */
const TOLERANCE = 0.01;

/** True when the demand is more than the limit allows; undefined when that is not known. */
export function exceeds({ demand, limit }: DemandAndLimit): boolean | undefined {
  return demand === undefined || limit === undefined ? undefined : demand > limit * (1 + TOLERANCE);
}

/** The container's demand, and its limit as the kubelet reports it, or else as the spec has it. */
export function demandAndLimit({ view, applied, limit }: ContainerExplanation): DemandAndLimit {
  return { demand: view?.demand, limit: applied ?? limit };
}

/** Demand and limit of each container with an enforced limit; of the whole pod where no agent answers. */
export function demandsAndLimits(
  { containers, nodeView, market, desired }: Explanation,
): readonly DemandAndLimit[] {
  if (nodeView === undefined) return [{ demand: market?.demand, limit: desired }];
  return containers.filter((one) => takesPart(one) && !isUnenforced(one)).map(demandAndLimit);
}

/** True where controller or agent know the container: the market moves no other limit. */
export function takesPart({ bounds, view }: ContainerExplanation): boolean {
  return bounds !== undefined || view !== undefined;
}

/** True where the agent has found that the kernel enforces no limit for the container. */
export function isUnenforced({ view }: ContainerExplanation): boolean {
  return view?.quotaOff === true;
}
