/**
 * The verdict on a pod: the first cause that blocks it, from the outermost in, or that its limits cover
 * its demand. Pure.
 *
 * @module
 */
import { defined } from "../defined.ts";
import { LIST_CONTROLLERS } from "../installation.ts";
import { isAtCeiling } from "../market/rounding.ts";
import { GRID } from "../quantity.ts";
import { restoredCause } from "../resize/scope.ts";
import { remedyFor, sentenceOf } from "../api/reasons/reasons.ts";
import { coresText, cpuText } from "./figures.ts";
import { ceilingRule, holdText, rulesThatHold, stateText } from "./stage_text.ts";
import {
  type ContainerExplanation,
  type DemandAndLimit,
  demandAndLimit,
  demandsAndLimits,
  exceeds,
  type Explanation,
  isUnenforced,
  takesPart,
} from "./explanation.ts";

/** A cause, and what can be done about it. */
export interface Blocker {
  /** Name of the rule that found it. */
  readonly by: string;
  readonly message: string;
  readonly remedy?: string | undefined;
}

type Finding = Omit<Blocker, "by"> | undefined;

/**
 * True when the container's demand is known to exceed its limit; a limit that the kernel does not
 * enforce blocks nothing.
 */
function exceedsLimit(container: ContainerExplanation): boolean {
  return !isUnenforced(container) && exceeds(demandAndLimit(container)) === true;
}

const CHECK_CONTROLLER = `does it run? ${LIST_CONTROLLERS}`;

/** The remedy where no rule says which bound is the lowest. */
const ANY_CEILING = "a larger original limit, mbcas.io/max-cpu or burst factor raises the ceiling";

