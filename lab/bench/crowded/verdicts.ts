/**
 * Compares a run of the crowded scene with its goals.
 *
 * @module
 */
import { NEVER_READY } from "./crowd.ts";
import { type AnswerKind, isForeseeable, isRefusal } from "./refusal_kind.ts";
import type { Lowering, QuotaSample, ReplicaSample } from "./watch_namespace.ts";
import type { Tally } from "./write_account.ts";

/** One run. CPU in millicores. */
export interface CrowdResult {
  readonly seed: number;
  readonly seconds: number;
  /** All resizes by the audit log. Seconds after the first request, below 0 before it. */
  readonly answers: readonly {
    readonly atS: number;
    readonly kind: AnswerKind;
    readonly isOfOptedOut: boolean;
    readonly message: string;
  }[];
  /** Resizes by outcome and reason, as the controllers count them. */
  readonly outcomes: readonly Tally[];
  /** One entry a second and namespace. */
  readonly quotas: readonly QuotaSample[];
  /** Numbers of compared objects, and what changed beside limits and replicas. */
  readonly objects: {
    readonly before: number;
    readonly after: number;
    readonly differences: readonly string[];
    readonly isOptedOutSame: boolean;
  };
  /** Decreases of the limit of the pod that is never Ready: in its spec, and in the kernel. */
  readonly lowerings: {
    readonly spec: readonly Lowering[];
    readonly kernel: readonly Lowering[];
  };
  /** Reasons of bounds, each with the number of its pods. */
  readonly bounds: readonly Tally[];
  readonly replicas: readonly ReplicaSample[];
  readonly performers: readonly {
    readonly name: string;
    readonly originalLimit: number;
    readonly meanLimit: number;
    readonly mostLimit: number;
  }[];
}

/** A goal, and the figures that were found. */
export interface Verdict {
  readonly goal: string;
  readonly met: boolean;
  readonly found: string;
}

/** The number of findings in a verdict before the rest is only counted. */
const NAMED = 3;

/** All verdicts on a run. */
export function verdictsOf(result: CrowdResult): Verdict[] {
  return [
    marketActs(result),
    rulesBind(result),
    foreseenRefusals(result),
    quotas(result),
    objects(result),
    optedOut(result),
    neverReady(result),
  ];
}

/** Without changes every other goal is met by chance. */
function marketActs({ answers, seconds }: CrowdResult): Verdict {
  const changes = answers.filter(({ kind, atS }) =>
    kind === "accepted" && atS >= 0 && atS < seconds
  );
  return {
    goal: "the market changes limits",
    met: changes.length > 0,
    found: `${(60 * changes.length / seconds).toFixed(1)} changes a minute`,
  };
}

/** The rules that the scene is made for. */
const RULES = ["QuotaExceeded", "LimitRange", "HPAFloor", "PodNotReady"];

function rulesBind({ bounds }: CrowdResult): Verdict {
  const missing = RULES.filter((rule) => bounds.every(({ what }) => what !== rule));
  return {
    goal: "quotas, LimitRange, autoscaler and readiness set bounds",
    met: missing.length === 0,
    found: missing.length === 0
      ? bounds.map(({ what, count }) => `${what} of ${count} pods`).join(", ")
      : `never ${missing.join(", ")}`,
  };
}

/** The controllers' outcomes for the same refusals: the audit log must have them, too. */
const FORESEEN_BY_CONTROLLER = /^refused (QuotaExceeded|LimitRange|NodeCapacity)$/;

function foreseenRefusals({ answers, outcomes }: CrowdResult): Verdict {
  const refusals = answers.filter(({ kind }) => isRefusal(kind));
  const foreseeable = refusals.filter(({ kind }) => isForeseeable(kind));
  const counted = outcomes.filter(({ what }) => FORESEEN_BY_CONTROLLER.test(what))
    .reduce((sum, { count }) => sum + count, 0);
  const others = refusals.length - foreseeable.length;
  const rest = others === 0 ? "" : `, and ${others} that none could`;
  const more = counted === foreseeable.length ? "" : `; the controllers counted ${counted}`;
  const messages = foreseeable.length === 0
    ? ""
    : `: ${some(foreseeable.map(({ atS, message }) => `${message} at ${atS.toFixed(1)} s`))}`;
  return {
    goal: "no write is refused that a check could have foreseen",
    met: foreseeable.length === 0 && counted === 0,
    found: `${foreseeable.length} of ${answers.length} resizes${rest}${more}${messages}`,
  };
}

function quotas({ quotas }: CrowdResult): Verdict {
  const over = quotas.filter(({ limits, used, hard, usedRequests, hardRequests }) =>
    limits > hard || used > hard || usedRequests > hardRequests
  ).map(({ place, atS, limits, used, hard }) =>
    `${place} at ${atS} s: limits ${limits}, counted ${used}, allowed ${hard} m`
  );
  return {
    goal: "limits and what is counted of them stay within each quota",
    met: over.length === 0 && quotas.length > 0,
    found: over.length === 0
      ? `${quotas.length} samples, up to ${
        Math.max(...quotas.map(({ limits, used, hard }) => 100 * Math.max(limits, used) / hard))
          .toFixed(0)
      } % of a quota`
      : `${over.length} of ${quotas.length} samples over: ${some(over)}`,
  };
}

function objects({ objects: { before, after, differences } }: CrowdResult): Verdict {
  return {
    goal: "no object is changed, made or removed that is not the market's",
    met: differences.length === 0 && before > 0 && after > 0,
    found: differences.length === 0
      ? `${before} objects before, ${after} after`
      : `${differences.length} differences: ${some(differences)}`,
  };
}

function optedOut({ objects: { isOptedOutSame }, answers }: CrowdResult): Verdict {
  const resizes = answers.filter(({ isOfOptedOut }) => isOfOptedOut).length;
  return {
    goal: "the opted-out pod's spec stays the same",
    met: isOptedOutSame && resizes === 0,
    found: `${isOptedOutSame ? "the same" : "another"}, ${resizes} resizes were requested`,
  };
}

function neverReady({ lowerings: { spec, kernel }, performers }: CrowdResult): Verdict {
  const fell = [
    ...spec.map((fall) => ({ ...fall, where: "spec" })),
    ...kernel.map((fall) => ({ ...fall, where: "kernel" })),
  ].map(({ atS, from, to, where }) => `${from} → ${to} m at ${atS.toFixed(1)} s (${where})`);
  const pod = performers.find(({ name }) => name === NEVER_READY);
  return {
    goal: "the limit of the pod that is never Ready is not lowered",
    met: fell.length === 0,
    found: fell.length === 0
      ? `never, it was up to ${pod?.mostLimit} m`
      : `${fell.length} times: ${some(fell)}`,
  };
}

function some(texts: readonly string[]): string {
  const named = texts.slice(0, NAMED).join("; ");
  return texts.length > NAMED ? `${named}; and ${texts.length - NAMED} more` : named;
}
