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
  type PlacementQuestion,
  placementQuestion,
} from "../../shared/placement/placement_question.ts";
import { sentNodeBounds } from "../../shared/placement/sent_node_bounds.ts";
import type {
  PlacementAnswers,
  PlacementFact,
  PlacementObserver,
  PlacementRules,
  WebhookFacts,
} from "./webhook_ports.ts";

/** What it works with. */
export interface PlacementMutatorParts {
  readonly answers: Pick<PlacementAnswers, "answer">;
  readonly facts: Pick<WebhookFacts, "allowed">;
  readonly rules: () => PlacementRules;
  readonly observer: PlacementObserver;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A mutator of pods that are about to be made and have a controller. Never throws: a pod about which there
 * is any doubt is left as it was sent, for the controller to move later.
 */
export function createPlacementMutator(
  { answers, facts, rules, observer, clock, log }: PlacementMutatorParts,
): Mutator {
  /** What its own affinity says. Whoever names a class has what it takes to run there, or wants no more. */
  function affinityOf(
    object: SentObject,
    { namespace }: PlacementQuestion,
  ): Pick<PlacementQuestion, "bound" | "only"> {
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
      const question = placementQuestion(request);
      if (question === undefined || object === undefined) return undefined;
      const beganMs = clock.monotonic();
      const tell = (fact: Omit<PlacementFact, "tookMs">): void =>
        observer.answered({ ...fact, tookMs: clock.monotonic() - beganMs });
      try {
        const { classes, readOnly } = rules();
        const asked = { ...question, ...affinityOf(object, question) };
        const verdict = await answers.answer(asked, signal);
        if ("unplaced" in verdict) {
          tell({ result: verdict.unplaced });
          return warned(verdict.warning);
        }
        const { class: to, deletionCost } = verdict;
        const patch = placementPatch(object, { to, classes, deletionCost });
        tell({ result: readOnly ? "ReadOnly" : "Placed", class: to });
        return readOnly ? undefined : { patch };
      } catch (error) {
        const { namespace } = request;
        log.warn("A pod could not be placed", { namespace, error: String(error) });
        tell({ result: "Failed" });
        return undefined;
      }
    },
  };
}

function warned(warning: string | undefined): Mutation | undefined {
  return warning === undefined ? undefined : { patch: [], warnings: [warning] };
}
