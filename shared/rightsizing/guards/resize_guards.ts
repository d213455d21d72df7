/**
 * Guards that ask the rules of `shared/resize/checks/` about all pods of a workload.
 *
 * @module
 */
import type { HorizontalPodAutoscaler, MemoryTarget } from "../../api/horizontal_pod_autoscaler.ts";
import type { ResourceName } from "../../api/pod.ts";
import {
  type CPURange,
  rangeProblem,
  wouldWriteDefaults,
} from "../../resize/checks/limit_range.ts";
import { nodeShortages } from "../../resize/checks/node_capacity.ts";
import { keepClass } from "../../resize/checks/qos_class.ts";
import { capRequests, podLevelProblem } from "../../resize/checks/request_within_limit.ts";
import { setsCPU } from "../../resize/checks/vertical_autoscaler.ts";
import { cutValues, describeCut } from "../../resize/cut_raises.ts";
import {
  entriesInForce,
  fieldOf,
  formatAmount,
  pair,
  PAIR_SIDES,
  type PairEntry,
  pairOf,
  pairsOf,
  podTotal,
  RESOURCE_NAMES,
  type ResourcePair,
  wantedOf,
  type WantedResources,
} from "../../resize/resources.ts";
import { containersWanted, type Subject } from "../../resize/subject.ts";
import { type GuardVerdict, withoutPairs } from "./guard.ts";
import { methodFor } from "./method.ts";
import type { QuotaRoom, ResourceRanges, RightsizingFacts } from "./rightsizing_facts.ts";
import { fittedSubjects, presentSubjects } from "./subjects.ts";

/**
 * Leaves the CPU or the memory of containers alone whose utilisation an HPA looks at, unless the policy
 * takes them in all the same: with another request the HPA would see another utilisation for the same
 * load, and scale; and with less usage in each of more pods, the next recommendation would be less again.
 * Their limit stays too, since it caps the usage that the HPA sees. The other resource goes on.
 */
export function horizontalAutoscalerConflicts(
  { autoscalers, policy }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  if (policy.updateStrategy.allowWithHPA) return undefined;
  return withoutPairs(wanted, "HPAConflict", {
    against: ({ container, resource }) => {
      const acting = autoscalers.find((one) =>
        sharesOf(one, resource).some((target) => (target.container ?? container) === container)
      );
      return acting &&
        `HPA ${acting.metadata.name} divides the ${RESOURCE_WORDS[resource]} usage ` +
          `of ${container} by its request, which stays`;
    },
  });
}

const RESOURCE_WORDS = { cpu: "CPU", memory: "memory" } as const;

/** What it divides by requests. */
function sharesOf(
  { cpuTargets, memoryTargets = [] }: HorizontalPodAutoscaler,
  resource: ResourceName,
): readonly MemoryTarget[] {
  if (resource === "memory") return memoryTargets;
  return cpuTargets.filter(({ utilization }) => utilization !== undefined);
}

/**
 * Leaves alone what a VPA in any mode but `Off` sets. What its policies say of memory is not read, so
 * memory is taken for its own; CPU that it does not control goes on.
 */
export function verticalAutoscalerConflicts(
  { verticalAutoscalers }: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  return withoutPairs(wanted, "VPAConflict", {
    against: ({ container, resource }) => {
      const acting = verticalAutoscalers.find((one) =>
        one.updateMode !== "Off" && (resource === "memory" || setsCPU(one, [container]))
      );
      if (acting === undefined) return undefined;
      const { target: { kind, name }, updateMode, metadata } = acting;
      return `VPA ${metadata.name}, mode ${updateMode}, sets the resources of ${kind} ${name}`;
    },
  });
}

/**
 * Clamps each value into the ranges, and holds where a pod would lie outside of them all the same: the
 * server looks at every container and init container again. It also holds where a resize would let the
 * server write a LimitRange's defaults into a pod.
 */
