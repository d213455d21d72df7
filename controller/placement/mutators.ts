/**
 * Mutating webhooks: one places new pods, the other warns about annotations of workloads.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutation, Mutator } from "../../shared/admission/run_mutators.ts";
import { membersOf, textIn, textsIn } from "../../shared/members.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { checkEligibility, isPlacedKind, type PlacementScope } from "../../shared/placement/eligibility.ts";
import { namesClass, sentNodeConstraints } from "../../shared/placement/node_constraints.ts";
import { placementPatch, type PlacementRequest, placementRequest } from "../../shared/placement/new_pod.ts";
import type { AdmissionDecider, PlacementRules } from "./admission.ts";
import type { WebhookView } from "./caches.ts";
import type { AdmissionReport, PlacementObserver } from "./ports.ts";

/** The dependencies of the mutator of pods. */
export interface PlacementMutatorParts {
  readonly decider: Pick<AdmissionDecider, "decide">;
  readonly view: Pick<WebhookView, "allowed">;
  readonly rules: () => PlacementRules;
  readonly observer: Pick<PlacementObserver, "admitted">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A mutator of new pods that have a controller. Never throws: in doubt a pod is created unchanged, and the
 * loop moves it later.
 */
export function createPlacementMutator(
  { decider, view, rules, observer, clock, log }: PlacementMutatorParts,
): Mutator {
  /** The classes that the pod's own affinity leaves. A pod that names a class has all it needs to run there. */
  function affinityOf(
    object: SentObject,
    { namespace }: PlacementRequest,
  ): Pick<PlacementRequest, "pinned" | "only"> {
    const constraints = sentNodeConstraints(object);
    if (constraints.length === 0) return {};
    const [only, other] = view.allowed({ namespace, constraints });
    if (only === undefined || namesClass(constraints, rules().classes)) return { pinned: true };
    return other === undefined ? { only } : {};
  }

  return {
    name: "placement",
    async mutate(request, signal) {
      const { object } = request;
      const pod = placementRequest(request);
      if (pod === undefined || object === undefined) return undefined;
      const beganMs = clock.monotonic();
      const report = (admission: Omit<AdmissionReport, "tookMs">): void =>
        observer.admitted?.({ ...admission, tookMs: clock.monotonic() - beganMs });
      try {
        const { classes, readOnly } = rules();
        const decision = await decider.decide({ ...pod, ...affinityOf(object, pod) }, signal);
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
        log.warn("Failed to place a pod", { namespace, error: String(error) });
        report({ result: "Failed" });
        return undefined;
      }
    },
  };
}

function warned(warning: string | undefined): Mutation | undefined {
  return warning === undefined ? undefined : { patch: [], warnings: [warning] };
}

/** The dependencies of the mutator of workloads. */
export interface PlacementWarnerParts {
  readonly view: Pick<WebhookView, "synced" | "namespace">;
  readonly scope: () => PlacementScope;
}

/** Resources of the kinds with pods that are placed, without subresources. */
const RESOURCES: readonly string[] = ["deployments", "statefulsets"];

/**
 * A mutator that changes no workload, and warns about each fault in its annotations: kubectl shows warnings.
 * It is silent while the namespace is not known, as that may opt the workload out.
 */
export function createPlacementWarner({ view, scope }: PlacementWarnerParts): Mutator {
  return {
    name: "placement of workloads",
    mutate(request) {
      const { kind, object, namespace } = request;
      if (!isWritten(request) || object === undefined || !isPlacedKind(kind)) return undefined;
      const known = view.synced ? view.namespace(namespace) : undefined;
      if (known === undefined) return undefined;
      const { name, labels, annotations } = membersOf(object["metadata"]);
      const { faults = [] } = checkEligibility({
        kind,
        labels: textsIn(labels),
        annotations: textsIn(annotations),
        namespace: { name: namespace, metadata: known },
      }, scope());
      if (faults.length === 0) return undefined;
      const warning = `placement leaves the pods of ${kind} ${
        textIn(name) ?? request.name
      } as they are`;
      return { patch: [], warnings: [warning, ...faults] };
    },
  };
}

function isWritten({ resource, operation }: AdmissionRequest): boolean {
  return RESOURCES.includes(resource) && (operation === "CREATE" || operation === "UPDATE");
}
