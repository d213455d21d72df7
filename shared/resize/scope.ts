/**
 * Which pods take part in the market.
 *
 * @module
 */
import { ALLOW_OVERRIDES, MANAGED, SKIP_GUARANTEED } from "../api/market_keys.ts";
import type { HorizontalPodAutoscaler, VerticalPodAutoscaler } from "../api/autoscalers.ts";
import type { Namespace } from "../api/namespace.ts";
import type { Pod } from "../api/pod.ts";
import type { Workload } from "../api/workload.ts";
import { dividedByRequest, heedsAutoscaler, vpaConflict } from "./checks/autoscalers.ts";
import { neverResizable } from "./checks/platform.ts";
import { movesRequest } from "./inputs/qos.ts";
import type { OutOfScope, PodInput } from "./inputs/resize_input.ts";
import { type SwitchValue, switchValue } from "../api/object.ts";

/** The settings that decide which pods take part. */
export interface ScopeSettings {
  /** False: no pod takes part. */
  readonly market: boolean;
  /** `OptIn` takes only namespaces labelled `mbcas.io/managed=true`. */
  readonly managementPolicy: "OptOut" | "OptIn";
  readonly excludedNamespaces: readonly string[];
}

/** The input of the rules. */
export interface ScopeSubject extends Pick<PodInput, "pod" | "node"> {
  readonly namespace: Namespace | undefined;
  /** VPAs of the pod's workload. @default {[]} */
  readonly verticalAutoscalers?: readonly VerticalPodAutoscaler[];
  /** HPAs of the pod's workload. @default {[]} */
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
  /** The pod's workload; undefined for other kinds, and for bare pods. */
  readonly workload?: Workload | undefined;
  readonly config: ScopeSettings;
}

/** The value of `mbcas.io/managed`; "false" where label and annotation differ. */
export function managedValue(
  { metadata }: Pick<Pod | Namespace, "metadata">,
): SwitchValue | undefined {
  const label = switchValue(metadata.labels, MANAGED);
  const annotation = switchValue(metadata.annotations, MANAGED);
  return annotation === "false" ? annotation : label ?? annotation;
}

/** Returns the reason for which a pod takes no part; undefined: none by this rule. */
type ScopeRule = (subject: ScopeSubject) => OutOfScope | undefined;

const settings: ScopeRule = ({ pod: { metadata: { namespace } }, config }) => {
  if (!config.market) {
    return { reason: "MarketOff", message: "the configuration switches the market off" };
  }
  const message = `the configuration excludes namespace ${namespace}`;
  return config.excludedNamespaces.includes(namespace)
    ? { reason: "NamespaceExcluded", message }
    : undefined;
};

/**
 * The pod's value takes precedence over the namespace's. Under `OptIn` the namespace must be labelled,
 * or the pod opts in where an administrator allows overrides.
 */
const optedOut: ScopeRule = ({ pod, namespace, config }) => {
  const own = managedValue(pod);
  const theirs = namespace === undefined ? undefined : managedValue(namespace);
  const place = `namespace ${pod.metadata.namespace}`;
  if ((own ?? theirs) === "false") {
    const where = own === undefined ? place : "the pod";
    return { reason: "OptedOut", message: `${where} says ${MANAGED}: "false"` };
  }
  const labels = namespace?.metadata.labels ?? {};
  if (config.managementPolicy === "OptOut" || labels[MANAGED] === "true") return undefined;
  if (own === "true" && labels[ALLOW_OVERRIDES] === "true") return undefined;
  const message = `${place} is not labelled ${MANAGED}=true`;
  return { reason: "NotOptedIn", message: `${message}${optInHint(own, theirs)}` };
};

/** Why a value that opts in does not count. */
function optInHint(own: SwitchValue | undefined, theirs: SwitchValue | undefined): string {
  if (own === "true") {
    return `; the pod's own ${MANAGED}: "true" counts where an administrator has labelled it ` +
      `${ALLOW_OVERRIDES}=true`;
  }
  return theirs === "true" ? ", and as an annotation it does not count" : "";
}

const notBurstable: ScopeRule = ({ pod }) => {
  const { qosClass, metadata: { annotations } } = pod;
  const leftAlone = (message: string): OutOfScope => ({ reason: "NotBurstable", message });
  if (qosClass === "Burstable") return undefined;
  if (qosClass === "BestEffort") return leftAlone("the pod is BestEffort");
  if (!movesRequest(pod)) return leftAlone("the pod is Guaranteed by resources of the whole pod");
  return switchValue(annotations, SKIP_GUARANTEED) === "false"
    ? undefined
    : leftAlone(`the pod is Guaranteed, and not annotated ${SKIP_GUARANTEED}: "false"`);
};

const noCPULimit: ScopeRule = ({ pod }) =>
  pod.containers.some(({ limits }) => limits.cpu !== undefined)
    ? undefined
    : { reason: "NoCPULimit", message: "no container has a CPU limit" };

/** A VPA and the market would undo each other's changes. */
const verticalAutoscaler: ScopeRule = ({ pod, verticalAutoscalers = [] }) => {
  const containers = pod.containers.map(({ name }) => name);
  const message = vpaConflict(verticalAutoscalers, { containers, resource: "cpu" });
  return message === undefined ? undefined : { reason: "VPAConflict", message };
};

/**
 * An HPA on utilization divides by the request. Where the market raises that, the HPA would take a busy
 * pod for an idle one.
 */
const horizontalAutoscaler: ScopeRule = ({ pod, workload, autoscalers = [] }) => {
  if (!movesRequest(pod)) return undefined;
  const acting = autoscalers.find((autoscaler) =>
    heedsAutoscaler({ pod, workload, autoscaler }) &&
    dividedByRequest(autoscaler, "cpu").length > 0
  );
  return acting && {
    reason: "HPAConflict",
    message: `HPA ${acting.metadata.name} divides the CPU usage by the request, which would move`,
  };
};

/** The rules in order: settings and labels, then the platform and the pod's spec, then autoscalers. */
const SCOPE_RULES: readonly ScopeRule[] = [
  settings,
  optedOut,
  neverResizable,
  notBurstable,
  noCPULimit,
  verticalAutoscaler,
  horizontalAutoscaler,
];

/** The first reason for which the pod takes no part; undefined when it does. */
export function outOfScope(subject: ScopeSubject): OutOfScope | undefined {
  for (const rule of SCOPE_RULES) {
    const verdict = rule(subject);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** True for a pod that runs on a node and is not terminating. */
export function isLive({ phase, nodeName, metadata }: Pod): boolean {
  return phase === "Running" && nodeName !== "" && !metadata.terminating;
}

const RESTORED = "the original limits are back";

/** The message of the status `Restored` and the event `CPULimitsRestored`, with the cause. */
export function restoredMessage({ reason, message }: OutOfScope): string {
  return `${RESTORED}: ${reason}: ${message}`;
}

/** The reason of the cause in a {@linkcode restoredMessage}; undefined in other messages. */
export function restoredCause(message: string): string | undefined {
  return message.startsWith(RESTORED)
    ? /^: ([A-Z][A-Za-z]*): /.exec(message.slice(RESTORED.length))?.[1]
    : undefined;
}
