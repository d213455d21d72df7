/**
 * An explanation as stages, from readings to the kubelet, each with its lines. Pure.
 *
 * @module
 */
import type { ContainerBounds } from "../api/pod_allocation.ts";
import { sentenceOf } from "../api/reasons/reasons.ts";
import type { Explanation } from "./explanation.ts";
import { ageText, coresText, cpuText, priceText } from "./figures.ts";
import type { ContainerView } from "./node_view.ts";
import {
  boundsNotes,
  boundsText,
  clearingText,
  cpuPressureText,
  demandText,
  pacingText,
  pressureText,
  readingText,
  ruleLines,
} from "./stage_text.ts";

/** The line of each container in a stage. */
export type ContainerLines = readonly (readonly [name: string, text: string])[];

/** One stage: its name, its line about the pod, and one about each container. */
export interface Stage {
  readonly name: string;
  readonly pod?: string;
  readonly containers?: ContainerLines;
  /** Further lines. */
  readonly more?: readonly string[];
}

/** The stages in their order; for a pod outside the market only the kubelet's. */
export function stagesOf(all: Explanation): Stage[] {
  if (all.outside !== undefined && !all.hasAllocation) return [kubeletStage(all)];
  const { containers, nodeView, bounds, market } = all;
  const seen = containers.flatMap(({ name, view, bounds: own }) =>
    view === undefined ? [] : [{ name, view, own }]
  );
  const each = (text: (view: ContainerView, own?: ContainerBounds) => string): ContainerLines =>
    seen.map(({ name, view, own }) => [name, text(view, own)] as const);
  const more = bounds === undefined ? [] : ruleLines(bounds);
  const boundsLine = bounds === undefined
    ? "none yet: the controller has not published them"
    : [`revision ${bounds.revision}`, more.length > 0 ? "" : bounds.reason].filter(Boolean)
      .join("; ");
  if (nodeView === undefined || seen.length === 0) {
    return [
      { name: "Market", pod: writtenText(all) },
      { name: "Bounds", pod: boundsLine, containers: writtenBounds(all), more },
      desiredStage(all),
      controllerStage(all),
      kubeletStage(all),
    ];
  }
  const stale = bounds !== undefined && market !== undefined &&
    market.observedBounds !== bounds.revision;
  return [
    {
      name: "Readings",
      pod: `${ageText(nodeView.ageMs)} ago, by the node's agent` +
        cpuPressureText(all.cpuPressure, nodeView.cpuPressure),
      containers: each(readingText),
    },
    { name: "Demand", containers: each((view, own) => demandText(view, own?.demand)) },
    {
      name: "Bounds",
      pod: boundsLine +
        (stale ? ` (the last written clearing used ${market?.observedBounds})` : ""),
      containers: each((view, own) => boundsText(view) + boundsNotes(own ?? view, bounds ?? {})),
      more,
    },
    {
      name: "Clearing",
      pod: `node ${nodeView.node} is ${nodeView.mode} at price ${priceText(nodeView.price)}: ` +
        `${coresText(nodeView.committed)} of ${coresText(nodeView.capacity)} cores committed, ` +
        `${coresText(nodeView.unmanaged)} unmanaged, ${
          coresText(nodeView.allocatable)
        } allocatable${pressureText(nodeView)}`,
      containers: each((view) => clearingText(view, nodeView)),
    },
    { name: "Pacing", containers: each(pacingText) },
    desiredStage(all),
    controllerStage(all),
    kubeletStage(all),
  ];
}

/** The last clearing that the agent published. */
function writtenText({ market }: Explanation): string {
  if (market === undefined) return "the agent has not decided on a limit for the pod yet";
  const price = market.price === undefined ? null : market.price;
  return `${market.mode} at price ${priceText(price)}: demand ${cpuText(market.demand)}, need ${
    cpuText(market.need)
  }, credit ${market.credit.toFixed(2)} (as last written)`;
}

function writtenBounds({ containers, bounds }: Explanation): ContainerLines {
  return containers.flatMap(({ name, bounds: own }) => {
    if (own === undefined) return [];
    const { floor, ceiling, weight, demand } = own;
    const metric = demand === undefined ? "" : `; a metric asks for ${cpuText(demand)}`;
    const text = `floor ${cpuText(floor)}, ceiling ${cpuText(ceiling)}, weight ${weight}${metric}`;
    return [[name, text + boundsNotes(own, bounds ?? {})] as const];
  });
}

function desiredStage({ desired, market, containers }: Explanation): Stage {
  const reason = market === undefined ? "" : ` for ${market.reason}: ${sentenceOf(market.reason)}`;
  return {
    name: "Desired",
    pod: desired === undefined ? "nothing yet" : `${cpuText(desired)}${reason}`,
    containers: containers.flatMap(({ name, desired: own, originalLimit }) => {
      const original = originalLimit === undefined
        ? ""
        : `; original limit ${cpuText(originalLimit)}`;
      return own === undefined ? [] : [[name, cpuText(own) + original] as const];
    }),
  };
}

function controllerStage({ controller }: Explanation): Stage {
  const { phase, reason, message, appliedAgeMs } = controller ?? {};
  if (reason === undefined) return { name: "Controller", pod: "has not looked at it yet" };
  const sentence = sentenceOf(reason);
  // The sentence says it all for an applied limit.
  const isUsual = message === undefined || message === sentence || reason === "Applied";
  const own = isUsual ? "" : ` (${message})`;
  const state = phase === undefined || phase === reason ? reason : `${phase}, ${reason}`;
  const ago = appliedAgeMs === undefined ? undefined : `${ageText(appliedAgeMs)} ago`;
  const pod = reason === "Applied"
    ? `${[state, ago].filter(Boolean).join(" ")}: ${sentence}`
    : `${state}: ${sentence}${own}${ago === undefined ? "" : `; last change ${ago}`}`;
  return { name: "Controller", pod };
}

function kubeletStage({ containers, resizeConditions }: Explanation): Stage {
  const conditions = resizeConditions.map(({ type, reason, message }) =>
    [type, reason, message].filter(Boolean).join(": ")
  );
  return {
    name: "Kubelet",
    pod: conditions.join("; "),
    containers: containers.map(({ name, limit, applied, request }) => {
      const asked = limit === undefined
        ? "no limit in the spec"
        : `limit ${cpuText(limit)} in the spec`;
      const reported = applied === undefined ? "none reported" : `${cpuText(applied)} applied`;
      return [name, `${asked}, ${reported}; request ${cpuText(request)}`] as const;
    }),
  };
}
