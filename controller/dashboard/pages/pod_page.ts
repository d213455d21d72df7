/**
 * One pod as `kubectl coalloc explain` has it, with its last hour.
 *
 * @module
 */
import { html } from "hono/html";
import { sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import { defined } from "../../../shared/defined.ts";
import { type Verdict, verdictOf } from "../../../shared/view/blocker.ts";
import { type Stage, stagesOf } from "../../../shared/view/explain_stages.ts";
import { type Explanation, explanationOf } from "../../../shared/view/explanation.ts";
import { cpuText } from "../../../shared/view/figures.ts";
import { snapshotOf } from "../../allocation/pod_snapshot.ts";
import type { LimitChange, PodHour } from "../history.ts";
import { lastHour, pressureCharts, throttledChart } from "./charts.ts";
import type { Page } from "./layout.ts";
import { type Html, nodePath, notes } from "./parts.ts";
import { type Column, pageOf, type Paging, tableSection } from "./tables.ts";
import type { DashboardState, ViewOptions } from "../state.ts";

/** One pod. */
export interface PodDetail {
  readonly explanation: Explanation;
  readonly verdict: Verdict;
  readonly stages: readonly Stage[];
  /** Undefined where it has no history yet. */
  readonly hour?: PodHour;
  /** A page of the limits that moved, the newest first. */
  readonly changes: readonly LimitChange[];
  readonly paging: Paging;
}

/** The view of a pod; undefined where there is none. */
export function podDetail(
  state: DashboardState,
  { namespace, name, nowMs, choice }: Omit<ViewOptions, "visible"> & {
    readonly namespace: string;
    readonly name: string;
  },
): PodDetail | undefined {
  const { caches, collector, scope } = state;
  const settings = scope();
  const snapshot = snapshotOf({ caches, config: settings }, `${namespace}/${name}`);
  if (snapshot === undefined) return undefined;
  const { pod, allocation, node, workload, autoscalers, verticalAutoscalers } = snapshot;
  const { uid } = pod.metadata;
  const problem = collector.problems.get(pod.nodeName);
  const explanation = explanationOf({
    pod,
    namespace: snapshot.namespace,
    settings,
    scopeInput: defined({ node, workload, autoscalers, verticalAutoscalers }),
    allocation,
    nodeView: collector.views.get(pod.nodeName),
    problems: problem === undefined
      ? []
      : [`Cannot read the agent of node ${pod.nodeName}: ${problem}`],
    container: undefined,
    nowMs,
  });
  const { rows, paging } = pageOf(collector.history.changes(uid, nowMs), choice);
  return defined({
    explanation,
    verdict: verdictOf(explanation),
    stages: stagesOf(explanation),
    hour: collector.history.pod(uid, nowMs),
    changes: rows,
    paging,
  });
}

const CHANGES: readonly Column<LimitChange>[] = [
  { head: "Time (UTC)", cell: ({ atMs }) => new Date(atMs).toISOString().slice(11, 19) },
  { head: "From", cell: ({ from }) => cpuText(from), number: true },
  { head: "To", cell: ({ to }) => cpuText(to), number: true },
  { head: "Reason", cell: ({ reason }) => reason ?? "-" },
  {
    head: "Meaning",
    cell: ({ reason }) => reason === undefined ? "" : sentenceOf(reason),
    only: "wide",
  },
];

/** The verdict, the last hour, the stages from readings to the kubelet, and the changes. */
export function podPage(
  { explanation, verdict, stages, hour, changes, paging }: PodDetail,
): Page {
  const { namespace, pod, node, qosClass, phase, problems } = explanation;
  const { title, covered, text, state, remedy } = verdict;
  return {
    title: `${namespace}/${pod}`,
    content: html`
      <h1>${namespace}/${pod}</h1>
      <p class="lead">${qosClass}, ${phase}${node === "" ? "" : html`
        on <a href="${nodePath(node)}">${node}</a>
      `}</p>
      <div class="verdict${covered
        ? " covered"
        : ""}"><p><b>${title}</b>: ${text}</p>${state === undefined
        ? ""
        : html`<p>${state}</p>`}${remedy === undefined
        ? ""
        : html`<p>What to do: ${remedy}</p>`}</div>
      ${notes(problems)}
      ${hour === undefined ? "" : hourCharts(hour)}
      <section aria-labelledby="path">
        <h2 id="path">From readings to the limit</h2>
        <ol class="stages">${stages.map(stageItem)}</ol>
      </section>
      ${tableSection(changes, {
        ...{ id: "changes", title: "Changes within the last hour", columns: CHANGES, paging },
        empty: "The limit has not moved.",
        caption:
          "As seen every 15 s: of several changes between two readings only their sum is seen.",
      })}
    `,
  };
}

function hourCharts({ fromMs, series }: NonNullable<PodDetail["hour"]>): Html {
  return lastHour(fromMs, [
    {
      title: "CPU",
      unit: "m",
      lines: [
        { label: "Limit", tone: "limit", values: series.limit },
        { label: "Demand", tone: "demand", values: series.demand },
        { label: "Used", tone: "usage", area: true, values: series.usage },
      ],
    },
    throttledChart(series.throttled),
    ...pressureCharts(series.pressure),
  ]);
}

function stageItem({ name, pod = "", containers = [], more = [] }: Stage): Html {
  return html`<li><h3>${name}</h3>${pod === "" ? "" : html`<p>${pod}</p>`}${
    containers.length === 0 ? "" : html`<dl>${
      containers.map(([container, text]) =>
        html`
          <dt>${container}</dt>
          <dd>${text}</dd>
        `
      )
    }</dl>`
  }${more.map((line) => html`<p class="caption">${line}</p>`)}</li>`;
}
