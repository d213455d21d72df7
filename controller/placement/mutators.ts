/**
 * Mutating webhooks: one places new pods, the other warns about annotations of workloads.
 *
 * @module
 */
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { objectOf, textOf, textsOf } from "../../adapters/kube/client/json_fields.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import {
  checkEligibility,
  isPlacedKind,
  placementFaultText,
} from "../../shared/placement/eligibility.ts";
import { placementPatch, placementRequest } from "../../shared/placement/new_pod.ts";
import {
  isReadOnly,
  placementScope,
  type PlacementSettings,
} from "../../shared/placement/settings.ts";
import type { AdmissionDecider } from "./admission.ts";
import type { WebhookView } from "./caches.ts";
import type { AdmissionReport, PlacementObserver } from "./ports.ts";

/**
 * A mutator of new pods that have a controller. Never throws: in doubt a pod is created unchanged, and the
 * loop moves it later.
 */
export function createPlacementMutator(
  { decider, settings, observer, clock, log }: {
    readonly decider: Pick<AdmissionDecider, "decide">;
    readonly settings: () => PlacementSettings;
    readonly observer: Pick<PlacementObserver, "admitted">;
    readonly clock: Clock;
    readonly log: Log;
  },
): Mutator {
  return {
    name: "placement",
    async mutate(request, signal) {
      const beganMs = clock.monotonic();
      const report = (admission: Omit<AdmissionReport, "tookMs">): void =>
        observer.admitted?.({ ...admission, tookMs: clock.monotonic() - beganMs });
      try {
        const { object } = request;
        const pod = placementRequest(request);
        if (pod === undefined || object === undefined) return undefined;
        const decision = await decider.decide(pod, signal);
        if ("unplaced" in decision) {
          const { unplaced, warning } = decision;
          report({ result: unplaced });
          return warning === undefined ? undefined : { patch: [], warnings: [warning] };
        }
        const readOnly = isReadOnly(settings());
        const { class: to, deletionCost } = decision;
        const patch = placementPatch(object, {
          to,
          classes: settings().nodeClassifier,
          deletionCost,
        });
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

/** Resources of the kinds with pods that are placed, without subresources. */
const RESOURCES: readonly string[] = ["deployments", "statefulsets"];

/**
 * A mutator that changes no workload, and warns about each fault in its annotations: kubectl shows warnings.
 * It is silent while the namespace is not known, as that may opt the workload out.
 */
export function createPlacementWarner({ view, settings }: {
  readonly view: Pick<WebhookView, "synced" | "namespace">;
  readonly settings: () => PlacementSettings;
}): Mutator {
  return {
    name: "placement of workloads",
    mutate(request) {
      const { kind, object, namespace } = request;
      if (!isWritten(request) || object === undefined || !isPlacedKind(kind)) return undefined;
      const metadata = view.synced ? view.namespace(namespace)?.metadata : undefined;
      if (metadata === undefined) return undefined;
      const { name, labels, annotations } = objectOf(object["metadata"]);
      const { faults = [] } = checkEligibility({
        labels: textsOf(labels),
        annotations: textsOf(annotations),
        namespace: { name: namespace, metadata },
      }, placementScope(settings()));
      if (faults.length === 0) return undefined;
      const subject = `${kind} ${textOf(name) ?? request.name}`;
      const warning = `placement leaves the pods of ${subject} as they are`;
      return { patch: [], warnings: [warning, ...faults.map(placementFaultText)] };
    },
  };
}

function isWritten({ resource, operation }: AdmissionRequest): boolean {
  return RESOURCES.includes(resource) && (operation === "CREATE" || operation === "UPDATE");
}
