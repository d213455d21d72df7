/**
 * Decides for each new pod which class of nodes it goes to, while this replica leads, and reserves its
 * place. Decisions are made one after the other.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import {
  admitPod,
  expire,
  noReservations,
  observeSomePods,
  type Reservation,
  type Reservations,
} from "../../shared/placement/admit_pod.ts";
import {
  checkEligibility,
  type PlacementScope,
  type PlacementSpec,
} from "../../shared/placement/eligibility.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import type { NodeRules } from "../../shared/placement/placed_pod.ts";
import type { PlacementDecision, PlacementRequest } from "../../shared/placement/new_pod.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";
import { ordinalOf } from "../../shared/placement/split.ts";
import type { KnownWorkload, WebhookView } from "./caches.ts";

/** The settings of admission, as they are now. */
export interface PlacementRules extends NodeRules {
  readonly scope: PlacementScope;
  /** True: decisions are reported, and nothing is changed. */
  readonly readOnly: boolean;
}

/** Returns whether spot nodes are short for a workload. */
export type ShortageOf = (workload: KnownWorkload) => ShortagePhase;

/** The dependencies of the decider. */
export interface AdmissionDeciderParts {
  readonly view: WebhookView;
  readonly rules: () => PlacementRules;
  readonly shortageOf: ShortageOf;
  readonly clock: Clock;
}

/** How long to wait for an owner that the caches don't have yet, ms; shorter than API servers wait. */
const COPY_WITHIN_MS = 50;
/** Between two collections of reservations, ms. */
const COLLECT_EVERY_MS = 30_000;

/** Times, ms. */
export interface AdmissionDeciderOptions {
  /**
   * How long nothing is decided at first: admissions of the former leader are known only from their pods,
   * and caches may lag.
   *
   * @default {2000}
   */
  readonly settleMs?: number;
}

/** Decides during one term of leadership; the next term begins without reservations. */
export interface AdmissionDecider {
  /** Never throws because of the request's content. `signal` is aborted once the server waits no more. */
  decide(request: PlacementRequest, signal: AbortSignal): Promise<PlacementDecision>;
  /** Reserved places of all workloads. */
  readonly reserved: number;
  /** Resolves once it decides, or the signal is aborted. */
  whenSettled(signal: AbortSignal): Promise<void>;
  /** Decides nothing any more. */
  close(): void;
}

/** A decider without reservations. */
export function createAdmissionDecider(
  { view, rules, shortageOf, clock }: AdmissionDeciderParts,
  { settleMs = 2000 }: AdmissionDeciderOptions = {},
): AdmissionDecider {
  /** By UIDs of workloads. */
  const reserved = new Map<string, Reservations>();
  const settledAtMs = clock.monotonic() + settleMs;
  let collectAtMs = settledAtMs;
  let closed = false;

  /** Garbage collects: workloads that create no more pods come to an end, too. */
  function collect(nowMs: number): void {
    if (nowMs < collectAtMs) return;
    collectAtMs = nowMs + COLLECT_EVERY_MS;
    for (const [uid, those] of reserved) {
      const left = expire(those, nowMs);
      // Without open reservations, the next pod begins with what the caches show.
      if (left.open.length === 0) reserved.delete(uid);
      else reserved.set(uid, left);
    }
  }

  const unsubscribe = view.onPod((pod, uid) => {
    const those = reserved.get(uid);
    // Without reservations the next request observes the pod early enough.
    if (those === undefined || those.open.length === 0) return;
    reserved.set(uid, observeSomePods(those, [pod]));
  });

  /** Synchronous, so that no other request decides in between. */
  function reserve(request: PlacementRequest): PlacementDecision {
    const { scope, readOnly } = rules();
    const gate = admissionGate(request, { view, scope });
    if (gate.spec === undefined) return gate;
    const { workload, spec, only } = gate;
    const nowMs = clock.monotonic();
    collect(nowMs);
    const pods = view.podsOf(workload);
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
    });
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
      await untilKnown(request, view, { clock, signal });
      if (closed) return { unplaced: "NoLeader" };
      return signal.aborted ? { unplaced: "TimedOut" } : reserve(request);
    },
    close() {
      closed = true;
      unsubscribe();
    },
  };
}

/** The reservation of an earlier request about this pod, if the pod carries that decision. */
function decidedBefore(
  { decided, pod, revision }: PlacementRequest,
  { open }: Reservations,
): Reservation | undefined {
  return decided && open.find((one) =>
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

/** The workload and its spec, or why the pod is not placed. */
type AdmissionGate =
  | {
    readonly workload: KnownWorkload;
    readonly spec: PlacementSpec;
    /** The one class that volumes or hosts leave to the pod; absent: both. */
    readonly only?: NodeClass;
  }
  | Extract<PlacementDecision, { readonly unplaced: unknown }> & { readonly spec?: undefined };

/** Checks from the caches whether a pod may be placed, by the same rules as the loop. */
function admissionGate(
  request: PlacementRequest,
  { view, scope }: { readonly view: WebhookView; readonly scope: PlacementScope },
): AdmissionGate {
  if (!view.synced) return { unplaced: "NotSynced" };
  const workload = view.workloadOf(request);
  if (workload === "other") return { unplaced: "NotPlaced" };
  const metadata = view.namespace(request.namespace);
  if (workload === undefined || metadata === undefined || isBeyond(request, workload)) {
    return { unplaced: "CopyBehind" };
  }
  const { kind, labels, annotations } = workload;
  const namespace = { name: request.namespace, metadata };
  const answer = checkEligibility({ kind, labels, annotations, namespace }, scope);
  if (answer.spec !== undefined) {
    const { pinned, only } = request;
    const allowed = view.allowed(request).filter((one) => only === undefined || one === only);
    const [first] = allowed;
    if (pinned === true || first === undefined) return { unplaced: "NodesBound" };
    return { workload, spec: answer.spec, ...(allowed.length === 1 ? { only: first } : {}) };
  }
  if (answer.reason !== "ConfigurationError") return { unplaced: "NotPlaced" };
  const warning = `placement leaves the pods of ${kind} ${workload.name} as they are: ` +
    answer.message;
  return { unplaced: "ConfigurationError", warning };
}

/** Waits until the caches have the pod's owner: a new ReplicaSet creates its first pod at once. */
async function untilKnown(
  request: PlacementRequest,
  view: WebhookView,
  { clock, signal }: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const isBehind = (): boolean => {
    const workload = view.workloadOf(request);
    if (workload === "other") return false;
    return workload === undefined || view.namespace(request.namespace) === undefined ||
      isBeyond(request, workload);
  };
  if (!view.synced || signal.aborted || !isBehind()) return;
  const end = new AbortController();
  const stop = (): void => end.abort();
  const unsubscribe = view.onChange(() => {
    if (!isBehind()) stop();
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    await clock.sleep(COPY_WITHIN_MS, end.signal);
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", stop);
  }
}

/** True for an ordinal beyond the replicas in the cache: the StatefulSet has been scaled up. */
function isBeyond({ pod }: PlacementRequest, workload: KnownWorkload): boolean {
  const ordinal = workload.kind === "StatefulSet" ? ordinalOf(pod.name ?? "") : undefined;
  return ordinal !== undefined && ordinal >= (workload.firstOrdinal ?? 0) + workload.replicas;
}
