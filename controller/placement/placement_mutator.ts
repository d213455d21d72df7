/**
 * Sends new pods to spot or on-demand nodes, before they are stored.
 *
 * @module
 */
import type { SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutation, Mutator } from "../../shared/admission/mutator.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { boundBy } from "../../shared/placement/bound_pod.ts";
import { NODE_CLASSES } from "../../shared/placement/node_class.ts";
import type { NodeClasses } from "../../shared/placement/node_classes.ts";
import { placementPatch } from "../../shared/placement/placement_patch.ts";
import { placementQuestion } from "../../shared/placement/placement_question.ts";
import { sentNodeBounds } from "../../shared/placement/sent_node_bounds.ts";
import type {
  PlacementAnswers,
  PlacementFact,
  PlacementObserver,
  PlacementRules,
} from "./webhook_ports.ts";

/** What it works with. */
export interface PlacementMutatorParts {
  readonly answers: Pick<PlacementAnswers, "answer">;
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
  { answers, rules, observer, clock, log }: PlacementMutatorParts,
): Mutator {
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
        const asked = isBound(object, classes) ? { ...question, bound: true as const } : question;
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

/** True where the pod itself says which class it runs on: the wrong one would find it no node. */
function isBound(object: SentObject, classes: NodeClasses): boolean {
  const bounds = sentNodeBounds(object);
  return NODE_CLASSES.some((to) =>
    boundBy({ annotations: {}, bounds }, { to, classes, hosts: new Map() }) !== undefined
  );
}