export function outsideRanges(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const { ranges } = facts;
  if (ranges === undefined || wanted.size === 0) return undefined;
  const method = methodFor(facts, wanted);
  const defaults = method === "InPlace" ? defaultsProblem(facts, ranges) : undefined;
  if (defaults !== undefined) {
    return { verdict: "hold", reason: "LimitRange", message: defaults };
  }
  const subjects = fittedSubjects(facts, method);
  const inside = wantedOf(pairsOf(wanted).map((entry) => clamped(entry, { ranges, subjects })));
  const fitting = subjects.reduce((rest, subject) => fitPod(rest, { ranges, subject }), inside);
  for (const subject of subjects) {
    const problem = problemOf(subject, { ranges, wanted: fitting });
    if (problem !== undefined) {
      return { verdict: "hold", reason: "LimitRange", message: `${subject.name}: ${problem}` };
    }
  }
  const words = describeCut(wanted, fitting);
  if (words === "") return undefined;
  const message = `the LimitRange allows no more, or no less: ${words}`;
  return { verdict: "clamp", reason: "LimitRange", message, wanted: fitting };
}

function defaultsProblem(
  { pods }: RightsizingFacts,
  { defaults, cpu = { container: ANYTHING, pod: ANYTHING } }: ResourceRanges,
): string | undefined {
  if (defaults === undefined) return undefined;
  const check = wouldWriteDefaults("LimitRange");
  for (const pod of pods) {
    const verdict = check({ pod, limitRange: { ...cpu, defaults } });
    if (verdict !== undefined) return `pod ${pod.metadata.name}: ${verdict.message}`;
  }
  return undefined;
}

const ANYTHING: CPURange = { min: 0, max: Infinity, ratio: Infinity };

interface Bounded {
  readonly ranges: ResourceRanges;
  readonly subjects: readonly Subject[];
}

/** The pair inside of the container's range; a ratio cuts a wanted limit, or raises the request to one that stays. */
function clamped(entry: PairEntry, { ranges, subjects }: Bounded): PairEntry {
  const range = ranges[entry.resource]?.container;
  if (range === undefined) return entry;
  const into = (value: number): number => Math.min(Math.max(value, range.min), range.max);
  const { request, limit } = entry.pair;
  if (request === undefined) {
    return { ...entry, pair: pair(request, limit === undefined ? limit : into(limit)) };
  }
  const staying = limit !== undefined ? 0 : Math.max(
    0,
    ...subjects.map((subject) => presentPair(subject, entry).limit ?? 0),
  );
  const least = range.ratio === Infinity ? 0 : Math.ceil(staying / range.ratio);
  const fits = into(Math.max(request, least));
  const most = range.ratio === Infinity ? Infinity : Math.floor(range.ratio * fits);
  return { ...entry, pair: pair(fits, limit === undefined ? limit : Math.min(into(limit), most)) };
}

function presentPair(
  { containers }: Subject,
  { container, resource }: Pick<PairEntry, "container" | "resource">,
): ResourcePair {
  const present = containers.find(({ name }) => name === container);
  return present === undefined ? {} : pairOf(present, resource);
}

/** Raises cut to what the range allows the pod as a whole. */
function fitPod(
  wanted: WantedResources,
  { ranges, subject }: { readonly ranges: ResourceRanges; readonly subject: Subject },
): WantedResources {
  let fitting = wanted;
  for (const resource of RESOURCE_NAMES) {
    for (const side of PAIR_SIDES) {
      const max = ranges[resource]?.pod.max ?? Infinity;
      const total = podTotal(
        { ...subject, containers: containersWanted(subject, fitting) },
        fieldOf(resource, side),
      ) ?? 0;
      const base = (container: string): number =>
        presentPair(subject, { container, resource })[side] ?? 0;
      fitting = cutValues(fitting, { resource, side, excess: total - max, base });
    }
  }
  return fitting;
}

interface RangesAsked {
  readonly ranges: ResourceRanges;
  readonly wanted: WantedResources;
}

