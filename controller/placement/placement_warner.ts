/**
 * Tells whoever writes a workload what of its words can't be read, before it is stored: kubectl shows it.
 *
 * @module
 */
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import { membersOf, textIn, textsIn } from "../../shared/admission/sent_members.ts";
import {
  isPlacedKind,
  placementGate,
  type PlacementScope,
} from "../../shared/placement/placement_gate.ts";
import type { WebhookFacts } from "./webhook_ports.ts";

/** What it works with. */
export interface PlacementWarnerParts {
  readonly facts: Pick<WebhookFacts, "synced" | "namespace">;
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
      const { faults = [] } = placementGate({
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
