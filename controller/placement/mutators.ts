/**
 * Sends new pods to spot or on-demand nodes, before they are stored.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutation, Mutator } from "../../shared/admission/mutator.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { namesClass, sentNodeConstraints } from "../../shared/placement/node_constraints.ts";
import { placementPatch } from "../../shared/placement/placement_patch.ts";
import {
  type PlacementRequest,
  placementRequest,
} from "../../shared/placement/placement_request.ts";
import type { AdmissionReport, PlacementObserver, PlacementRules, WebhookView } from "./ports.ts";
import type { AdmissionDecider } from "./admission.ts";
import { membersOf, textIn, textsIn } from "../../shared/admission/sent_members.ts";
import {
  checkEligibility,
  isPlacedKind,
  type PlacementScope,
} from "../../shared/placement/eligibility.ts";

/** What it works with. */
export interface PlacementMutatorParts {
  readonly counter: Pick<AdmissionDecider, "decide">;
  readonly facts: Pick<WebhookView, "allowed">;
  readonly rules: () => PlacementRules;
  readonly observer: Pick<PlacementObserver, "answered">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A mutator of pods that are about to be made and have a controller. Never throws: a pod about which there
 * is any doubt is left as it was sent, for the controller to move later.
 */
export function createPlacementMutator(
  { counter, facts, rules, observer, clock, log }: PlacementMutatorParts,
): Mutator {
  /** What its own affinity says. Whoever names a class has what it takes to run there, or wants no more. */
  function affinityOf(
    object: SentObject,
    { namespace }: PlacementRequest,
  ): Pick<PlacementRequest, "pinned" | "only"> {
    const bounds = sentNodeConstraints(object);
    if (bounds.length === 0) return {};
    const [only, other] = facts.allowed({ namespace, bounds });
    if (only === undefined || namesClass(bounds, rules().classes)) return { pinned: true };
    return other === undefined ? { only } : {};
  }

  return {
    name: "placement",
    async mutate(request, signal) {
      const { object } = request;
      const pod = placementRequest(request);
      if (pod === undefined || object === undefined) return undefined;
      const beganMs = clock.monotonic();
      const report = (fact: Omit<AdmissionReport, "tookMs">): void =>
        observer.answered?.({ ...fact, tookMs: clock.monotonic() - beganMs });
      try {
        const { classes, readOnly } = rules();
        const decision = await counter.decide({ ...pod, ...affinityOf(object, pod) }, signal);
        if ("unplaced" in decision) {
          report({ result: decision.unplaced });
          return warned(decision.warning);
        }
        const { class: to, deletionCost } = decision;
        const patch = placementPatch(object, { to, classes, deletionCost });
        report({ result: readOnly ? "ReadOnly" : "Placed", class: to });
        return readOnly ? undefined : { patch };
      } catch (error) {
        const { namespace } = request;
        log.warn("A pod could not be placed", { namespace, error: String(error) });
        report({ result: "Failed" });
        return undefined;
      }
    },
  };
}

function warned(warning: string | undefined): Mutation | undefined {
  return warning === undefined ? undefined : { patch: [], warnings: [warning] };
}

/** What it works with. */
export interface PlacementWarnerParts {
  readonly facts: Pick<WebhookView, "synced" | "namespace">;
  readonly scope: () => PlacementScope;
}

/** Resources of the kinds whose pods are placed, without their subresources. */
const RESOURCES: readonly string[] = ["deployments", "statefulsets"];

/**
 * A mutator of workloads that changes none of them: it warns of each fault that the controller would leave
 * it alone for. Where the namespace is not known it says nothing, as that may take the workload out.
 */
export function createPlacementWarner({ facts, scope }: PlacementWarnerParts): Mutator {
  return {
    name: "placement of workloads",
    mutate(request) {
      const { kind, object, namespace } = request;
      if (!isWritten(request) || object === undefined || !isPlacedKind(kind)) return undefined;
      const words = facts.synced ? facts.namespace(namespace) : undefined;
      if (words === undefined) return undefined;
      const { name, labels, annotations } = membersOf(object["metadata"]);
      const { faults = [] } = checkEligibility({
        kind,
        labels: textsIn(labels),
        annotations: textsIn(annotations),
        namespace: { name: namespace, words },
      }, scope());
      if (faults.length === 0) return undefined;
      const who = textIn(name) ?? request.name;
      const what = `placement leaves the pods of ${kind} ${who} as they are`;
      return { patch: [], warnings: [what, ...faults] };
    },
  };
}

function isWritten({ resource, operation }: AdmissionRequest): boolean {
  return RESOURCES.includes(resource) && (operation === "CREATE" || operation === "UPDATE");
}
