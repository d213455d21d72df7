/**
 * Each stage between readings and limit of a container, as text. Pure.
 *
 * @module
 */
import type { ContainerView, NodeView } from "./node_view.ts";
import type { BoundRule, ContainerBounds } from "../api/pod_allocation.ts";
import { cpuText, priceText, shareText, throttledText } from "./figures.ts";
import type { ExplainedBounds } from "./explanation.ts";
import { type Hold, holdOf, setsCeiling } from "../api/reasons/bound_reasons.ts";
import { remedyFor, sentenceOf } from "../api/reasons/reasons.ts";
import { isAtCeiling } from "../market/rounding.ts";

/** A container counts as throttled from this share of its limit on. */
const THROTTLED_SHARE = 0.01;

/** PSI of pod and node, after a semicolon; empty where the kernel offers none. */
export function cpuPressureText(
  pod: NodeView["cpuPressure"],
  node: NodeView["cpuPressure"],
): string {
  const parts = [["pod", pod], ["node", node]] as const;
  const known = parts.flatMap(([name, pressure]) =>
    pressure === undefined ? [] : [`${name} ${shareText(pressure.share)}`]
  );
  return known.length === 0 ? "" : `; CPU pressure in the last 10 s: ${known.join(", ")}`;
}

/** Usage, quota and throttled time. */
export function readingText(
  { usage, enforced, throttledMsPerSecond: throttledMs, throttledShare }: ContainerView,
): string {
  if (usage === undefined) return "no readings yet";
  const quota = enforced === undefined ? "without a quota" : `of a quota of ${cpuText(enforced)}`;
  const throttled = throttledMs === undefined || Math.round(throttledMs) === 0
    ? "not throttled"
    : `throttled ${throttledText(throttledMs)} ms in every second`;
  const periods = throttledShare === undefined || throttledShare === 0
    ? ""
    : `, in ${Math.round(throttledShare * 100)} % of the periods`;
  return `uses ${cpuText(usage)} ${quota}; ${throttled}${periods}`;
}

/** The estimated demand and its basis; `metric` is the demand by a metric, if one is configured. */
export function demandText(view: ContainerView, metric?: number): string {
  const { demand } = view;
  if (demand === undefined || metric === undefined) return kernelDemandText(view);
  return demand > metric
    ? `${kernelDemandText(view)}; a metric asks for ${cpuText(metric)}`
    : `would use ${cpuText(demand)}: a metric asks for ${cpuText(metric)}`;
}

function kernelDemandText(
  { usage, demand, limit, throttledMsPerSecond: throttledMs = 0 }: ContainerView,
): string {
  if (demand === undefined) return "unknown while there are no readings: the limit stays";
  const throttled = throttledMs > limit * THROTTLED_SHARE;
  if (throttled) {
    return `would use ${cpuText(demand)}: its usage can't show throttled demand`;
  }
  return (usage ?? 0) < demand
    ? `would use ${cpuText(demand)}: its recent usage with room for its swings`
    : `would use ${cpuText(demand)}: its usage, since nothing throttles it`;
}

/** Floor, ceiling and weight. */
export function boundsText({ floor, ceiling, weight, credit }: ContainerView): string {
  return `floor ${cpuText(floor)}, ceiling ${cpuText(ceiling)}, weight ${round(weight)} × credit ` +
    credit.toFixed(2);
}

/** The holds and the boost of the container beside its bounds, each after a semicolon. */
export function boundsNotes(
  { held, boost }: Pick<ContainerBounds, "held" | "boost">,
  bounds: Pick<ExplainedBounds, "rules">,
): string {
  return [
    ...(held === undefined ? [] : [holdText(held, bounds)]),
    ...(boost === true ? ["boosted while the pod starts: gets what the node has to spare"] : []),
  ].map((note) => `; ${note}`).join("");
}

