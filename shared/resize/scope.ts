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
  /** False: no pod does. */
  readonly market: boolean;
  /** `OptIn` takes only namespaces labelled `mbcas.io/managed=true`. */
  readonly managementPolicy: "OptOut" | "OptIn";
  readonly excludedNamespaces: readonly string[];
}

/** The input of the rules. */
export interface ScopeSubject extends Pick<PodInput, "pod" | "node"> {
  readonly namespace: Namespace | undefined;
  /** Those that are for the pod's workload. @default {[]} */
  readonly verticalAutoscalers?: readonly VerticalPodAutoscaler[];
  /** Those that scale the pod's workload. @default {[]} */
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
  /** The pod's workload; undefined for other kinds, and for bare pods. */
  readonly workload?: Workload | undefined;
  readonly config: ScopeSettings;
}

/** The value of the switch on a pod or namespace; where label and annotation differ, the one that opts out. */
export function managedValue(
  { metadata }: Pick<Pod | Namespace, "metadata">,
): SwitchValue | undefined {
  const label = switchValue(metadata.labels, MANAGED);
  const annotation = switchValue(metadata.annotations, MANAGED);
  return annotation === "false" ? annotation : label ?? annotation;
}

/** The reason for which a pod takes no part; undefined when the rule has nothing against it. */
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
 * The pod's value takes precedence over the namespace's. Under `OptIn` the namespace must be labelled, or the pod
 * opts in by itself where an administrator allows pods to ask for more.
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
  return { reason: "NotOptedIn", message: `${message}${whatElse(own, theirs)}` };
};

/** Why a value that opts in does not count. */
function whatElse(own: SwitchValue | undefined, theirs: SwitchValue | undefined): string {
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

/** Two controllers of one field undo each other's work: a VPA has been asked to set resources. */
const verticalAutoscaler: ScopeRule = ({ pod, verticalAutoscalers = [] }) => {
  const containers = pod.containers.map(({ name }) => name);
  const message = vpaConflict(verticalAutoscalers, { containers, resource: "cpu" });
  return message === undefined ? undefined : { reason: "VPAConflict", message };
};

/**
 * An HPA on utilization divides by the request: where the market moves it, the HPA would see an idle
 * pod in a busy one that was given more.
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

/** In their order: what people have said first, then what the platform can't, then other controllers. */
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

/** True while there is a running pod on a node, of which readings can exist. */
export function isLive({ phase, nodeName, metadata }: Pod): boolean {
  return phase === "Running" && nodeName !== "" && !metadata.terminating;
}

const BEGIN = "the original limits are back";

/**
 * The message of a status `Restored`, and of an event `CPULimitsRestored`: with the reason of the cause,
 * which `explain` looks up.
 */
export function restoredMessage({ reason, message }: OutOfScope): string {
  return `${BEGIN}: ${reason}: ${message}`;
}

/** The reason of the cause; undefined in other messages, and in those of versions that wrote none. */
export function restoredCause(message: string): string | undefined {
  return message.startsWith(BEGIN)
    ? /^: ([A-Z][A-Za-z]*): /.exec(message.slice(BEGIN.length))?.[1]
    : undefined;
}
