/**
 * What of wanted values a new pod can begin with.
 *
 * @module
 */
import { podTotal } from "../../actuation/pod_total.ts";
import type { Guard } from "./guard.ts";
import { horizontalAutoscalerConflicts } from "./horizontal_autoscaler.ts";
import { outsideRanges } from "./limit_range.ts";
import { overNodes } from "./node_capacity.ts";
import { qosWouldChange } from "./qos_class.ts";
import { overQuotas } from "./quota.ts";
import { requestAboveLimit } from "./request_above_limit.ts";
import type { RightsizingFacts } from "./rightsizing_facts.ts";
import { presentSubjects } from "./subjects.ts";
import { fieldOf, type WantedResources } from "./wanted_resources.ts";
import { verticalAutoscalerConflicts } from "./vertical_autoscaler.ts";

/** What is asked about a new pod; the workload's template is the pod as it comes. */
export type NewPodFacts = Pick<
  RightsizingFacts,
  | "policy"
  | "workload"
  | "autoscalers"
  | "verticalAutoscalers"
  | "ranges"
  | "quotas"
  | "largestNode"
>;

/** What is left for the pod, and why it is not all. */
export interface FittedValues {
  readonly wanted: WantedResources;
  readonly words: readonly string[];
}

/** The guards that may have something against a pod that is only about to be made. */
const NEW_POD_CHAIN: readonly Guard["guard"][] = [
  horizontalAutoscalerConflicts,
  verticalAutoscalerConflicts,
  outsideRanges,
  overQuotas,
  overNodes,
  qosWouldChange,
  requestAboveLimit,
];

/** As of `decideWanted()`: clamps only take out, or move towards what is there. */
const MOST_PASSES = 10;

const NOTHING: WantedResources = new Map();

/**
 * Cuts the values to what the server takes of one new pod, and no other controller sets: by the guards of
 * the chain, over that pod alone. Nothing where they hold: the pod is then as its template says. What is
 * left of a quota is there for all of the pod, not for the raise alone.
 */
export function fitNewPod(values: WantedResources, facts: NewPodFacts): FittedValues {
  const alone = loneFacts(facts);
  const words: string[] = [];
  let wanted = values;
  for (let pass = 0; pass < MOST_PASSES && wanted.size > 0; pass++) {
    const before = words.length;
    for (const guard of NEW_POD_CHAIN) {
      const verdict = guard(alone, wanted);
      if (verdict === undefined || verdict.verdict === "tell") continue;
      words.push(verdict.message);
      wanted = verdict.verdict === "hold" ? NOTHING : verdict.wanted;
    }
    if (words.length === before) return { wanted, words: [...new Set(words)] };
  }
  return { wanted: NOTHING, words: [...new Set(words)] };
}

/** A workload of this one pod, which is not there yet. */
function loneFacts(facts: NewPodFacts): RightsizingFacts {
  const { policy, workload, autoscalers, verticalAutoscalers, ranges, quotas, largestNode } = facts;
  const { updateStrategy } = policy;
  const alone: RightsizingFacts = {
    nowMs: 0,
    policy: {
      ...policy,
      updateStrategy: { ...updateStrategy, allowInPlaceResize: true, allowRecreate: false },
    },
    dryRun: false,
    workload: { ...workload, replicas: 1 },
    pods: [],
    nodes: new Map(),
    ...(largestNode === undefined ? {} : { largestNode }),
    recommendations: [],
    samples: new Map(),
    memoryPeaks: new Map(),
    autoscalers,
    verticalAutoscalers,
    ...(ranges === undefined ? {} : { ranges }),
    quotas: [],
    unreadable: [],
    missingPermissions: [],
    inForce: new Map(),
    resizeServed: true,
    lowersMemoryLimits: true,
    marketManages: false,
  };
  const [pod] = presentSubjects(alone, "InPlace");
  return {
    ...alone,
    quotas: quotas.map((quota) => {
      const own = pod && podTotal(pod, fieldOf(quota.resource, quota.of));
      return { ...quota, room: quota.room - (own ?? 0) };
    }),
  };
}
