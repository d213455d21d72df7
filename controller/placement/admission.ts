/**
 * Decides the class of nodes of each new pod while this replica leads, one pod after the other, and reserves a
 * place for it.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import {
  admitPod,
  expire,
  noReservations,
  observePods,
  type PodPlacement,
  type Reservations,
} from "../../shared/placement/admit_pod.ts";
import { checkEligibility, type PlacementSpec } from "../../shared/placement/eligibility.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import { namesClass } from "../../shared/placement/node_constraints.ts";
import type { PlacementDecision, PlacementRequest } from "../../shared/placement/new_pod.ts";
import type { ReplicaStatus } from "../../shared/placement/decide_move.ts";
import {
  isReadOnly,
  placementScope,
  type PlacementSettings,
} from "../../shared/placement/settings.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";
import { ordinalOf } from "../../shared/placement/split.ts";
import { eligibilityInput, replicaStatus } from "./workload_snapshot.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { WebhookView } from "./caches.ts";

/** The dependencies of the decider. */
export interface AdmissionDeciderParts {
  readonly view: WebhookView;
  readonly settings: () => PlacementSettings;
  /** Whether spot nodes are short for the workload with this UID. */
  readonly shortageOf: (uid: string) => ShortagePhase;
  readonly clock: Clock;
}

/** How long to wait for an owner that the caches don't have yet, ms; shorter than API servers wait. */
const OWNER_WITHIN_MS = 50;
/** Between two collections of reservations, ms. */
const COLLECT_EVERY_MS = 30_000;
/**
 * How long to wait before the first decision, ms: admissions of the former leader are known only from their pods,
 * and caches may lag.
 */
const SETTLE_MS = 2000;

/** Decides during one term of leadership; the next term begins without reservations. */
export interface AdmissionDecider {
  /** Never throws because of the request's content. `signal` is aborted once the server waits no more. */
  decide(request: PlacementRequest, signal: AbortSignal): Promise<PlacementDecision>;
  /** Resolves once it decides, or the signal is aborted. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Ends the decisions. */
  close(): void;
}

/** A decider without reservations. */
export function createAdmissionDecider(
  { view, settings, shortageOf, clock }: AdmissionDeciderParts,
): AdmissionDecider {
  /** By UIDs of workloads. */
  const reserved = new Map<string, Reservations>();
  const settledAtMs = clock.monotonic() + SETTLE_MS;
  let collectAtMs = settledAtMs;
  let closed = false;

  /** Deletes the reservations of workloads that create no more pods. */
  function collect(nowMs: number): void {
    if (nowMs < collectAtMs) return;
    collectAtMs = nowMs + COLLECT_EVERY_MS;
    for (const [uid, reservations] of reserved) {
      // Without open reservations, the next admission counts the pods of the caches alone.
      if (expire(reservations, nowMs).open.length === 0) reserved.delete(uid);
    }
  }

  const unsubscribe = view.onPod((pod, uid) => {
    const reservations = reserved.get(uid);
    // Without open reservations, it is enough that the next request observes the pod.
    if (reservations === undefined || reservations.open.length === 0) return;
    reserved.set(uid, observePods(reservations, [pod]));
  });

  /** Synchronous, so that no other request decides in between. */
  function reserve(request: PlacementRequest): PlacementDecision {
    const gate = admissionGate(request, { view, settings });
    if ("unplaced" in gate) return gate;
    const { workload, replicas, spec, only } = gate;
    const { uid } = workload.metadata;
    const nowMs = clock.monotonic();
    collect(nowMs);
    const pods = view.podsOf(workload);
    const before = reserved.get(uid) ?? noReservations(pods);
    const earlier = decidedBefore(request, expire(before, nowMs));
    if (earlier !== undefined) return earlier;
    const { reservations, ...decision } = admitPod(before, {
      workload: replicas,
      spec,
      pods,
      shortage: shortageOf(uid),
      pod: { ...request.pod, revision: request.revision },
      ...(only === undefined ? {} : { only }),
      dryRun: request.dryRun || isReadOnly(settings()),
      nowMs,
    });
    reserved.set(uid, reservations);
    return decision;
  }

  return {
    async whenSettled(signal) {
      await clock.sleep(Math.max(0, settledAtMs - clock.monotonic()), signal);
    },
    async decide(request, signal) {
      if (clock.monotonic() < settledAtMs) return { unplaced: "LeaderUnsettled" };
      await untilKnown(request, { view, settings, clock, signal });
      if (closed) return { unplaced: "NoLeader" };
      return signal.aborted ? { unplaced: "TimedOut" } : reserve(request);
    },
    close() {
      closed = true;
      unsubscribe();
    },
  };
}