/** The rules by which a cause is found, from the outermost in. */
const RULES: Readonly<Record<string, (all: Explanation) => Finding>> = {
  OutsideTheMarket({ outside }) {
    if (outside === undefined) return undefined;
    const { reason, message } = outside;
    return { message: `${reason}: ${message}`, remedy: remedyFor(reason) };
  },
  NotRunning({ phase, terminating, node }) {
    if (terminating) return { message: "the pod is terminating" };
    if (phase === "Running" && node !== "") return undefined;
    return { message: node === "" ? "the pod is on no node yet" : `the pod is ${phase}` };
  },
  NoAllocation({ hasAllocation }) {
    if (hasAllocation) return undefined;
    return {
      message: "the controller has made no allocation for the pod",
      remedy: CHECK_CONTROLLER,
    };
  },
  NodeHoldsLimits({ nodeView }) {
    const { node, held } = nodeView ?? {};
    if (held === undefined) return undefined;
    return {
      message: `no limit moves on node ${node}: ${held}: ${sentenceOf(held)}`,
      remedy: remedyFor(held),
    };
  },
  ControllerHolds({ controller }) {
    const { reason, message } = controller ?? {};
    if (reason === undefined) {
      return {
        message: "the controller has not checked the desired limit yet",
        remedy: `if it lasts, ${CHECK_CONTROLLER}`,
      };
    }
    if (reason === "Applied") return undefined;
    // The original limits were restored for a cause, which is what a user can change.
    const cause = reason === "Restored" ? restoredCause(message ?? "") : undefined;
    return {
      message: `${reason}: ${message ?? sentenceOf(reason)}`,
      remedy: remedyFor(cause ?? reason),
    };
  },
  KubeletIsBehind({ containers, resizeConditions }) {
    // A kubelet that does not enforce a limit never reports it.
    const behind = containers.filter((one) => !isUnenforced(one)).filter(({ limit, applied }) =>
      limit !== undefined && applied !== undefined && Math.abs(applied - limit) >= GRID
    );
    const [first] = behind;
    if (first === undefined) return undefined;
    const [condition] = resizeConditions;
    const cause = condition === undefined
      ? "it has not said why"
      : [condition.type, condition.reason, condition.message].filter(Boolean).join(": ");
    return {
      message: `the kubelet still has ${cpuText(first.applied)} for ${first.name}, not ${
        cpuText(first.limit)
      }: ${cause}`,
    };
  },
  BoundsHold({ containers, bounds }) {
    const held = containers.find((one) => one.bounds?.held === "both" && exceedsLimit(one));
    if (held === undefined) return undefined;
    const rules = rulesThatHold("both", bounds?.rules ?? []);
    const why = rules.map(({ reason, message }) => `${reason}: ${message}`).join("; ");
    const message = `the controller keeps the limit of ${held.name} as it is: ${
      why || bounds?.reason
    }`;
    return { message, remedy: rules.map(({ reason }) => remedyFor(reason)).find(Boolean) };
  },
  CeilingBinds({ containers, bounds }) {
    const bound = containers.find((one) =>
      exceedsLimit(one) && one.view !== undefined && isAtCeiling(one.view) &&
      exceeds({ demand: one.view.demand, limit: one.view.ceiling }) === true
    );
    if (bound === undefined) return undefined;
    const rule = ceilingRule(bound.name, bounds ?? {});
    const why = rule === undefined ? bounds?.reason : `${rule.reason}: ${rule.message}`;
    const message = `the ceiling of ${bound.name}, ${cpuText(bound.view?.ceiling)} (${why}), ` +
      `is below its demand of ${cpuText(bound.view?.demand)}`;
    return { message, remedy: remedyFor(rule?.reason ?? "") ?? ANY_CEILING };
  },
  NodeIsShort({ containers, nodeView }) {
    if (nodeView === undefined || nodeView.mode === "uncongested") return undefined;
    const short = containers.find((one) =>
      exceedsLimit(one) && one.view !== undefined && one.view.share < one.view.need - GRID
    );
    if (short === undefined) return undefined;
    return {
      message:
        `node ${nodeView.node} is ${nodeView.mode}: its ${
          coresText(nodeView.capacity)
        } cores are ` +
        `divided, and the share of ${short.name} is ${cpuText(short.view?.share)} of the ` +
        `${cpuText(short.view?.need)} that it needs`,
      remedy: remedyFor(nodeView.mode === "congested" ? "NodeCongested" : "NodeOverloaded"),
    };
  },
  /**
   * The agent answers, but has not read the container's cgroup yet or does not know the container.
   */
  NoReadings({ containers, nodeView }) {
    if (nodeView === undefined) return undefined;
    const unread = containers.filter((one) => takesPart(one) && one.view?.demand === undefined);
    if (unread.length === 0) return undefined;
    const names = unread.map(({ name }) => name).join(", ");
    return {
      message: `the agent has no readings of ${names}: ` +
        (unread.length === 1 ? "its limit stays" : "their limits stay"),
      remedy: `if it lasts, look at the log of the agent on node ${nodeView.node}`,
    };
  },
  /** Without an agent's view, compares the demand and the limit that were published last. */
  WrittenNeedIsBounded({ nodeView, market, desired }) {
    if (nodeView !== undefined || market === undefined || desired === undefined) return undefined;
    // At least one of its containers has a limit that is not enforced.
    if (market.reason === "QuotaOff") return undefined;
    if (exceeds({ demand: market.demand, limit: desired }) !== true) return undefined;
    const figures = `its demand of ${cpuText(market.demand)} is above its limit of ` +
      `${cpuText(desired)}, as last written down`;
    if (market.need < market.demand - GRID) return { message: `the ceiling: ${figures}` };
    return market.mode === "uncongested"
      ? { message: `pacing: ${figures}` }
      : { message: `the node is ${market.mode}: ${figures}`, remedy: remedyFor("NodeCongested") };
  },
  PacingWaits({ containers }) {
    const waiting = containers.find((one) => exceedsLimit(one) && one.view?.waiting !== undefined);
    return waiting === undefined
      ? undefined
      : { message: `for a moment by pacing: ${waiting.name}: ${waiting.view?.waiting}` };
  },
};

/** The first cause that blocks the pod; undefined when none is known. */
export function blockerOf(explanation: Explanation): Blocker | undefined {
  for (const [by, find] of Object.entries(RULES)) {
    const finding = find(explanation);
    if (finding !== undefined) return defined({ by, ...finding });
  }
  return undefined;
}

