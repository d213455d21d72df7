/**
 * The record of a managed pod, and what to write of its bounds.
 *
 * @module
 */
import type {
  BoundRule,
  Bounds,
  ContainerBounds,
  PodAllocation,
} from "../../../shared/api/pod_allocation.ts";
import { ALLOCATION_LABELS, COPIED_LABELS } from "../../../shared/api/market_keys.ts";
import type { Texts } from "../../../shared/api/object.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { workloadsOf } from "../../../shared/resize/workloads_of.ts";
import type { MarketConfig } from "../../config.ts";
import { hasMoved } from "../../metrics_demand/metric_answer.ts";
import { type BoundsDraft, type BoundsInput, boundsOf, type KnownRule } from "./bounds.ts";
import type { PodSnapshot, RecordedPod } from "../pod_snapshot.ts";
import { type Originals, originalsOf } from "../original_limits.ts";
import { desiredLimits, originalValues } from "../../../shared/resize/original_limits.ts";
import { type BulkCause, bulkCause } from "../queues/node_writes.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";

/** A ceiling that neither binds nor moves by this share is not rewritten. */
const CEILING_HYSTERESIS = 0.1;

/** The allocation of a pod that has none yet. Its labels are for users' selectors alone. */
export function newAllocation(
  { pod }: Pick<PodSnapshot, "pod">,
): PodAllocation & { readonly metadata: { readonly labels: Texts } } {
  const { name, namespace, uid } = pod.metadata;
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: {
      name: uid,
      namespace,
      uid: "",
      resourceVersion: "",
      labels: labelsOf(pod),
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid }],
    },
    spec: { podName: name, podUID: uid, nodeName: pod.nodeName, namespace },
  };
}

/** Characters of a label's value; names of objects may have 253. */
const LONGEST_LABEL = 63;

/** A name that is too long for a label has none: a part of it would select other objects, too. */
function labelsOf(pod: Pod): Texts {
  const { name, labels } = pod.metadata;
  const workload = workloadsOf(pod).at(-1);
  const values: (readonly [key: string, value: string | undefined])[] = [
    ...COPIED_LABELS.map((key) => [key, labels[key]] as const),
    [ALLOCATION_LABELS.pod, name],
    [ALLOCATION_LABELS.node, pod.nodeName],
    [ALLOCATION_LABELS.workloadKind, workload?.kind],
    [ALLOCATION_LABELS.workload, workload?.name],
  ];
  return Object.fromEntries(
    values.flatMap(([key, value]) =>
      value === undefined || value.length > LONGEST_LABEL ? [] : [[key, value]]
    ),
  );
}

/** The bounds to write, as `planBounds()` decides them. */
export interface BoundsPlan extends Pick<BoundsDraft, "untilMs" | "warnings"> {
  /** The extent of the write; `messages`: the same bounds with other texts. */
  readonly write: "nothing" | "messages" | "bounds";
  readonly bounds: Bounds;
  /** The revision that the agent must clear by; absent where it already does. */
  readonly revision?: number;
  /** Original limits and requests to record with them. */
  readonly originals: Originals | undefined;
  /** Why the bounds of many pods change at once; undefined where only this pod's do. */
  readonly bulkCause: BulkCause | undefined;
  /** The rules that did not apply before. */
  readonly added: readonly KnownRule[];
}

/** Input of the bounds that is not in the pod's objects. */
export type BoundsSources = Pick<
  BoundsInput,
  "quota" | "metric" | "rolloutStillSinceMs" | "nodeCeiling"
>;

/** Input of `planBounds()`, beside the pod. */
export interface BoundsPlanInput extends BoundsSources {
  readonly config: MarketConfig;
  /** Original limits that are not recorded yet or have changed. */
  readonly originals?: Originals | undefined;
  /** Whether the same bounds get a new revision, too, by which the agent then clears. */
  readonly forcesRevision: boolean;
  readonly nowMs: number;
}

/** False where the server has dropped a field of a container: its CRD is older than the controller. */
export function isStored(sent: Bounds, stored: Bounds | undefined): boolean {
  return sent.containers.every((container) => {
    const read = stored?.containers.find(({ name }) => name === container.name) ?? {};
    return Object.keys(container).every((field) => Object.hasOwn(read, field));
  });
}