/** Waits until the caches have the pod's owner: a new ReplicaSet creates its first pod at once. */
async function untilKnown(
  request: PlacementRequest,
  { view, settings, clock, signal }: Omit<AdmissionDeciderParts, "shortageOf"> & {
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const isBehind = (): boolean => {
    const gate = admissionGate(request, { view, settings });
    return "unplaced" in gate && gate.unplaced === "CopyBehind";
  };
  if (signal.aborted || !isBehind()) return;
  const known = new AbortController();
  const unwatch = view.onChange(() => {
    if (!isBehind()) known.abort();
  });
  try {
    await clock.sleep(OWNER_WITHIN_MS, AbortSignal.any([signal, known.signal]));
  } finally {
    unwatch();
  }
}

/** The decision that the pod carries, if an earlier request reserved a place by it. */
function decidedBefore(
  { decided, pod }: PlacementRequest,
  { open }: Reservations,
): PodPlacement | undefined {
  const isReserved = open.some((one) =>
    one.class === decided?.class && one.deletionCost === decided.deletionCost &&
    one.pod.name === pod.name && one.pod.generateName === pod.generateName
  );
  return isReserved ? decided : undefined;
}

/** The workload and its spec, or why the pod is not placed. */
type AdmissionGate = Extract<PlacementDecision, { readonly unplaced: unknown }> | {
  readonly workload: Workload;
  readonly replicas: ReplicaStatus;
  readonly spec: PlacementSpec;
  /** The one class that volumes, hosts or pools leave to the pod; absent: both. */
  readonly only?: NodeClass;
};

/** Checks from the caches whether a pod may be placed, by the same rules as the loop. */
function admissionGate(
  request: PlacementRequest,
  { view, settings }: Pick<AdmissionDeciderParts, "view" | "settings">,
): AdmissionGate {
  if (!view.synced) return { unplaced: "NotSynced" };
  const workload = view.workloadOf(request);
  if (workload === "other") return { unplaced: "NotPlaced" };
  const replicas = workload && replicaStatus(workload);
  const namespace = view.namespace(request.namespace);
  if (
    workload === undefined || replicas === undefined || isBeyond(request, replicas) ||
    namespace === undefined
  ) return { unplaced: "CopyBehind" };
  const answer = checkEligibility(
    eligibilityInput(workload, namespace),
    placementScope(settings()),
  );
  if (answer.spec !== undefined) {
    const [first, second] = view.allowed(request);
    // A pod that selects a class itself needs no placement.
    if (first === undefined || namesClass(request.constraints, settings().nodeClassifier)) {
      return { unplaced: "NodesBound" };
    }
    const only = second === undefined ? { only: first } : {};
    return { workload, replicas, spec: answer.spec, ...only };
  }
  if (answer.reason !== "ConfigurationError") return { unplaced: "NotPlaced" };
  const { kind, metadata: { name } } = workload;
  const warning = `placement leaves the pods of ${kind} ${name} as they are: ${answer.message}`;
  return { unplaced: "ConfigurationError", warning };
}

/** True for an ordinal beyond the replicas in the cache: the StatefulSet has been scaled up. */
function isBeyond(
  { pod }: PlacementRequest,
  { kind, firstOrdinal = 0, replicas }: ReplicaStatus,
): boolean {
  const ordinal = kind === "StatefulSet" ? ordinalOf(pod.name ?? "") : undefined;
  return ordinal !== undefined && ordinal >= firstOrdinal + replicas;
}
