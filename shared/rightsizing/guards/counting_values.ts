/**
 * What of the values in force counts, and what of it a new pod can begin with.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer, type Resources } from "../../api/pod.ts";
import { truncatedProduct } from "../amounts.ts";
import type { PolicySpec } from "../policy_spec.ts";
import { resourcesInForce, resourcesOfAmounts, type ValuesInForce } from "../workload_record.ts";
import {
  describeCut,
  pair,
  type PairEntry,
  pairOf,
  pairsOf,
  podTotal,
  RESOURCE_NAMES,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { liftMemory, steppedMemory } from "./memory_decrease.ts";
import type { Guard, RightsizingFacts } from "./rightsizing_facts.ts";
import { runChecks } from "../../resize/run_checks.ts";
import { MOST_PASSES } from "./decide_rightsizing.ts";
import {
  horizontalAutoscalerConflicts,
  outsideRanges,
  overNodes,
  overQuotas,
  qosWouldChange,
  requestAboveLimit,
  verticalAutoscalerConflicts,
} from "./resize_guards.ts";
import { presentSubjects } from "./method.ts";

/** What decides whether they count. */
export type CountingFacts = NewPodFacts & Pick<RightsizingFacts, "memoryPeaks">;

/** What counts, by container, and a sentence for each thing that does not. */
export interface CountingValues {
  readonly values: ReadonlyMap<string, Resources>;
  readonly words: readonly string[];
}

/**
 * What was adopted was right for the template, the policy and the surroundings of its time. A resource of
 * a container counts no longer where its author has written another request or limit since; limits only
 * where the policy updates them; requests up to its bounds; memory from what is safe beside its recent
 * peak; and of all that what fits a new pod, see
 * `fitNewPod()`. Where nothing is known of what it was adopted on, it counts.
 *
 * `written`: the containers as their author wrote them, without what the server adds.
 */
export function countingValues(
  inForce: readonly ValuesInForce[],
  facts: CountingFacts,
  { written = facts.workload.template.containers }: {
    /** @default the template's */
    readonly written?: readonly PodContainer[];
  } = {},
): CountingValues {
  const { policy, memoryPeaks } = facts;
  const present = withoutEdited(inForce, written);
  const allowed = policy.updateStrategy.updateRequestsOnly
    ? withoutLimits(present.wanted)
    : present.wanted;
  const bounded = wantedOf(
    pairsOf(allowed).map((entry) =>
      bound(entry, policy, { peak: memoryPeaks.get(entry.container) })
    ),
  );
  const safe = wantedOf(
    pairsOf(bounded).map((entry) => {
      const author = written.find(({ name }) => name === entry.container) ?? NO_RESOURCES;
      return liftMemory(entry, { peak: memoryPeaks.get(entry.container), author, policy });
    }),
  );
  const fitted = fitNewPod(safe, facts);
  // What one rule has cut, another may have given back: then nothing has changed, and nothing is reported.
  if (present.words.length === 0 && describeCut(present.wanted, fitted.wanted) === "") {
    return { values: resourcesInForce(inForce), words: [] };
  }
  const limits = describeCut(present.wanted, allowed);
  const moved = describeCut(allowed, bounded);
  const lifted = describeCut(bounded, safe);
  return {
    values: fitted.wanted,
    words: [
      ...present.words,
      ...(limits === "" ? [] : [`the policy updates requests only: ${limits}`]),
      ...(moved === "" ? [] : [`the policy's bounds: ${moved}`]),
      ...(lifted === "" ? [] : [`the recent peak + 15 %: ${lifted}`]),
      ...fitted.words,
    ],
  };
}

interface Present {
  readonly wanted: WantedResources;
  readonly words: readonly string[];
}

function withoutEdited(
  inForce: readonly ValuesInForce[],
  written: readonly PodContainer[],
): Present {
  const resources = resourcesInForce(inForce);
  const words: string[] = [];
  const entries = inForce.flatMap(({ container, adoptedOn }): PairEntry[] => {
    const author = written.find(({ name, sidecar }) => name === container && !sidecar);
    if (author === undefined) {
      words.push(`the template has no container ${container}`);
      return [];
    }
    const base = adoptedOn === undefined ? author : resourcesOfAmounts(adoptedOn);
    return RESOURCE_NAMES.flatMap((resource): PairEntry[] => {
      const [was, is] = [pairOf(base, resource), pairOf(author, resource)];
      const asked = pairOf(resources.get(container) ?? NO_RESOURCES, resource);
      if (asked.request === undefined && asked.limit === undefined) return [];
      if (was.request === is.request && was.limit === is.limit) {
        return [{ container, resource, pair: asked }];
      }
      words.push(`the template has other ${resource} values of ${container} by now`);
      return [];
    });
  });
  return { wanted: wantedOf(entries), words };
}

function withoutLimits(wanted: WantedResources): WantedResources {
  return wantedOf(
    pairsOf(wanted).map((entry) => ({ ...entry, pair: pair(entry.pair.request, undefined) })),
  );
}

/**
 * Not above the bounds, which are of requests: a limit follows its request. Memory is not lowered to where
 * it would kill, as of running pods, nor to where the next peak would lift it again. What is below the
 * bounds may be all that a quota has left room for.
 */
function bound(
  entry: PairEntry,
  { bounds, updateStrategy }: Pick<PolicySpec, "bounds" | "updateStrategy">,
  { peak }: { readonly peak: number | undefined },
): PairEntry {
  const { resource, pair: { request, limit } } = entry;
  if (request === undefined) return entry;
  const { max } = bounds[resource];
  const isSafe = resource === "cpu" ||
    (peak !== undefined && max >= steppedMemory(peak, { updateStrategy }));
  if (request <= max || !isSafe) return entry;
  const follows = Math.max(max, truncatedProduct(max, updateStrategy.limitMultipliers[resource]));
  return { ...entry, pair: pair(max, limit === undefined ? undefined : Math.min(limit, follows)) };
}

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
const NEW_POD_CHAIN: readonly Guard[] = [
  { name: "HorizontalAutoscalerConflicts", check: horizontalAutoscalerConflicts },
  { name: "VerticalAutoscalerConflicts", check: verticalAutoscalerConflicts },
  { name: "OutsideRanges", check: outsideRanges },
  { name: "OverQuotas", check: overQuotas },
  { name: "OverNodes", check: overNodes },
  { name: "QoSWouldChange", check: qosWouldChange },
  { name: "RequestAboveLimit", check: requestAboveLimit },
];

/**
 * Cuts the values to what the server takes of one new pod, and no other controller sets: by the guards of
 * the chain, over that pod alone. Nothing where they hold: the pod is then as its template says. What is
 * left of a quota is there for all of the pod, not for the raise alone.
 */
export function fitNewPod(values: WantedResources, facts: NewPodFacts): FittedValues {
  const { wanted, reports, hold, settled } = runChecks(NEW_POD_CHAIN, {
    facts: loneFacts(facts),
    wanted: values,
    passes: MOST_PASSES,
  });
  const all = hold === undefined ? reports : [...reports, hold];
  return {
    wanted: settled && hold === undefined ? wanted : new Map(),
    words: [...new Set(all.map(({ message }) => message))],
  };
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
      const own = pod && podTotal(pod, (one) => one[quota.of][quota.resource]);
      return { ...quota, room: quota.room - (own ?? 0) };
    }),
  };
}