/**
 * Decides what to write of the bounds. The first write also records the original limits, which must be
 * known before the first patch. Pure.
 */
export function planBounds(snapshot: RecordedPod, input: BoundsPlanInput): BoundsPlan {
  const { allocation, pod } = snapshot;
  const { forcesRevision } = input;
  const { originalLimits: recorded, originalRequests, bounds: present } = allocation.status ?? {};
  const originals = input.originals ?? (recorded === undefined ? originalsOf(pod) : undefined);
  const { warnings, untilMs, ...draft } = boundsOf({
    ...snapshot,
    ...input,
    originalLimits: originalValues(originals?.originalLimits ?? recorded),
    ownRequests: originalValues(originals?.originalRequests ?? originalRequests),
  });
  const same = present !== undefined && !forcesRevision &&
    !boundsDiffer(present, draft, allocation);
  const isAsBefore = same && originals === undefined && draft.reason === present.reason;
  const messagesChanged = isAsBefore &&
    rulesWithoutNumbers(present.rules) !== rulesWithoutNumbers(draft.rules);
  const before = reasonsOf(present?.rules);
  // A status that was lost must not begin again with a revision that the agent has seen already.
  const revision = (present?.revision ?? allocation.spec.market?.observedBounds ?? 0) + 1;
  return {
    originals,
    warnings,
    ...(untilMs === undefined ? {} : { untilMs }),
    added: draft.rules.filter(({ reason }) => !before.has(reason)),
    write: messagesChanged ? "messages" : isAsBefore ? "nothing" : "bounds",
    // Original limits are written without waiting for a turn: the first patch depends on them.
    bulkCause: originals !== undefined
      ? undefined
      : bulkCause({ before, now: reasonsOf(draft.rules) }) ??
        (forcesRevision ? "unconfirmed" : undefined),
    // New messages alone do not concern the agent: the revision stays.
    ...(same
      ? { bounds: { ...present, reason: draft.reason, rules: draft.rules } }
      : { bounds: { ...draft, revision }, revision }),
  };
}

function reasonsOf(rules: Bounds["rules"]): ReadonlySet<string> {
  return new Set(rules?.map(({ reason }) => reason));
}

function boundsDiffer(
  present: Bounds,
  draft: Omit<Bounds, "revision">,
  { spec }: PodAllocation,
): boolean {
  const desired = desiredLimits(spec);
  return present.containers.length !== draft.containers.length ||
    draft.containers.some((next) => {
      const old = present.containers.find(({ name }) => name === next.name);
      return old === undefined || fieldsDiffer(old, next) ||
        ceilingMatters(old, next, desired.get(next.name));
    });
}

/** True where any field but the ceiling differs. */
function fieldsDiffer(old: ContainerBounds, next: ContainerBounds): boolean {
  return old.containerID !== next.containerID || old.floor !== next.floor ||
    old.weight !== next.weight || old.multiplier !== next.multiplier || old.held !== next.held ||
    old.boost !== next.boost || old.requestMoves !== next.requestMoves ||
    hasMoved(old.demand, next.demand);
}

/** True when the ceiling has moved by 10 %, or the old or the new one cuts the desired limit. */
function ceilingMatters(
  old: ContainerBounds,
  next: ContainerBounds,
  desired: number | undefined,
): boolean {
  if (old.ceiling === next.ceiling) return false;
  const moved = Math.abs(next.ceiling - old.ceiling) >= CEILING_HYSTERESIS * old.ceiling;
  return moved || (desired !== undefined && desired >= Math.min(old.ceiling, next.ceiling));
}

/**
 * A number in a message, but not in a name such as `node-1` or `jobs2`. Numbers change all the time
 * where a quota is used or a metric is queried, and those that matter are in the bounds themselves.
 */
const NUMBER = /(?<![\w.-])\d+(?:\.\d+)?/g;

/** Rules with another message after each start of the controller, until the query is answered. */
const VOLATILE: ReadonlySet<string> = new Set<BoundReason>(["MetricDemand"]);

/** A text that is the same for rules with messages that differ in numbers alone. */
export function rulesWithoutNumbers(rules: readonly BoundRule[] = []): string {
  return rules.filter(({ reason }) => !VOLATILE.has(reason))
    .map(({ reason, message }) => `${reason}: ${message.replace(NUMBER, "#")}`).join("\n");
}
