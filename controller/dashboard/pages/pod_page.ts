/**
 * A pod's explanation as a page.
 *
 * @module
 */
import { html } from "hono/html";
import { sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { Stage } from "../../../shared/view/explain_stages.ts";
import { cpuText } from "../../../shared/view/figures.ts";
import type { LimitChange } from "../history.ts";
import type { PodDetail } from "../views/pods.ts";
import type { Page } from "./layout.ts";
import { lastHour, pressureCharts } from "./charts.ts";
import { type Html, nodePath, notes } from "./parts.ts";
import { type Column, tableSection } from "./tables.ts";

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
    {
      title: "Throttled time",
      unit: "ms/s",
      lines: [{ label: "Throttled", tone: "throttled", area: true, values: series.throttled }],
    },
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