/** Why the server would refuse the subject with these values; undefined when it would not. */
function problemOf(subject: Subject, { ranges, wanted }: RangesAsked): string | undefined {
  const after = { ...subject, containers: containersWanted(subject, wanted) };
  const all = [
    ...after.containers.map((one) => [`container ${one.name}`, one] as const),
    ...after.initContainers.map((one) => [`init container ${one.name}`, one] as const),
  ];
  for (const resource of RESOURCE_NAMES) {
    const range = ranges[resource];
    if (range === undefined) continue;
    const format = (amount: number): string => formatOf(resource, amount);
    for (const [who, container] of all) {
      const { request, limit } = pairOf(container, resource);
      const problem = rangeProblem(range.container, { request, limit }, { format });
      if (problem !== undefined) return `${resource} of ${who}: ${problem}`;
    }
    const problem = rangeProblem(range.pod, {
      request: podTotal(after, fieldOf(resource, "request")),
      limit: podTotal(after, fieldOf(resource, "limit")),
    }, { format });
    if (problem !== undefined) return `${resource} of all containers: ${problem}`;
  }
  return undefined;
}

/** Ratios may come to fractions of a byte. */
function formatOf(resource: ResourceName, amount: number): string {
  return formatAmount(resource, Math.floor(amount));
}

/**
 * Cuts raises to what the quotas leave, summed over all pods: a raise that fits one of them may be
 * refused to the last. Decreases always pass, and make room.
 */
export function overQuotas(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const subjects = presentSubjects(facts, methodFor(facts, wanted));
  const pods = subjects.reduce((sum, { count }) => sum + count, 0);
  const words: string[] = [];
  let fitting = wanted;
  for (const quota of facts.quotas) {
    const { name, resource, of: side } = quota;
    const net = netOf(subjects, { wanted: fitting, quota });
    const room = Math.max(0, quota.room);
    if (net <= room) continue;
    const field = fieldOf(resource, side);
    const base = (container: string): number =>
      Math.min(
        ...subjects.map(({ containers }) =>
          containers.find((one) => one.name === container)?.[field] ?? 0
        ),
      );
    fitting = cutValues(fitting, { resource, side, base, excess: Math.ceil((net - room) / pods) });
    words.push(
      `ResourceQuota ${name} leaves ${formatAmount(resource, room)} of ${side}s.${resource} ` +
        `for a raise of ${formatAmount(resource, net)} in ${pods} pods`,
    );
  }
  if (words.length === 0) return undefined;
  const message = words.join("; ");
  return { verdict: "clamp", reason: "QuotaExceeded", message, wanted: fitting };
}

interface QuotaAsked {
  readonly wanted: WantedResources;
  readonly quota: QuotaRoom;
}

/** Σ of raises less Σ of decreases over all pods. */
function netOf(
  subjects: readonly Subject[],
  { wanted, quota: { resource, of } }: QuotaAsked,
): number {
  const field = fieldOf(resource, of);
  return subjects.reduce((sum, subject) => {
    const after = containersWanted(subject, wanted);
    const own = subject.containers.reduce(
      (total, present, index) => total + (after[index]?.[field] ?? 0) - (present[field] ?? 0),
      0,
    );
    return sum + subject.count * own;
  }, 0);
}

/**
 * Cuts requests to what a node has for all its pods, though not below the template's: of running pods
 * their own, since a kubelet calls more infeasible and never tries again, and of those to come the
 * largest, since more would find no node. What other pods take is not counted: the kubelet waits for
 * that.
 *
 * A pod that lacks what is in force, on a node that has too little for it, cuts nothing: it stays as it
 * is (see `inPlacePlan()`), and that is told. All the others would be lowered for its sake.
 */
