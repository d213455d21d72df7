/**
 * Sends new pods to spot or on-demand nodes, before they are stored.
 *
 * @module
 */
import type { SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutation, Mutator } from "../../shared/admission/mutator.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { namesClass } from "../../shared/placement/bound_pod.ts";
import { placementPatch } from "../../shared/placement/placement_patch.ts";
import {
  type PlacementRequest,
  placementRequest,
} from "../../shared/placement/placement_request.ts";
import { sentNodeBounds } from "../../shared/placement/sent_node_bounds.ts";
import type { PlacementFact, PlacementObserver } from "./placement_observer.ts";
import type { PodCounter } from "./pod_counter.ts";
import type { PlacementRules, WebhookFacts } from "./webhook_ports.ts";

/** What it works with. */
export interface PlacementMutatorParts {
  readonly counter: Pick<PodCounter, "decide">;
  readonly facts: Pick<WebhookFacts, "allowed">;
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
  ): Pick<PlacementRequest, "bound" | "only"> {
    const bounds = sentNodeBounds(object);
    if (bounds.length === 0) return {};
    const [only, other] = facts.allowed({ namespace, bounds });
    if (only === undefined || namesClass(bounds, rules().classes)) return { bound: true };
    return other === undefined ? { only } : {};
  }

  return {
    name: "placement",
    async mutate(request, signal) {
      const { object } = request;
      const pod = placementRequest(request);
      if (pod === undefined || object === undefined) return undefined;
      const beganMs = clock.monotonic();
      const report = (fact: Omit<PlacementFact, "tookMs">): void =>
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
