/**
 * Decides which values in force are still valid, and which of them a new pod may have.
 *
 * @module
 */
import { NO_RESOURCES, type PodContainer } from "../../api/pod.ts";
import { truncatedProduct } from "../amounts.ts";
import { resourcesInForce, resourcesOfAmounts, type ValuesInForce } from "../workload_record.ts";
import {
  describeCut,
  pair,
  type PairEntry,
  pairsOf,
  podTotal,
  RESOURCE_SIDES,
  wantedOf,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { liftMemory, steppedMemory } from "./memory_decrease.ts";
import type { RightsizingSnapshot } from "./rightsizing_snapshot.ts";
import { runChecks } from "../../resize/run_checks.ts";
import { MOST_PASSES, NEW_POD_CHAIN } from "./decide_rightsizing.ts";
import { presentSubjects } from "./method.ts";

/** The state around a new pod; the workload's template is the pod as it was sent. */
export type NewPodInput = Pick<
  RightsizingSnapshot,
  | "policy"
  | "workload"
  | "autoscalers"
  | "verticalAutoscalers"
  | "ranges"
  | "quotas"
  | "largestNode"
>;

/** The input of the steps, with the containers as their author wrote them. */
interface StepInput extends NewPodInput, Pick<RightsizingSnapshot, "memoryPeaks"> {
  readonly written: readonly PodContainer[];
}

/** The values that are left, and a message for each reason why others are not. */
interface RemainingValues {
  readonly wanted: WantedResources;
  readonly messages: readonly string[];
}

/**
 * The values in force that are still valid. They were adopted for a template, a policy and bounds that may have
 * changed since: values are dropped where the author has edited the template, go through `STEPS`, and are cut
 * to what a new pod may have.
 *
 * `written`: the containers as their author wrote them, without defaults of the server.
 */
export function validValues(
  inForce: readonly ValuesInForce[],
  snapshot: NewPodInput & Pick<RightsizingSnapshot, "memoryPeaks">,
  { written = snapshot.workload.template.containers }: {
    /** @default the template's */
    readonly written?: readonly PodContainer[];
  } = {},
): { readonly values: WantedResources; readonly messages: readonly string[] } {
  const input = { ...snapshot, written };
  const unedited = withoutEdited(inForce, input);
  let { wanted } = unedited;
  const messages = [...unedited.messages];
  for (const [why, change] of STEPS) {
    const after = wantedOf(pairsOf(wanted).map((entry) => change(entry, input)));
    const cut = describeCut(wanted, after);
    if (cut !== "") messages.push(`${why}: ${cut}`);
    wanted = after;
  }
  const fitted = fitNewPod(wanted, input);
  wanted = fitted.wanted;
  messages.push(...fitted.messages);
  // A step may restore values that another has cut: then nothing has changed, and nothing is reported.
  return unedited.messages.length === 0 && describeCut(unedited.wanted, wanted) === ""
    ? { values: resourcesInForce(inForce), messages: [] }
    : { values: wanted, messages };
}

/** Steps with the reasons of their changes, in their order. */
const STEPS: readonly (readonly [
  why: string,
  change: (entry: PairEntry, input: StepInput) => PairEntry,
])[] = [
  ["the policy updates requests only", withoutLimit],
  ["the policy's bounds", withinBounds],
  ["the recent peak + 15 %", aboveMemoryPeak],
];

/**
 * Drops a resource of a container where the author has written another request or limit since the adoption. Keeps
 * it where the template of the adoption is not known.
 */
function withoutEdited(
  inForce: readonly ValuesInForce[],
  { written }: StepInput,
): RemainingValues {
  const messages: string[] = [];
  const entries = inForce.flatMap(({ container, adoptedOn, ...values }): readonly PairEntry[] => {
    const author = written.find(({ name, sidecar }) => name === container && !sidecar);
    if (author === undefined) {
      messages.push(`the template has no container ${container}`);
      return [];
    }
    const base = adoptedOn === undefined ? author : resourcesOfAmounts(adoptedOn);
    return pairsOf(new Map([[container, resourcesOfAmounts(values)]])).filter(({ resource }) => {
      const isSame = RESOURCE_SIDES.every((side) =>
        base[side][resource] === author[side][resource]
      );
      if (!isSame) {
        messages.push(`the template has other ${resource} values of ${container} by now`);
      }
      return isSame;
    });
  });
  return { wanted: wantedOf(entries), messages };
}

function withoutLimit(entry: PairEntry, { policy: { updateStrategy } }: StepInput): PairEntry {
  return updateStrategy.updateRequestsOnly
    ? { ...entry, pair: pair(entry.pair.request, undefined) }
    : entry;
}

/**
 * Lowers a request to the policy's maximum, and its limit with it. Memory is not lowered to where an OOM kill is
 * likely, nor to where the next peak would lift it again. A value below the minimum stays: it may be all that a
 * quota has left room for.
 */
function withinBounds(
  entry: PairEntry,
  { policy: { bounds, updateStrategy }, memoryPeaks }: StepInput,
): PairEntry {
  const { container, resource, pair: { request, limit } } = entry;
  if (request === undefined) return entry;
  const { max } = bounds[resource];
  const peak = memoryPeaks.get(container);
  const isSafe = resource === "cpu" ||
    (peak !== undefined && max >= steppedMemory(peak, { updateStrategy }));
  if (request <= max || !isSafe) return entry;
  const follows = Math.max(max, truncatedProduct(max, updateStrategy.limitMultipliers[resource]));
  return { ...entry, pair: pair(max, limit === undefined ? undefined : Math.min(limit, follows)) };
}

/** Lifts memory above its recent peak, see `liftMemory()`. */
function aboveMemoryPeak(
  entry: PairEntry,
  { policy, memoryPeaks, written }: StepInput,
): PairEntry {
  const author = written.find(({ name }) => name === entry.container) ?? NO_RESOURCES;
  return liftMemory(entry, { peak: memoryPeaks.get(entry.container), author, policy });
}

/**
 * Cuts the values by the guards for new pods, over one pod alone: to values that the server accepts and no other
 * controller sets. No values are left where a guard holds: the pod then starts with its template's.
 */
function fitNewPod(values: WantedResources, snapshot: NewPodInput): RemainingValues {
  const { wanted, reports, hold, settled } = runChecks(NEW_POD_CHAIN, {
    input: newPodSnapshot(snapshot),
    wanted: values,
    passes: MOST_PASSES,
  });
  const all = hold === undefined ? reports : [...reports, hold];
  return {
    wanted: settled && hold === undefined ? wanted : new Map(),
    messages: [...new Set(all.map(({ message }) => message))],
  };
}

/** The state of a workload with one pod, which does not exist yet: quotas must have room for all of its requests. */
function newPodSnapshot(snapshot: NewPodInput): RightsizingSnapshot {
  const { policy, workload, quotas } = snapshot;
  const alone: RightsizingSnapshot = {
    ...snapshot,
    nowMs: 0,
    policy: {
      ...policy,
      updateStrategy: { ...policy.updateStrategy, allowInPlaceResize: true, allowRecreate: false },
    },
    dryRun: false,
    workload: { ...workload, replicas: 1 },
    pods: [],
    nodes: new Map(),
    recommendations: [],
    samples: new Map(),
    memoryPeaks: new Map(),
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
      const used = pod && podTotal(pod, (one) => one[quota.side][quota.resource]);
      return { ...quota, room: quota.room - (used ?? 0) };
    }),
  };
}
