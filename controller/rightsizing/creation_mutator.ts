/**
 * Gives new pods what is in force for their workload, before they are stored.
 *
 * @module
 */
import type { SentObject } from "../../shared/admission/admission_review.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import { membersOf, textsIn } from "../../shared/admission/sent_members.ts";
import { type OwnedPod, workloadsOf } from "../../shared/resize/workloads_of.ts";
import {
  podCreationPatch,
  readCreatedPod,
} from "../../shared/rightsizing/apply/pod_creation_patch.ts";
import type { CreationValues } from "./creation_values.ts";

/** A mutator of pods that are about to be made; all else, and pods of other owners, are nothing to it. */
export function createCreationMutator(valuesOf: CreationValues): Mutator {
  return {
    name: "rightsizing",
    mutate({ resource, operation, namespace, object }) {
      if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
      for (const workload of workloadsOf(ownedPod(object))) {
        const values = valuesOf(namespace, workload);
        if (values === undefined) continue;
        const { containers, initContainers, podLevel } = readCreatedPod(object).subject;
        const sent = {
          containers,
          initContainers,
          ...(podLevel === undefined ? {} : { podLevel }),
        };
        const patch = podCreationPatch(object, values(sent));
        return patch.length === 0 ? undefined : { patch };
      }
      return undefined;
    },
  };
}

/** Whose the pod is, as far as what was sent tells. */
function ownedPod({ metadata }: SentObject): OwnedPod {
  const { ownerReferences, labels } = membersOf(metadata);
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(membersOf) : [];
  const { apiVersion, kind, name, uid } = owners.find(({ controller }) => controller === true) ??
    {};
  const own = { labels: textsIn(labels) };
  const isOwned = typeof apiVersion === "string" && typeof kind === "string" &&
    typeof name === "string" && typeof uid === "string";
  return { metadata: isOwned ? { ...own, owner: { apiVersion, kind, name, uid } } : own };
}
