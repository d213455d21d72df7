/**
 * `POST pods/{name}/eviction` on the simulated API. Deleted pods stay, terminating, until their kubelet
 * removes them; those without a node go at once.
 *
 * @module
 */
import type { EvictionAnswer, PodEvictor, PodRef } from "../../controller/placement/ports.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { budgetRefusal } from "../../shared/placement/workload_snapshot.ts";
import { labelsMatch } from "../../shared/api/label_selector.ts";
import type { ApiAccess } from "./api_access.ts";

/** The port's implementation. */
export function createPodEvictor({ store, gate }: ApiAccess): PodEvictor {
  const { Pod: pods, PodDisruptionBudget: budgets } = store.tables;

  function budgetsFor({ metadata: { namespace, labels } }: Pod): readonly PodDisruptionBudget[] {
    return budgets.all().filter(({ metadata, selector }) =>
      metadata.namespace === namespace && selector !== undefined && labelsMatch(labels, selector)
    );
  }

  function take(pod: Pod): EvictionAnswer | undefined {
    // A budget does not keep a pod that does not run.
    if (pod.phase !== "Running" || pod.metadata.terminating) return undefined;
    const own = budgetsFor(pod);
    const { labels } = pod.metadata;
    const message = budgetRefusal(
      { labels, ready: pod.ready },
      own.map((one) => ({ ...one, name: one.metadata.name })),
    );
    if (message !== undefined) return { is: "blocked", message };
    for (const { metadata, freesUnready } of own) {
      if (!pod.ready && freesUnready) continue;
      budgets.modify(objectKey(metadata), (one) => ({
        ...one,
        disruptionsAllowed: one.disruptionsAllowed - 1,
      }));
    }
    return undefined;
  }

  function evict({ namespace, name, uid }: PodRef): EvictionAnswer {
    const key = objectKey({ namespace, name });
    const pod = pods.get(key);
    if (pod === undefined || pod.metadata.uid !== uid) return { is: "gone" };
    const refusal = take(pod);
    if (refusal !== undefined) return refusal;
    if (pod.nodeName === "") pods.remove(key);
    else {
      pods.modify(key, (one) => ({ ...one, metadata: { ...one.metadata, terminating: true } }));
    }
    return { is: "evicted" };
  }

  return { evict: (pod) => gate.send({ verb: "evict", kind: "Pod" }, () => evict(pod)) };
}
