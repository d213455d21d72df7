/**
 * What holds a pod back: the first of a list of causes, from the outermost in. Pure.
 *
 * @module
 */
import { restoredCause } from "../../../shared/resize/scope.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { coresText, cpuText } from "../formats.ts";
import { ceilingRule, rulesThatHold } from "./bound_rules.ts";
import type { ContainerExplanation, Explanation } from "./explanation.ts";
import { demandAndLimit, exceeds, isUnenforced, takesPart } from "./known_demand.ts";

/** A cause, and what can be done about it. */
export interface Blocker {
  /** Name of the rule that found it. */
  readonly by: string;
  readonly words: string;
  readonly remedy?: string;
}

type Finding = Omit<Blocker, "by"> | undefined;

/** The kubelet's quotas move in steps of this size, millicores. */
const GRID = 10;

/**
 * True when the container is known to want more than it may use; a limit that counts for nothing lets
 * all.
 */
function wantsMore(container: ContainerExplanation): boolean {
  return !isUnenforced(container) && exceeds(demandAndLimit(container)) === true;
}

function nodeHoldsLimits({ nodeView }: Explanation): Finding {
  const { node, held } = nodeView ?? {};
  if (held === undefined) return undefined;
  return withRemedy(
    `no limit moves on node ${node}: ${held}: ${sentenceOf(held)}`,
    remedyFor(held),
  );
}

function outsideTheMarket({ outside }: Explanation): Finding {
  if (outside === undefined) return undefined;
  return withRemedy(`${outside.reason}: ${outside.message}`, remedyFor(outside.reason));
}

function notRunning({ phase, terminating, node }: Explanation): Finding {
  if (terminating) return { words: "the pod is terminating" };
  if (phase === "Running" && node !== "") return undefined;
  return { words: node === "" ? "the pod is on no node yet" : `the pod is ${phase}` };
}

function noAllocation({ hasAllocation }: Explanation): Finding {
  if (hasAllocation) return undefined;
  return {
    words: "the controller has made no allocation for the pod",
    remedy: "does it run? kubectl -n mbcas-system get pods",
  };
}

function controllerHolds({ controller }: Explanation): Finding {
  const { reason, message } = controller ?? {};
  if (reason === undefined) {
    return {
      words: "the controller has not checked the desired limit yet",
      remedy: "if it lasts, does it run? kubectl -n mbcas-system get pods",
    };
  }
  if (reason === "Applied") return undefined;
  const words = `${reason}: ${message ?? sentenceOf(reason)}`;
  // Original limits are back for a cause, and that is what can be mended.
  const cause = reason === "Restored" ? restoredCause(message ?? "") : undefined;
  return withRemedy(words, remedyFor(cause ?? reason));
}

function kubeletIsBehind({ containers, resizeConditions }: Explanation): Finding {
  // What it does not enforce it never reports, either.
  const behind = containers.filter((one) => !isUnenforced(one)).filter(({ limit, applied }) =>
    limit !== undefined && applied !== undefined && Math.abs(applied - limit) >= GRID
  );
  const [first] = behind;
  if (first === undefined) return undefined;
  const [condition] = resizeConditions;
  const word = condition === undefined
    ? "it has not said why"
    : [condition.type, condition.reason, condition.message].filter(Boolean).join(": ");
  return {
    words: `the kubelet still has ${cpuText(first.applied)} for ${first.name}, not ${
      cpuText(first.limit)
    }: ${word}`,
  };
}

function boundsHold({ containers, bounds }: Explanation): Finding {
  const held = containers.find((one) => one.bounds?.held === "both" && wantsMore(one));
  if (held === undefined) return undefined;
  const rules = rulesThatHold("both", bounds?.rules ?? []);
  const why = rules.map(({ reason, message }) => `${reason}: ${message}`).join("; ");
  const words = `the controller keeps the limit of ${held.name} as it is: ${why || bounds?.reason}`;
  return withRemedy(words, rules.map(({ reason }) => remedyFor(reason)).find(Boolean));
}

/** Where no rule shows which bound is the lowest. */
const ANY_CEILING = "a larger original limit, mbcas.io/max-cpu or burst factor raises the ceiling";

