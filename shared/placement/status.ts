/**
 * The status of a workload's placement: its phase, its split by revision, its pods, and the next step. The
 * controller publishes it, and `kubectl coalloc placement` prints it. Times are ISO 8601.
 *
 * @module
 */
import * as z from "zod";
import {
  PLACEMENT_PHASES,
  PLACEMENT_REASONS,
  type PlacementPhase,
  type PlacementReason,
} from "../api/reasons/placement_reasons.ts";
import type { Ineligibility, PlacementSpec } from "./eligibility.ts";
import { decideMove, type MoveDecision, type MoveDecisionInput } from "./decide_move.ts";
import { forecastStep, type StepForecast } from "./forecast_step.ts";
import type { ClassCounts } from "./node_classes.ts";
import {
  countByClass,
  isPresent,
  type PlacedPod,
  runningByClass,
  waitingByClass,
} from "./placed_pod.ts";
import { isReadOnly, type MoveSettings } from "./settings.ts";
import { type Shortage, shortagePhase } from "./shortage.ts";
import {
  ordinalClass,
  ordinalOf,
  type PlacedWorkload,
  splitReplicas,
  type SplitSpec,
} from "./split.ts";

/** The phase and its reason. */
export interface PhaseStatus {
  readonly phase: PlacementPhase;
  /** When the phase ends by itself. */
  readonly until?: string;
  /** A `PlacementReason`, or one of a newer version. */
  readonly reason?: string;
  /** The particulars, in a sentence. */
  readonly message?: string;
}

/** The pods of one template. */
export interface RevisionStatus {
  /** Hash of the template. */
  readonly revision: string;
  /** The split of as many pods as there are; absent if none is requested. */
  readonly desired?: ClassCounts;
  /** Pods by the class of their nodes. */
  readonly actual: ClassCounts;
  /** Pods without a node, by the class that they were created for. */
  readonly pending: ClassCounts;
}

/** A pod; its class is that of its node, or the one that it was created for. */
export interface PodStatus
  extends Pick<PlacedPod, "name" | "revision" | "node" | "class" | "ready"> {
  /** Short remarks. */
  readonly notes: readonly string[];
}

/** The status of a workload. Counts are absent if it takes no part. */
export interface PlacementStatus extends PhaseStatus {
  readonly next?: StepForecast;
  /** The requested split; absent if the workload takes no part. */
  readonly spec?: PlacementSpec;
  /** True: the controller decides and changes nothing. */
  readonly readOnly?: true;
  /** `spec.replicas`. */
  readonly replicas?: number;
  /** The split of these replicas. */
  readonly desired?: ClassCounts;
  /** Sum over the revisions. */
  readonly actual?: ClassCounts;
  /** Sum over the revisions. */
  readonly pending?: ClassCounts;
  /** The newest first. */
  readonly revisions: readonly RevisionStatus[];
  /** Pods that are not gone, and pods on nodes that are about to go. */
  readonly pods: readonly PodStatus[];
}

/** The status of a workload that takes part; its pods have their budgets. */
export function placementStatus(
  input: MoveDecisionInput,
  settings: MoveSettings,
): PlacementStatus {
  const { workload, spec, pods, shortage, nowMs } = input;
  const decision = decideMove(input, settings);
  const next = forecastStep(input, { decision, settings });
  return {
    ...phaseOf({ decision, shortage, nowMs }),
    ...(next === undefined ? {} : { next }),
    spec,
    replicas: workload.replicas,
    desired: splitReplicas(workload.replicas, spec),
    ...countsAndPods({ pods, nowMs }, { ...workload, spec }),
    ...(isReadOnly(settings) ? { readOnly: true } : {}),
  };
}

/** The status of a workload that takes no part; its pods count if its annotations are invalid. */
export function refusedStatus(
  { reason, message }: Ineligibility,
  pods: () => Pick<MoveDecisionInput, "pods" | "nowMs">,
): PlacementStatus {
  return reason === "ConfigurationError"
    ? { phase: "Misconfigured", reason, message, ...countsAndPods(pods()) }
    : { phase: "LeftAlone", reason, message, revisions: [], pods: [] };
}

/** Waits that belong to the return from a fallback, and do not delay it. */
const RETURNING: readonly PlacementReason[] = ["NotWhole", "MoveCooldown", "EvictionRate"];

/** The phase. A fallback takes precedence over other reasons why replicas do not move. */
export function phaseOf(
  { decision, shortage, nowMs }: {
    readonly decision: MoveDecision;
    readonly shortage: Shortage | undefined;
    readonly nowMs: number;
  },
): PhaseStatus {
  const short = shortagePhase(shortage, nowMs);
  const wait = "wait" in decision ? decision : undefined;
  if (short === "fallback" && shortage !== undefined) {
    const also = wait?.wait === "NotWhole" ? `; ${wait.message}` : "";
    return {
      phase: "Fallback",
      until: new Date(shortage.untilMs).toISOString(),
      reason: "SpotFallback",
      message: `fallback ${shortage.rounds} in a row${also}`,
    };
  }
  const returns = short === "returning" && (wait === undefined || RETURNING.includes(wait.wait));
  if (wait === undefined) {
    return returns
      ? { phase: "Returning", message: "one replica after the other goes back to spot" }
      : { phase: "Converging" };
  }
  const { wait: reason, untilMs, message } = wait;
  return {
    phase: returns ? "Returning" : PLACEMENT_REASONS[reason].phase,
    ...(untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() }),
    reason,
    message,
  };
}

