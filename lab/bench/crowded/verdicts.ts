/**
 * Whether a run kept to what is asked of it.
 *
 * @module
 */
import { NEVER_READY } from "./crowd.ts";
import type { CrowdResult } from "./crowd_result.ts";
import { isForeseeable, isRefusal } from "./refusal_kind.ts";

/** One thing that is asked for, and what was found. */
export interface Verdict {
  readonly goal: string;
  readonly met: boolean;
  readonly found: string;
}

/** How often something is named before the rest is only counted. */
const NAMED = 3;

/** All verdicts on a run, the one with the market off too: it shows what the platform does alone. */
export function verdictsOf(result: CrowdResult): Verdict[] {
  return [
    marketActs(result),
    ...(result.law === "with" ? [rulesBind(result)] : []),
    foreseenRefusals(result),
    quotas(result),
    objects(result),
    optedOut(result),
    neverReady(result),
  ];
}

/** An agent that can't see its pods refuses nothing, lowers nothing, and proves nothing. */
function marketActs({ law, figures: { changesPerMinute } }: CrowdResult): Verdict {
  return {
    goal: law === "with" ? "the market changes limits" : "no limit changes",
    met: law === "with" ? changesPerMinute > 0 : changesPerMinute === 0,
    found: `${changesPerMinute.toFixed(1)} changes a minute`,
  };
}

/** What the scene is there for: without these it would be kept by chance. */
const RULES = ["QuotaExceeded", "LimitRange", "HPAFloor", "PodNotReady"];

function rulesBind({ bounds = [] }: CrowdResult): Verdict {
  const missing = RULES.filter((rule) => bounds.every(({ what }) => what !== rule));
  return {
    goal: "quotas, LimitRange, autoscaler and readiness set bounds",
    met: missing.length === 0,
    found: missing.length === 0
      ? bounds.map(({ what, count }) => `${what} of ${count} pods`).join(", ")
      : `never ${missing.join(", ")}`,
  };
}

/** What the controllers say of the same: then the audit log must not be silent about it. */
const FORESEEN_BY_CONTROLLER = /^refused (QuotaExceeded|LimitRange|NodeCapacity)$/;

function foreseenRefusals({ writes }: CrowdResult): Verdict {
  const foreseeable = writes.notAccepted.filter(({ kind }) => isForeseeable(kind));
  const others = writes.notAccepted.filter(({ kind }) => isRefusal(kind) && !isForeseeable(kind));
  const all = writes.byKind.reduce((sum, { count }) => sum + count, 0);
  const counted = writes.outcomes.filter(({ what }) => FORESEEN_BY_CONTROLLER.test(what))
    .reduce((sum, { count }) => sum + count, 0);
  const rest = others.length === 0 ? "" : `, and ${others.length} that none could`;
  const more = counted === foreseeable.length ? "" : `; the controllers counted ${counted}`;
  return {
    goal: "no write is refused that a check could have foreseen",
    met: foreseeable.length === 0 && counted === 0,
    found: `${foreseeable.length} of ${all} resizes${rest}${more}`,
  };
}

function quotas({ quotas }: CrowdResult): Verdict {
  const over = quotas.flatMap(({ place, limits, used, hard, usedRequests, hardRequests }) =>
    limits.flatMap((sum, second) => {
      const [most = 0, counted = 0] = [hard[second], used[second]];
      const requests = (usedRequests[second] ?? 0) > (hardRequests[second] ?? 0);
      if (sum <= most && counted <= most && !requests) return [];
      return [`${place} at ${second} s: limits ${sum}, counted ${counted}, allowed ${most} m`];
    })
  );
  const samples = quotas.reduce((sum, { limits }) => sum + limits.length, 0);
  const peaks = quotas.map(({ place, limits, used, hard }) =>
    `${place} up to ${Math.max(...limits, ...used)} of ${Math.max(...hard)} m`
  );
  return {
    goal: "limits and what is counted of them stay within each quota",
    met: over.length === 0 && samples > 0,
    found: over.length === 0
      ? `${samples} samples: ${peaks.join(", ")}`
      : `${over.length} of ${samples} samples over: ${some(over)}`,
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

function optedOut({ objects: { optedOutSame }, writes: { ofOptedOut } }: CrowdResult): Verdict {
  return {
    goal: "the opted-out pod's spec stays the same",
    met: optedOutSame && ofOptedOut === 0,
    found: `${optedOutSame ? "the same" : "another"}, ${ofOptedOut} resizes were asked for`,
  };
}

function neverReady({ neverReady: { spec, kernel }, performers }: CrowdResult): Verdict {
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