export function overNodes(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const method = methodFor(facts, wanted);
  if (method === undefined) return undefined;
  const words: string[] = [];
  let fitting = wanted;
  for (const subject of presentSubjects(facts, method)) {
    const { name, nodeName } = subject;
    const [who, node] = nodeName === undefined
      ? ["the largest node", facts.largestNode] as const
      : [`node ${nodeName}`, facts.nodes.get(nodeName)] as const;
    const after = { ...subject, containers: containersWanted(subject, fitting) };
    for (const { resource, most, total } of nodeShortages(after, node)) {
      const word = `${who} has ${formatAmount(resource, most)} of ${resource}, ${name} would ` +
        `request ${formatAmount(resource, total)}`;
      if (isBehind(subject, resource, { facts })) {
        words.push(`${word}, and stays as it is`);
        continue;
      }
      const field = fieldOf(resource, "request");
      const base = (container: string): number =>
        facts.workload.template.containers.find((one) => one.name === container)?.[field] ?? 0;
      const cut = cutValues(fitting, { resource, side: "request", base, excess: total - most });
      if (cut === fitting) continue;
      fitting = cut;
      words.push(word);
    }
  }
  if (words.length === 0) return undefined;
  const told = { reason: "NodeCapacity", message: words.join("; ") } as const;
  return fitting === wanted
    ? { verdict: "tell", ...told }
    : { verdict: "clamp", ...told, wanted: fitting };
}

/** Whether a running pod requests less of it than is in force. */
function isBehind(
  subject: Subject,
  resource: ResourceName,
  { facts: { inForce } }: { readonly facts: Pick<RightsizingFacts, "inForce"> },
): boolean {
  if (subject.nodeName === undefined) return false;
  const containers = containersWanted(subject, wantedOf(entriesInForce(inForce)));
  const field = fieldOf(resource, "request");
  return (podTotal({ ...subject, containers }, field) ?? 0) > (podTotal(subject, field) ?? 0);
}

/** Clamps to what keeps the class of each pod, and of those to come; holds where nothing does. */
export function qosWouldChange(facts: RightsizingFacts, wanted: WantedResources): GuardVerdict {
  const kept = keepClass(wanted, fittedSubjects(facts, methodFor(facts, wanted)));
  const reason = "QoSWouldChange";
  if ("problem" in kept) return { verdict: "hold", reason, message: kept.problem };
  if (kept.words.length === 0) return undefined;
  return { verdict: "clamp", reason, message: kept.words.join("; "), wanted: kept.wanted };
}

/**
 * Cuts each request at the limit that its container has after the change, in each pod and in new ones:
 * where limits stay, a recommendation above them can't be had. What the pod says for all its containers
 * together holds.
 */
export function requestAboveLimit(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const subjects = fittedSubjects(facts, methodFor(facts, wanted));
  const capped = capRequests(wanted, subjects);
  for (const subject of subjects) {
    const problem = podLevelProblem(subject, capped);
    if (problem !== undefined) {
      return { verdict: "hold", reason: "PodLevelLimit", message: problem };
    }
  }
  const words = describeCut(wanted, capped);
  if (words === "") return undefined;
  const message = `a request may not be above its container's limit: ${words}`;
  return { verdict: "clamp", reason: "RequestAboveLimit", message, wanted: capped };
}

/**
 * Leaves out raises while a node of the workload's pods is short of memory, disk or process IDs.
 * Decreases go on: they help.
 */
export function nodeUnderPressure(
  facts: RightsizingFacts,
  wanted: WantedResources,
): GuardVerdict {
  const pressed = presentSubjects(facts, "InPlace").flatMap((subject) => {
    const pressures = facts.nodes.get(subject.nodeName ?? "")?.pressures ?? [];
    return pressures.length === 0 ? [] : [{ subject, pressures }];
  });
  return withoutPairs(wanted, "NodePressure", {
    against: ({ container, resource }) => {
      for (const { subject, pressures } of pressed) {
        const index = subject.containers.findIndex(({ name }) => name === container);
        const present = pairOf(subject.containers[index] ?? {}, resource);
        const after = pairOf(containersWanted(subject, wanted)[index] ?? {}, resource);
        const raises = (after.request ?? 0) > (present.request ?? 0) ||
          (after.limit ?? Infinity) > (present.limit ?? Infinity);
        if (!raises) continue;
        return `no raise of ${container} ${resource}: node ${subject.nodeName} has ` +
          pressures.join(", ");
      }
      return undefined;
    },
  });
}
