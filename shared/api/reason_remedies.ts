/**
 * What a person can do about each reason word. One list for the command line and the docs; a new word
 * without a remedy does not compile.
 *
 * @module
 */
import type { EnforcementReason, MarketReason } from "./reason.ts";

/** Sentences without a period, to be read after the reason's own; empty: nothing to do. */
export const REASON_REMEDIES: Readonly<Record<MarketReason | EnforcementReason, string>> = {
  FirstClearing: "",
  Throttled: "",
  DemandRose: "",
  DemandFell: "",
  LoanGiven: "",
  LoanTakenBack: "",
  FundsRaise: "",
  NodeCongested: "a larger request or priority gives a larger share; so does a less busy node",
  NodeOverloaded: "move pods away from the node, or lower their requests",
  FloorRose: "",
  CeilingFell: "",
  Applied: "",
  Waiting: "if it lasts, look at the node's agent: kubectl -n mbcas-system get pods -o wide",
  PodGone: "",
  IdentityMismatch: "delete the allocation: the controller makes a new one",
  MarketOff: "set market.enabled to on in ConfigMap mbcas-config of mbcas-system",
  OptedOut: "to opt in, remove mbcas.io/managed from pod and namespace (label and annotation)",
  NamespaceExcluded: "to take it in, change market.excludedNamespaces in ConfigMap mbcas-config",
  NotOptedIn: "to opt in, label the namespace mbcas.io/managed=true",
  NotBurstable: "to take part, a pod needs a CPU request below its CPU limit",
  NoCPULimit: "to take part, a container needs a CPU limit",
  AgentSilent: "look at the node's agent: kubectl -n mbcas-system get pods -o wide",
  BoundsStale: "if it lasts, look at the node's agent: kubectl -n mbcas-system get pods -o wide",
  OutsideBounds: "if it lasts, agent and controller differ in version",
  NotRunning: "",
  ResizeUnsupported:
    "it takes resizePolicy NotRequired for cpu, and a node whose kubelet is 1.33 or newer",
  QoSWouldChange: "a CPU limit above the request in one container, or another memory limit, helps",
  LimitRange: "change the namespace's LimitRange, or recreate pods that are older than it",
  QuotaExceeded: "raise limits.cpu of the namespace's ResourceQuota",
  ResizeInProgress: "if it lasts, look at the pod's conditions: kubectl describe pod",
  ResizeDeferred: "the kubelet tries again by itself; the pod's conditions say what it waits for",
  ResizeInfeasible: "the pod's conditions say why: kubectl describe pod",
  ResizeError: "the pod's conditions say why: kubectl describe pod",
  BackOff: "",
  RateLimited: "if it lasts, raise --max-resizes-per-second of the controller",
  Refused: "the message is the API server's",
  NodeCapacity: "the node has no room for the limit's request",
  AdmissionDenied: "exempt patches of pods/resize by mbcas-controller in the policy",
  DryRun:
    "set controller.dryRun to false in ConfigMap mbcas-config; where the component dry-run is " +
    "in the overlay, take it out: its variable stands over the ConfigMap",
  Restored: "",
  RestoreBlocked: "make room in the quota or LimitRange that the message names; it is tried again",
  OriginalUnknown: "recreate the pod, or set its limits with kubectl coalloc resize",
};

const REMEDIES: ReadonlyMap<string, string> = new Map(Object.entries(REASON_REMEDIES));

/** What can be done about a reason; undefined for nothing, and for a word that is not known. */
export function remedyFor(reason: string): string | undefined {
  return REMEDIES.get(reason) || undefined;
}