function ceilingBinds({ containers, bounds }: Explanation): Finding {
  const bound = containers.find((one) =>
    wantsMore(one) && one.view !== undefined && one.view.limit >= one.view.ceiling - GRID
  );
  if (bound === undefined) return undefined;
  const rule = ceilingRule(bound.name, bounds ?? {});
  const why = rule === undefined ? bounds?.reason : `${rule.reason}: ${rule.message}`;
  const words = `the ceiling of ${bound.name}, ${cpuText(bound.view?.ceiling)} (${why}), ` +
    `is below its demand of ${cpuText(bound.view?.demand)}`;
  return { words, remedy: remedyFor(rule?.reason ?? "") ?? ANY_CEILING };
}

/** Without an agent's view: by what was published last. */
function writtenNeedIsBounded({ nodeView, market, desired }: Explanation): Finding {
  if (nodeView !== undefined || market === undefined || desired === undefined) return undefined;
  // Of one of its containers at least the limit holds nothing back.
  if (market.reason === "QuotaOff") return undefined;
  if (exceeds({ demand: market.demand, limit: desired }) !== true) return undefined;
  const words = `its demand of ${cpuText(market.demand)} is above its limit of ` +
    `${cpuText(desired)}, as last written down`;
  if (market.need < market.demand - GRID) return { words: `the ceiling: ${words}` };
  return market.mode === "uncongested"
    ? { words: `pacing: ${words}` }
    : withRemedy(`the node is ${market.mode}: ${words}`, remedyFor("NodeCongested"));
}

function nodeIsShort({ containers, nodeView }: Explanation): Finding {
  if (nodeView === undefined || nodeView.mode === "uncongested") return undefined;
  const short = containers.find((one) =>
    wantsMore(one) && one.view !== undefined && one.view.share < one.view.need - GRID
  );
  if (short === undefined) return undefined;
  return withRemedy(
    `node ${nodeView.node} is ${nodeView.mode}: its ${coresText(nodeView.capacity)} cores are ` +
      `divided, and the share of ${short.name} is ${cpuText(short.view?.share)} of the ` +
      `${cpuText(short.view?.need)} that it needs`,
    remedyFor(nodeView.mode === "congested" ? "NodeCongested" : "NodeOverloaded"),
  );
}

/**
 * The agent answers, and has not read the container's cgroup so far, or does not know the container.
 */
function noReadings({ containers, nodeView }: Explanation): Finding {
  if (nodeView === undefined) return undefined;
  const unread = containers.filter((one) => takesPart(one) && one.view?.demand === undefined);
  if (unread.length === 0) return undefined;
  const names = unread.map(({ name }) => name).join(", ");
  return {
    words: `the agent has no readings of ${names}: ` +
      (unread.length === 1 ? "its limit stays" : "their limits stay"),
    remedy: `if it lasts, look at the log of the agent on node ${nodeView.node}`,
  };
}

function pacingWaits({ containers }: Explanation): Finding {
  const waiting = containers.find((one) => wantsMore(one) && one.view?.waiting !== undefined);
  return waiting === undefined
    ? undefined
    : { words: `for a moment by pacing: ${waiting.name}: ${waiting.view?.waiting}` };
}

const RULES: readonly { readonly by: string; readonly find: (all: Explanation) => Finding }[] = [
  { by: "OutsideTheMarket", find: outsideTheMarket },
  { by: "NotRunning", find: notRunning },
  { by: "NoAllocation", find: noAllocation },
  { by: "NodeHoldsLimits", find: nodeHoldsLimits },
  { by: "ControllerHolds", find: controllerHolds },
  { by: "KubeletIsBehind", find: kubeletIsBehind },
  { by: "BoundsHold", find: boundsHold },
  { by: "CeilingBinds", find: ceilingBinds },
  { by: "NodeIsShort", find: nodeIsShort },
  { by: "NoReadings", find: noReadings },
  { by: "WrittenNeedIsBounded", find: writtenNeedIsBounded },
  { by: "PacingWaits", find: pacingWaits },
];

/** The first cause that holds the pod back; undefined when none is known. */
export function blockerOf(explanation: Explanation): Blocker | undefined {
  for (const { by, find } of RULES) {
    const finding = find(explanation);
    if (finding !== undefined) return { by, ...finding };
  }
  return undefined;
}

function withRemedy(words: string, remedy: string | undefined): Finding {
  return remedy === undefined ? { words } : { words, remedy };
}
