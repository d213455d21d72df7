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
import { type Html, lastHour, nodePath, notes, table } from "./parts.ts";

/** Changes that are listed. */
const MOST_CHANGES = 50;

/** The verdict, the last hour, the stages from readings to the kubelet, and the changes. */
export function podPage({ explanation, verdict, stages, hour, changes }: PodDetail): Page {
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
      <section aria-labelledby="changes"><h2 id="changes">Changes within the last hour</h2>
      ${changes.length === 0
        ? html`<p class="nothing">The limit has not moved.</p>`
        : changeTable(changes.slice(0, MOST_CHANGES))}
      <p class="caption">As seen every 15 s: of several changes between two readings only their sum is seen.${changes
          .length > MOST_CHANGES
        ? ` ${changes.length - MOST_CHANGES} earlier ones are left out.`
        : ""}</p></section>
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

function changeTable(changes: readonly LimitChange[]): Html {
  return table(changes, {
    label: "Changes of the limit",
    columns: [
      { head: "Time (UTC)", cell: ({ atMs }) => new Date(atMs).toISOString().slice(11, 19) },
      { head: "From", cell: ({ from }) => cpuText(from), number: true },
      { head: "To", cell: ({ to }) => cpuText(to), number: true },
      { head: "Reason", cell: ({ reason }) => reason ?? "-" },
      {
        head: "Meaning",
        cell: ({ reason }) => reason === undefined ? "" : sentenceOf(reason),
        only: "wide",
      },
    ],
  });
}
