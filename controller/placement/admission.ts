/**
 * Counts pods while their controller leads: decides where each goes and reserves its place, one after the
 * other.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import { admitPod } from "../../shared/placement/admit_pod.ts";
import type {
  PlacementDecision,
  PlacementRequest,
} from "../../shared/placement/placement_request.ts";
import {
  expire,
  noReservations,
  observeSomePods,
  type Reservation,
  type Reservations,
} from "../../shared/placement/reservations.ts";
import type { KnownWorkload, PlacementRules, ShortageOf, WebhookView } from "./ports.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import { ordinalOf } from "../../shared/placement/split.ts";
import { checkEligibility, type PlacementScope } from "../../shared/placement/eligibility.ts";
import type { PlacementSpec } from "../../shared/placement/placement_spec.ts";

/** What it counts with. */
export interface AdmissionDeciderParts {
  readonly facts: WebhookView;
  readonly rules: () => PlacementRules;
  readonly shortageOf: ShortageOf;
  readonly clock: Clock;
}

/** Times, ms. */
export interface AdmissionDeciderOptions {
  /**
   * How long a reservation counts whose pod nobody sees.
   *
   * @default {30000}
   */
  readonly reservedForMs?: number;
  /**
   * How long to wait for an owner that the copies don't know; less than API servers wait.
   *
   * @default {50}
   */
  readonly copyWithinMs?: number;
  /**
   * How long nothing is decided at the beginning: what a former leader has admitted is known only from
   * the pods, and these may be seen late.
   *
   * @default {2000}
   */
  readonly settleMs?: number;
}

/** Longer than pods are seen late, ms. */
const SETTLE_MS = 2000;

/** Counts for as long as a replica leads; the next one begins anew. */
export interface AdmissionDecider {
  /** Never throws for what the request holds. `signal` is aborted when no server waits any more. */
  decide(request: PlacementRequest, signal: AbortSignal): Promise<PlacementDecision>;
  /** Places that are reserved, of all workloads. */
  readonly reserved: number;
  /** Resolves once it decides, or the signal is aborted. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Decides nothing any more. */
  close(): void;
}

/** A counter that has reserved nothing. */
export function createAdmissionDecider(
  { facts, rules, shortageOf, clock }: AdmissionDeciderParts,
  { reservedForMs = 30_000, copyWithinMs = 50, settleMs = SETTLE_MS }: AdmissionDeciderOptions = {},
): AdmissionDecider {
  /** By UIDs of workloads; those without open reservations go when it is tidied. */
  const reserved = new Map<string, Reservations>();
  const settledAtMs = clock.monotonic() + settleMs;
  let tidyAtMs = settledAtMs;
  let closed = false;

  /** Workloads that create no more pods end, too. */
  function tidy(nowMs: number): void {
    if (nowMs < tidyAtMs) return;
    tidyAtMs = nowMs + reservedForMs;
    for (const [uid, those] of reserved) {
      const left = expire(those, nowMs);
      // Without open reservations, the next pod begins with what the copies show.
      if (left.open.length === 0) reserved.delete(uid);
      else reserved.set(uid, left);
    }
  }

  const unsubscribe = facts.onPod((pod, uid) => {
    const those = reserved.get(uid);
    // Where nothing is reserved the next request shows the pod early enough.
    if (those === undefined || those.open.length === 0) return;
    reserved.set(uid, observeSomePods(those, [pod]));
  });

  /** Without a pause from reading the reservations to the new one: no other request decides meanwhile. */
  function reserve(request: PlacementRequest): PlacementDecision {
    const { scope, readOnly } = rules();
    const gate = admissionGate(request, { facts, scope });
    if (gate.spec === undefined) return gate;
    const { workload, spec, only } = gate;
    const nowMs = clock.monotonic();
    tidy(nowMs);
    const pods = facts.podsOf(workload);
    const before = reserved.get(workload.uid) ?? noReservations(pods);
    const again = decidedBefore(request, expire(before, nowMs));
    if (again !== undefined) return decisionOf(again);
    const { reservations, ...decision } = admitPod(before, {
      workload,
      spec,
      pods,
      shortage: shortageOf(workload),
      pod: { ...request.pod, revision: request.revision },
      ...(only === undefined ? {} : { only }),
      dryRun: request.dryRun || readOnly,
      nowMs,
    }, { reservedForMs });
    reserved.set(workload.uid, reservations);
    return decisionOf(decision);
  }

  return {
    get reserved() {
      return [...reserved.values()].reduce((sum, { open }) => sum + open.length, 0);
    },
    async whenSettled(signal) {
      await clock.sleep(Math.max(0, settledAtMs - clock.monotonic()), signal);
    },
    async decide(request, signal) {
      if (clock.monotonic() < settledAtMs) return { unplaced: "LeaderUnsettled" };
      await untilKnown(request, facts, { clock, signal, withinMs: copyWithinMs });
      if (closed) return { unplaced: "NoLeader" };
      return signal.aborted ? { unplaced: "TimedOut" } : reserve(request);
    },
    close() {
      closed = true;
      unsubscribe();
    },
  };
}

/** The reservation that was made for the pod before, where it carries that decision. */
function decidedBefore(
  { decided, pod, revision }: PlacementRequest,
  { open }: Reservations,
): Reservation | undefined {
  if (decided === undefined) return undefined;
  return open.find((one) =>
    one.revision === revision && one.class === decided.class &&
    one.deletionCost === decided.deletionCost && one.pod.name === pod.name &&
    one.pod.generateName === pod.generateName
  );
}

function decisionOf(
  { class: chosen, deletionCost }: Pick<Reservation, "class" | "deletionCost">,
): PlacementDecision {
  return { class: chosen, ...(deletionCost === undefined ? {} : { deletionCost }) };
}

/** The workload with its spec, or why the pod is left alone. */
export type AdmissionGate =
  | {
    readonly workload: KnownWorkload;
    readonly spec: PlacementSpec;
    /** The one class that volumes or hosts leave to the pod; absent: both. */
    readonly only?: NodeClass;
  }
  | Extract<PlacementDecision, { readonly unplaced: unknown }> & { readonly spec?: undefined };

/** Passes the pod through the gate that the loop has, too. What is not known yet leaves it unplaced. */
export function admissionGate(
  request: PlacementRequest,
  { facts, scope }: { readonly facts: WebhookView; readonly scope: PlacementScope },
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
  const answer = checkEligibility({ kind, labels, annotations, namespace }, scope);
  if (answer.spec !== undefined) {
    const { pinned, only } = request;
    const allowed = facts.allowed(request).filter((one) => only === undefined || one === only);
    const [first] = allowed;
    if (pinned === true || first === undefined) return { unplaced: "NodesBound" };
    return { workload, spec: answer.spec, ...(allowed.length === 1 ? { only: first } : {}) };
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
  facts: WebhookView,
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