function countsAndPods(
  { pods, nowMs }: Pick<MoveDecisionInput, "pods" | "nowMs">,
  workload?: PlacedWorkload & { readonly spec: SplitSpec },
): Pick<PlacementStatus, "actual" | "pending" | "revisions" | "pods"> {
  const present = pods.filter(isPresent);
  const revisions = [...Map.groupBy(present, ({ revision }) => revision)]
    .toSorted(([, a], [, b]) => youngestMs(b) - youngestMs(a))
    .map(([revision, members]): RevisionStatus => ({
      revision,
      ...(workload === undefined ? {} : { desired: desiredOf(members, workload) }),
      actual: runningByClass(members),
      pending: waitingByClass(members),
    }));
  return {
    actual: runningByClass(present),
    pending: waitingByClass(present),
    revisions,
    pods: pods.filter(({ gone, departs }) => !gone || departs !== undefined)
      .toSorted((a, b) =>
        (a.class < b.class ? 1 : a.class > b.class ? -1 : 0) ||
        a.name.localeCompare(b.name, "en", { numeric: true })
      )
      .map((pod): PodStatus => ({
        name: pod.name,
        revision: pod.revision,
        node: pod.node,
        class: pod.class,
        ready: pod.ready,
        notes: notesOf(pod, nowMs),
      })),
  };
}

function youngestMs(pods: readonly PlacedPod[]): number {
  return Math.max(...pods.map(({ createdAtMs }) => createdAtMs));
}

/** The split of the pods; a StatefulSet's ordinals decide, of any revision. */
function desiredOf(
  pods: readonly PlacedPod[],
  workload: PlacedWorkload & { readonly spec: SplitSpec },
): ClassCounts {
  if (workload.kind === "Deployment") return splitReplicas(pods.length, workload.spec);
  return countByClass(pods.map(({ name, class: present }) => {
    const ordinal = ordinalOf(name);
    return { class: ordinal === undefined ? present : ordinalClass(ordinal, workload) };
  }));
}

function notesOf(pod: PlacedPod, nowMs: number): readonly string[] {
  const { scheduled, unschedulableSinceMs: since, ready, departs, cordoned, pinned, budget } = pod;
  return [
    ...(scheduled ? [] : [
      since === undefined
        ? "has no node yet"
        : `finds no node since ${timeOfDay(new Date(since).toISOString(), nowMs)}`,
    ]),
    ...(scheduled && !ready ? ["not Ready"] : []),
    ...(departs === undefined ? [] : [`its node is about to go (${departs})`]),
    ...(cordoned ? ["its node is cordoned"] : []),
    ...(pinned === undefined ? [] : [`stays: ${pinned}`]),
    ...(budget === undefined ? [] : [budget]),
  ];
}

/**
 * A time of the day, `12:00:10Z`; on another day than that of `nowMs` `2026-01-02 02:00:00Z`. Rounded up to
 * whole seconds. Unlike ages, it stays the same while nothing changes.
 */
export function timeOfDay(iso: string, nowMs: number): string {
  const at = new Date(Math.ceil(Date.parse(iso) / 1000) * 1000).toISOString();
  const [day = "", time = ""] = at.split("T");
  const clock = `${time.slice(0, 8)}Z`;
  return new Date(nowMs).toISOString().startsWith(day) ? clock : `${day} ${clock}`;
}

/** False for workloads that take no part and do not ask for it. */
export function concernsPlacement({ phase, reason }: PhaseStatus): boolean {
  return phase !== "LeftAlone" || reason === "PlacementUntuned";
}

/** Label of the ConfigMaps with the memory of placement. */
export const MEMORY_LABEL = "spotalis.io/memory";

/** Label of the ConfigMaps with statuses. */
export const STATUS_LABEL = "spotalis.io/placement-status";

/** The prefix of the ConfigMap with the statuses of a namespace's workloads. */
export const STATUS_CONFIG_MAP_PREFIX = "mbcas-placement-";

/** The statuses of each namespace as texts, from ConfigMaps that are selected by their names. */
export function publishedTexts<D>(
  configMaps: Iterable<{ readonly name: string; readonly data: D }>,
): Map<string, D> {
  return new Map(
    Iterator.from(configMaps).filter(({ name }) => name.startsWith(STATUS_CONFIG_MAP_PREFIX))
      .map(({ name, data }) => [name.slice(STATUS_CONFIG_MAP_PREFIX.length), data]),
  );
}

/** The key of a workload in the ConfigMap: at most 253 characters, as a Deployment's name leaves room for a hash. */
export function statusKey(
  { kind, name }: { readonly kind: string; readonly name: string },
): string {
  return `${kind}.${name}`;
}

const COUNTS = z.looseObject({ spot: z.number(), "on-demand": z.number() });
const TIME = z.string().refine((text) => !Number.isNaN(Date.parse(text)));
/** The members that readers depend on; another version may add fields. */
const PUBLISHED = z.looseObject({
  phase: z.enum(PLACEMENT_PHASES),
  reason: z.string().exactOptional(),
  until: TIME.exactOptional(),
  message: z.string().exactOptional(),
  spec: z.looseObject({}).exactOptional(),
  next: z.looseObject({ action: z.string(), notBefore: TIME.exactOptional() }).exactOptional(),
  desired: COUNTS.exactOptional(),
  actual: COUNTS.exactOptional(),
  pending: COUNTS.exactOptional(),
  revisions: z.array(z.looseObject({ revision: z.string(), actual: COUNTS, pending: COUNTS })),
  pods: z.array(z.looseObject({ name: z.string(), notes: z.array(z.string()) })),
});

/** The status in a published text. */
export function readStatus(text: string): PlacementStatus {
  try {
    const status = JSON.parse(text);
    if (PUBLISHED.safeParse(status).success) return status;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return {
    phase: "Unknown",
    message: "its published status can't be read",
    revisions: [],
    pods: [],
  };
}