/** Whether something blocks the pod. */
export interface Verdict {
  /** For instance `Blocked`. */
  readonly title: string;
  /** True when it is known that no limit keeps the pod from its demand. */
  readonly covered: boolean;
  /** The cause and its figures. */
  readonly text: string;
  /** Whether the node's CPU is free or scarce; see `stateText()`. */
  readonly state?: string;
  readonly remedy?: string | undefined;
}

/** The verdict on the pod. */
export function verdictOf(explanation: Explanation): Verdict {
  const { outside, containers, nodeView, bounds = {} } = explanation;
  const state = nodeView && stateText(nodeView, containers.flatMap(({ view }) => view ?? []));
  const blocker = blockerOf(explanation);
  if (blocker !== undefined) {
    const title = outside === undefined ? "Blocked" : "Not in the market";
    const { message: text, remedy } = blocker;
    return defined({ title, covered: false, text, state, remedy });
  }
  const { text, ...verdict } = unblockedVerdict(explanation);
  // A limit that is not to be lowered blocks nothing, but explains why it is above the demand.
  const holds = containers.flatMap(({ name, bounds: containerBounds }) =>
    containerBounds?.held === undefined
      ? []
      : [`; ${name} is ${holdText(containerBounds.held, bounds)}`]
  );
  return defined({ ...verdict, text: text + holds.join(""), state });
}

const NOT_BLOCKED = "Not blocked";
const NOTHING_KNOWN = "Nothing is known to block it";

/** Says that the limits cover the demand only where the agent knows both, of all containers. */
export function unblockedVerdict(explanation: Explanation): Omit<Verdict, "state"> {
  if (explanation.nodeView === undefined) return writtenVerdict(explanation);
  const parts = demandsAndLimits(explanation);
  const covered = parts.every((part) => exceeds(part) === false);
  const unlimited = explanation.containers.filter(isUnenforced).map(({ name }) => name);
  if (unlimited.length === 0) {
    return covered && parts.length > 0
      ? { title: NOT_BLOCKED, covered, text: "the limit covers the demand" }
      : { title: NOTHING_KNOWN, covered: false, text: figures(parts) };
  }
  const unenforced =
    `${unlimited.length === 1 ? "the limit" : "the limits"} of ${unlimited.join(", ")} ` +
    `${unlimited.length === 1 ? "is" : "are"} not enforced: QuotaOff`;
  const text = !covered
    ? `${figures(parts)} beside what is free; ${unenforced}`
    : parts.length === 0
    ? unenforced
    : `what is limited has what it demands; ${unenforced}`;
  const title = covered ? NOT_BLOCKED : NOTHING_KNOWN;
  return { title, covered, text, remedy: remedyFor("QuotaOff") };
}

/**
 * No agent answers: what was written when a limit last moved may be hours old, and covers nothing now.
 */
function writtenVerdict(explanation: Explanation): Omit<Verdict, "state"> {
  const isOff = explanation.market?.reason === "QuotaOff";
  const text = `as last written down: ${figures(demandsAndLimits(explanation))}` +
    `${isOff ? ", QuotaOff" : ""}; the agent's readings are not known`;
  const remedy = isOff ? remedyFor("QuotaOff") : undefined;
  return { title: NOTHING_KNOWN, covered: false, text, remedy };
}

function figures(parts: readonly DemandAndLimit[]): string {
  const demand = sumOf(parts.map((part) => part.demand));
  const limit = sumOf(parts.map((part) => part.limit));
  return `demand ${knownText(demand)}, limit ${knownText(limit)}`;
}

/** The sum; undefined where a value is undefined, and without values. */
function sumOf(values: readonly DemandAndLimit["demand"][]): number | undefined {
  return values.length === 0 ? undefined : values.reduce(
    (sum, value) => sum === undefined || value === undefined ? undefined : sum + value,
    0,
  );
}

function knownText(millicores: number | undefined): string {
  return millicores === undefined ? "not known" : cpuText(millicores);
}
