/**
 * Decides which values in force still count, and which of them a new pod may have.
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

/** Facts about a new pod; the workload's template is the pod as it was sent. */
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

/** Facts of one call, with the containers as their author wrote them. */
interface CountingInput extends NewPodInput, Pick<RightsizingSnapshot, "memoryPeaks"> {
  readonly written: readonly PodContainer[];
}

/** Values that are left, and a message for each reason why the others are not. */
interface Counted {
  readonly wanted: WantedResources;
  readonly messages: readonly string[];
}

/**
 * The values in force that still count. Values were adopted for a template, a policy and bounds that may
 * have changed since, so they go through the steps of `STEPS`, from the author's edits to what a new pod
 * may have.
 *
 * `written`: the containers as their author wrote them, without what the server adds.
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
  const present = withoutEdited(inForce, input);
  let { wanted } = present;
  const messages = [...present.messages];
  for (const [why, change] of STEPS) {
    const after = wantedOf(pairsOf(wanted).map((entry) => change(entry, input)));
    const cut = describeCut(wanted, after);
    if (cut !== "") messages.push(`${why}: ${cut}`);
    wanted = after;
  }
  const fitted = fitNewPod(wanted, input);
  wanted = fitted.wanted;
  messages.push(...fitted.messages);
  // One step may have given back what another has cut: then nothing has changed, and nothing is reported.
  return present.messages.length === 0 && describeCut(present.wanted, wanted) === ""
    ? { values: resourcesInForce(inForce), messages: [] }
    : { values: wanted, messages };
}

/** The steps between the author's edits and what a new pod may have, in their order, with their reasons. */
const STEPS: readonly (readonly [
  why: string,
  change: (entry: PairEntry, input: CountingInput) => PairEntry,
])[] = [
  ["the policy updates requests only", withoutLimit],
  ["the policy's bounds", withinBounds],
  ["the recent peak + 15 %", aboveMemoryPeak],
];

/**
 * Drops a resource of a container where the author has written another request or limit since. Counts
 * where the template of the adoption is not known.
 */
function withoutEdited(
  inForce: readonly ValuesInForce[],
  { written }: CountingInput,
): Counted {
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

function withoutLimit(entry: PairEntry, { policy: { updateStrategy } }: CountingInput): PairEntry {
  return updateStrategy.updateRequestsOnly
    ? { ...entry, pair: pair(entry.pair.request, undefined) }
    : entry;
}

/**
 * Not above the bounds, which are of requests: a limit follows its request. Memory is not lowered to
 * where it would kill, as of running pods, nor to where the next peak would lift it again. A value
 * below the bounds may be all that a quota has left room for.
 */
function withinBounds(
  entry: PairEntry,
  { policy: { bounds, updateStrategy }, memoryPeaks }: CountingInput,
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

/** Raises memory to what is safe beside its recent peak, see `liftMemory()`. */
function aboveMemoryPeak(
  entry: PairEntry,
  { policy, memoryPeaks, written }: CountingInput,
): PairEntry {
  const author = written.find(({ name }) => name === entry.container) ?? NO_RESOURCES;
  return liftMemory(entry, { peak: memoryPeaks.get(entry.container), author, policy });
}

/**
 * Cuts the values to what the server takes of one new pod, and no other controller sets: by the guards
 * of the chain, over that pod alone. Nothing where they hold: the pod is then as its template says. The
 * room in a quota is there for all of the pod, not for the raise alone.
 */
function fitNewPod(values: WantedResources, snapshot: NewPodInput): Counted {
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

/** A workload of this one pod, which is not there yet. */
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
      const own = pod && podTotal(pod, (one) => one[quota.of][quota.resource]);
      return { ...quota, room: quota.room - (own ?? 0) };
    }),
  };
}
