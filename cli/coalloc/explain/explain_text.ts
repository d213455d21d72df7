/**
 * An explanation as text. Pure.
 *
 * @module
 */
import { sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import type { ContainerView } from "../../../shared/view/node_view.ts";
import { paint, type TerminalLook, textLines } from "../../terminal/terminal_text.ts";
import { ageText, coresText, cpuText, priceText } from "../formats.ts";
import {
  boundsNotes,
  boundsText,
  clearingText,
  cpuPressureText,
  demandText,
  holdText,
  pacingText,
  pressureText,
  readingText,
  ruleLines,
  stateText,
} from "./stage_text.ts";
import type { ExplainedBounds, Explanation } from "./explanation.ts";
import { blockerOf, type UnenforcedText, unenforcedText } from "./blocker.ts";

const NO_BOUNDS: ExplainedBounds = { revision: 0, reason: "" };

/** The line of each container in a stage. */
type ContainerLines = readonly (readonly [name: string, text: string])[];

/** One stage: its name, its line about the pod, and one about each container. */
interface Stage {
  readonly name: string;
  readonly pod?: string;
  readonly containers?: ContainerLines;
  /** Further lines. */
  readonly more?: readonly string[];
}

/** The text, each line ended by a line feed. */
export function explainText(explanation: Explanation, look: TerminalLook = {}): string {
  const stages = explanation.outside === undefined || explanation.hasAllocation
    ? stagesOf(explanation)
    : [kubeletStage(explanation)];
  const width = Math.max(
    ...stages.flatMap(({ name, containers = [] }) => [
      name.length,
      ...containers.map(([container]) => container.length + 2),
    ]),
  );
  const lines = stages.flatMap(({ name, pod = "", containers = [], more = [] }) => [
    `${paint(name, "bold", look)}${" ".repeat(width - name.length)}   ${pod}`.trimEnd(),
    ...containers.map(([container, text]) =>
      `  ${paint(container, "cyan", look)}${" ".repeat(width - container.length - 2)}   ${text}`
    ),
    ...more.map((line) => `${" ".repeat(width)}   ${line}`),
  ]);
  const notes = explanation.problems.map((problem) => paint(problem, "yellow", look));
  return textLines([...headOf(explanation, look), "", ...lines, ...notes]);
}

function headOf(explanation: Explanation, look: TerminalLook): string[] {
  const { namespace, pod, node, qosClass, phase, outside } = explanation;
  const where = node === "" ? "" : ` on node ${node}`;
  const held = blockerOf(explanation);
  const unenforced = unenforcedText(explanation);
  const { remedy } = held ?? unenforced;
  const head = paint(`Pod ${namespace}/${pod}${where}`, "bold", look) + `: ${qosClass}, ${phase}`;
  const verdict = outside !== undefined
    ? paint("Not in the market", "yellow", look) + `: ${held?.message}`
    : held === undefined
    ? notBlocked(explanation, { unenforced, look })
    : paint("Blocked", "yellow", look) + `: ${held.message}`;
  const views = explanation.containers.flatMap(({ view }) => view ?? []);
  const { nodeView } = explanation;
  const state = nodeView === undefined ? undefined : stateText(nodeView, views);
  const stated = state === undefined ? [] : [state];
  return [head, verdict, ...stated, ...(remedy === undefined ? [] : [`What to do: ${remedy}`])];
}

function notBlocked(
  explanation: Explanation,
  { unenforced: { covered, message }, look }: {
    readonly unenforced: UnenforcedText;
    readonly look: TerminalLook;
  },
): string {
  const [verdict = "", ...rest] = message.split(":");
  return [paint(verdict, covered ? "green" : "yellow", look), ...rest].join(":") +
    keptText(explanation);
}

/** Names the limits that are not to be lowered: they block nothing, but explain a limit above the demand. */
function keptText({ containers, bounds = NO_BOUNDS }: Explanation): string {
  const kept = containers.flatMap(({ name, bounds: own }) =>
    own?.held === undefined ? [] : [`; ${name} is ${holdText(own.held, bounds)}`]
  );
  return kept.join("");
}

function stagesOf(all: Explanation): Stage[] {
  const { containers, nodeView, bounds, market } = all;
  const seen = containers.flatMap((one) => {
    const { name, view, bounds: own } = one;
    return view === undefined ? [] : [{ name, view, own }];
  });
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
  if (market === undefined) return "the agent has not cleared with this pod yet";
  const price = market.price === undefined ? null : market.price;
  return `${market.mode} at price ${priceText(price)}: demand ${cpuText(market.demand)}, need ${
    cpuText(market.need)
  }, credit ${market.credit.toFixed(2)} (as last written)`;
}

function writtenBounds({ containers, bounds = NO_BOUNDS }: Explanation): ContainerLines {
  return containers.flatMap(({ name, bounds: own }) => {
    if (own === undefined) return [];
    const { floor, ceiling, weight, demand } = own;
    const metric = demand === undefined ? "" : `; a metric asks for ${cpuText(demand)}`;
    const text = `floor ${cpuText(floor)}, ceiling ${cpuText(ceiling)}, weight ${weight}${metric}`;
    return [[name, text + boundsNotes(own, bounds)] as const];
  });
}

function desiredStage({ desired, market, containers }: Explanation): Stage {
  const reason = market === undefined ? "" : ` for ${market.reason}: ${sentenceOf(market.reason)}`;
  return {
    name: "Desired",
    pod: desired === undefined ? "nothing yet" : `${cpuText(desired)}${reason}`,
    containers: containers.flatMap(({ name, desired: own, originalLimit: original }) =>
      own === undefined ? [] : [[name, `${cpuText(own)}${originalText(original)}`] as const]
    ),
  };
}

function originalText(millicores: number | undefined): string {
  return millicores === undefined ? "" : `; original limit ${cpuText(millicores)}`;
}

function controllerStage({ controller }: Explanation): Stage {
  const { phase, reason, message, appliedAgeMs } = controller ?? {};
  if (reason === undefined) return { name: "Controller", pod: "has not looked at it yet" };
  const sentence = sentenceOf(reason);
  // Of an applied limit the sentence says it all.
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