/** Need and share, and how one came from the other. */
export function clearingText(
  { need, share, floor, originalLimit, weight, credit }: ContainerView,
  { mode, price, idleCPU }: Pick<NodeView, "mode" | "price" | "idleCPU">,
): string {
  const begin = `need ${cpuText(need)}, share ${cpuText(share)}`;
  if (mode === "uncongested") return `${begin}: all needs fit the node`;
  if (mode === "overloaded") {
    return `${begin}: the floors alone exceed the node, limits stay at their floors`;
  }
  const enough = share < need ? "less than it needs" : "enough for its need";
  if (idleCPU === "free") {
    return need <= Math.min(share, originalLimit)
      ? `${begin}: its need is within its original limit`
      : `${begin}: its part by request, original limit, priority and credit, ${enough}`;
  }
  const fair = price === null || price === 0 ? undefined : 1000 * weight * credit / price;
  const formula = `weight × credit / price = ${round(weight)} × ${credit.toFixed(2)} / ` +
    `${priceText(price)} = ${cpuText(fair)}`;
  // The clearing gives the floor, or the need below it, before it divides the rest by weight.
  if (fair !== undefined && fair < Math.min(floor, need, share)) {
    return floor < need
      ? `${begin}: its floor, since ${formula} is less`
      : `${begin}: its need is within its floor, though ${formula} is less`;
  }
  return `${begin}: ${formula}, ${enough}`;
}

/**
 * Says whether the node's CPU is free or scarce, and what follows for the containers; undefined where
 * CPU is ample and limits follow demand.
 */
export function stateText(
  { state, stateSeconds, idleCPU, price, capacity }: Pick<
    NodeView,
    "state" | "stateSeconds" | "idleCPU" | "price" | "capacity"
  >,
  views: readonly ContainerView[],
): string | undefined {
  if (views.length === 0) return undefined;
  if (state === "scarce") {
    const share = views.reduce((sum, view) => sum + view.share, 0);
    return `CPU is scarce since ${Math.round(stateSeconds)} s: share ${cpuText(share)} of ${
      round(capacity / 1000)
    } CPUs, price ${priceText(price)}`;
  }
  if (idleCPU !== "free") return undefined;
  const free = "CPU is free on this node";
  if (views.every(isAtCeiling)) return `${free}: limit at its ceiling`;
  return views.every((view) => isAtCeiling(view) || view.target >= view.ceiling)
    ? `${free}: limit on its way to its ceiling`
    : `${free}: limit follows the need, since the request moves with it`;
}

/** The reasons for a smaller capacity than usual, after a semicolon; empty where there are none. */
export function pressureText({ pressures = [] }: Pick<NodeView, "pressures">): string {
  return pressures.length === 0
    ? ""
    : `; the capacity is smaller for ${pressures.join(" and ")}: each takes a tenth`;
}

/** The limit on its way to the target. */
export function pacingText({ limit, target, waiting }: ContainerView): string {
  return waiting === undefined
    ? `limit ${cpuText(limit)} is at its target`
    : `limit ${cpuText(limit)}, target ${cpuText(target)}: ${waiting}`;
}

function round(value: number): string {
  return Number(value.toPrecision(3)).toString();
}

const HOLD_TEXTS: Readonly<Record<Hold, string>> = {
  half: "held, lowered by half steps only",
  lower: "held, not to be lowered",
  both: "held as it is",
};

/** Each rule with its sentence, its numbers and what can be done about it, a line each. */
export function ruleLines({ rules = [] }: ExplainedBounds): readonly string[] {
  return rules.flatMap(({ reason, message }) => {
    const remedy = remedyFor(reason);
    return [
      `${reason}: ${sentenceOf(reason)} (${message})`,
      ...(remedy === undefined ? [] : [`what to do: ${remedy}`]),
    ];
  });
}

/** How the limit is held and by which rules; an allocation of an older version names none. */
export function holdText(hold: Hold, { rules = [] }: Pick<ExplainedBounds, "rules">): string {
  const reasons = rulesThatHold(hold, rules).map(({ reason }) => reason);
  return [HOLD_TEXTS[hold], [...new Set(reasons)].join(", ")].filter(Boolean).join(": ");
}

/** The rules with reasons that hold a limit in this way. */
export function rulesThatHold(hold: Hold, rules: readonly BoundRule[]): readonly BoundRule[] {
  return rules.filter(({ reason }) => holdOf(reason) === hold);
}

/** The rule that sets the container's ceiling; such a rule's sentence begins with its name. */
export function ceilingRule(
  container: string,
  { rules = [] }: Pick<ExplainedBounds, "rules">,
): BoundRule | undefined {
  const ceilings = rules.filter(({ reason }) => setsCeiling(reason));
  return ceilings.find(({ message }) => message.startsWith(`${container} `));
}
