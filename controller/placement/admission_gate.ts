/**
 * Decides from the controller's copies whether a pod may be placed.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { NodeClass } from "../../shared/placement/node_class.ts";
import { ordinalOf } from "../../shared/placement/next_class.ts";
import { placementGate, type PlacementScope } from "../../shared/placement/placement_gate.ts";
import type {
  PlacementDecision,
  PlacementRequest,
} from "../../shared/placement/placement_request.ts";
import type { PlacementWish } from "../../shared/placement/placement_wish.ts";
import type { KnownWorkload, WebhookFacts } from "./webhook_ports.ts";

/** The workload with its wish, or why the pod is left alone. */
export type AdmissionGate =
  | {
    readonly workload: KnownWorkload;
    readonly wish: PlacementWish;
    /** The one class that volumes or hosts leave to the pod; absent: both. */
    readonly only?: NodeClass;
  }
  | Extract<PlacementDecision, { readonly unplaced: unknown }> & { readonly wish?: undefined };

/** Passes the pod through the gate that the loop has, too. What is not known yet leaves it unplaced. */
export function admissionGate(
  request: PlacementRequest,
  { facts, scope }: { readonly facts: WebhookFacts; readonly scope: PlacementScope },
): AdmissionGate {
  if (!facts.synced) return { unplaced: "NotSynced" };
  const workload = facts.workloadOf(request);
  if (workload === "other") return { unplaced: "NotPlaced" };
  const words = facts.namespace(request.namespace);
  if (workload === undefined || words === undefined || isBeyond(request, workload)) {
    return { unplaced: "CopyBehind" };
  }
  const { kind, labels, annotations } = workload;
  const namespace = { name: request.namespace, words };
  const answer = placementGate({ kind, labels, annotations, namespace }, scope);
  if (answer.wish !== undefined) {
    const { bound, only } = request;
    const allowed = facts.allowed(request).filter((one) => only === undefined || one === only);
    const [first] = allowed;
    if (bound === true || first === undefined) return { unplaced: "NodesBound" };
    return { workload, wish: answer.wish, ...(allowed.length === 1 ? { only: first } : {}) };
  }
  if (answer.reason !== "ConfigurationError") return { unplaced: "NotPlaced" };
  const warning = `placement leaves the pods of ${kind} ${workload.name} as they are: ` +
    answer.message;
  return { unplaced: "ConfigurationError", warning };
}

/** How to wait. */
export interface CopyWaitOptions {
  readonly clock: Clock;
  /** Nobody waits any more. */
  readonly signal: AbortSignal;
  /** Longest wait, ms. */
  readonly withinMs: number;
}

/**
 * Waits while the copies don't know the pod's owner: the first pod of a new ReplicaSet is made in the
 * moment in which others hear of that.
 */
export async function untilKnown(
  request: PlacementRequest,
  facts: WebhookFacts,
  { clock, signal, withinMs }: CopyWaitOptions,
): Promise<void> {
  const isBehind = (): boolean => {
    const workload = facts.workloadOf(request);
    if (workload === "other") return false;
    return workload === undefined || facts.namespace(request.namespace) === undefined ||
      isBeyond(request, workload);
  };
  if (!facts.synced || signal.aborted || !isBehind()) return;
  const end = new AbortController();
  const stop = (): void => end.abort();
  const unsubscribe = facts.onChange(() => {
    if (!isBehind()) stop();
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    await clock.sleep(withinMs, end.signal);
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", stop);
  }
}

/** A StatefulSet that makes a pod beyond its last one has more replicas than the copy says. */
function isBeyond({ pod }: PlacementRequest, workload: KnownWorkload): boolean {
  const ordinal = workload.kind === "StatefulSet" ? ordinalOf(pod.name ?? "") : undefined;
  return ordinal !== undefined && ordinal >= (workload.firstOrdinal ?? 0) + workload.replicas;
}
