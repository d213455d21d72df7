/**
 * Puts a workload beside its pods, and asks what the controller makes of them. Pure.
 *
 * @module
 */
import { ENABLED } from "../../../shared/api/placement_keys.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import {
  eligibilityInput,
  type ObjectLists,
  type PlacedObjects,
  placedPodsOf,
  podsOfWorkload,
  replicaStatus,
  withBudgets,
} from "../../../shared/placement/workload_snapshot.ts";
import { nextMove, type ReplicaStatus } from "../../../shared/placement/next_move.ts";
import type { PlacedPod } from "../../../shared/placement/placed_pod.ts";
import {
  checkEligibility,
  type Eligibility,
  type EligibilityInput,
  type PlacedKind,
} from "../../../shared/placement/eligibility.ts";
import {
  memoryKey,
  type PlacementMemory,
  readMemory,
} from "../../../shared/placement/placement_memory.ts";
import type { PlacementSpec } from "../../../shared/placement/placement_spec.ts";
import { shortagePhase } from "../../../shared/placement/shortage.ts";
import { splitReplicas } from "../../../shared/placement/split.ts";
import { foresee } from "./next_step.ts";
import { phaseOf, reasonFacts } from "./phase_of.ts";
import type { PlacementRules } from "./placement_rules.ts";
import type { NextStep, PhaseFacts, ShownWorkload } from "./placement_view.ts";
import { shownPods } from "./shown_pods.ts";
import { shownRevisions, sumOfCounts } from "./shown_revisions.ts";

/** What it stands among. */
export interface ShownInput {
  readonly lists: ObjectLists;
  /** The same, as placement asks for them. */
  readonly objects: PlacedObjects;
  readonly rules: PlacementRules;
  /** What the controller remembers, by namespace; undefined where that may not be read. */
  readonly memories: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;
  readonly nowMs: number;
}

/** A workload of a kind that is placed. */
export type PlaceableWorkload = Workload & { readonly kind: PlacedKind };

/** What the gate says of it. */
export function gateAnswer(
  workload: Workload,
  { objects, rules }: Pick<ShownInput, "objects" | "rules">,
): Eligibility {
  return checkEligibility(eligibilityInput(workload, objects), rules.scope);
}

/** The workload as it is shown. */
export function shownWorkload(
  workload: PlaceableWorkload,
  around: ShownInput,
): ShownWorkload {
  const { objects, rules, lists, nowMs } = around;
  const { kind, metadata: { namespace, name } } = workload;
  const { spec: wish, ...refusal } = gateAnswer(workload, around);
  const moved = replicaStatus(workload);
  const blind = blindFor(workload, lists);
  const seen = blind === undefined || blind === "nodes";
  const placed = seen ? placedPodsOf(workload, { objects, config: rules, evicted: new Set() }) : [];
  const pods = withBudgets(placed, { workload, objects });
  const nodesKnown = blind === undefined;
  const revisions = shownRevisions(pods, {
    nodesKnown,
    ...(wish === undefined || moved === undefined ? {} : { workload: { ...moved, spec: wish } }),
  });
  const outlook = wish === undefined
    ? refusedOutlook(refusal as Refusal, { subject: eligibilityInput(workload, objects), lists })
    : moved === undefined
    ? unknownOutlook("its replicas can't be read")
    : outlookOf({ workload, moved, wish, pods, blind }, around);
  return {
    namespace,
    kind,
    name,
    ...outlook,
    ...(wish === undefined ? {} : { wish }),
    ...(moved === undefined ? {} : { replicas: moved.replicas }),
    ...(wish === undefined || moved === undefined
      ? {}
      : { desired: splitReplicas(moved.replicas, wish) }),
    ...(nodesKnown ? { actual: sumOfCounts(revisions.map((one) => one.actual)) } : {}),
    ...(seen ? { pending: sumOfCounts(revisions.map((one) => one.pending)) } : {}),
    revisions,
    pods: shownPods(pods, { pods: podsOfWorkload(workload, objects), nodesKnown, nowMs }),
  };
}

type Refusal = Extract<Eligibility, { readonly reason: string }>;
type Outlook = PhaseFacts & { readonly next?: NextStep };

/** What of its pods can't be read; undefined where all can. */
function blindFor(
  { kind }: PlaceableWorkload,
  { pods, replicaSets, nodes }: ObjectLists,
): "pods" | "ReplicaSets" | "nodes" | undefined {
  if (pods === undefined) return "pods";
  if (kind === "Deployment" && replicaSets === undefined) return "ReplicaSets";
  return nodes === undefined ? "nodes" : undefined;
}

/** A namespace that can't be read may have settings that are unknown here. */
function refusedOutlook(
  { reason, message }: Refusal,
  { subject, lists }: { readonly subject: EligibilityInput; readonly lists: ObjectLists },
): Outlook {
  const saysNo = [subject.labels, subject.annotations].some((texts) => texts[ENABLED] === "false");
  const asksNamespace = reason === "NamespaceNotSelected" || (reason === "PlacementOff" && !saysNo);
  if (lists.namespaces === undefined && asksNamespace) {
    return unknownOutlook(`namespace ${subject.namespace.name} can't be read, and may take it in`);
  }
  const phase = reason === "ConfigurationError" ? "Misconfigured" : "LeftAlone";
  return { phase, ...reasonFacts(reason, message) };
}

function unknownOutlook(message: string): Outlook {
  return { phase: "Unknown", message };
}

interface Taking {
  readonly workload: PlaceableWorkload;
  readonly moved: ReplicaStatus;
  readonly wish: PlacementSpec;
  readonly pods: readonly PlacedPod[];
  readonly blind: ReturnType<typeof blindFor>;
}

function outlookOf(
  { workload, moved, wish, pods, blind }: Taking,
  { rules, memories, nowMs }: ShownInput,
): Outlook {
  const { namespace } = workload.metadata;
  const memory = memoryOf(workload, { page: memories.get(namespace), nowMs });
  const { shortage } = memory;
  const facts = { ...memory, workload: moved, spec: wish, pods, evictionFromMs: nowMs, nowMs };
  if (blind !== undefined) {
    // Whether it is whole, and whether spot nodes are short, hang on no node.
    const next = nextMove(facts, rules);
    const short = shortagePhase(shortage, nowMs) === "fallback";
    const known = blind === "nodes" && "wait" in next && next.wait === "NotWhole";
    return known || short
      ? phaseOf({ next, shortage, nowMs })
      : unknownOutlook(`${blind} can't be read`);
  }
  const { now, step } = foresee(facts, rules);
  const remembers = memories.get(namespace) !== undefined;
  return {
    ...phaseOf({ next: now, shortage, nowMs }),
    ...(step === undefined ? {} : { next: remembers ? step : doubted(step) }),
  };
}

function doubted(step: NextStep): NextStep {
  return { ...step, words: `${step.words}, unless a cooldown or a fallback holds` };
}

function memoryOf(
  { kind, metadata: { name, uid } }: PlaceableWorkload,
  { page, nowMs }: {
    readonly page: Readonly<Record<string, string>> | undefined;
    readonly nowMs: number;
  },
): PlacementMemory {
  const key = memoryKey(kind, name);
  const text = page !== undefined && Object.hasOwn(page, key) ? page[key] : undefined;
  return readMemory(text, { uid, nowMs });
}
