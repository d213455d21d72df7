/**
 * The report as text, as Markdown and as a page.
 *
 * @module
 */
import { html } from "hono/html";
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { type Column, markdownLines, markdownText, textTable } from "../output.ts";
import type { ReportFigure, ReportView, WorkloadSaving } from "./report_view.ts";

/** Most workloads that the pages list one by one; JSON has all. */
const MAX_WORKLOADS = 20;

// A difference that rounds to 0 has no sign.
const SIGN = { signDisplay: "negative" } as const;
const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0, ...SIGN });
const TWO_DIGITS = new Intl.NumberFormat("en-US", {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
  ...SIGN,
});

/** A table of a page: the rows under their heads; all columns but the first are numbers or short. */
interface PageTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** `3.20 cores`, `1,234 s`. */
function valueText(
  { value, unit }: Pick<ReportFigure, "value" | "unit">,
  currency: string,
): string {
  switch (unit) {
    case "count":
      return WHOLE.format(value);
    case "seconds":
      return `${(value < 10 ? TWO_DIGITS : WHOLE).format(value)} s`;
    case "money":
      return `${TWO_DIGITS.format(value)} ${currency}`.trim();
    default:
      return `${TWO_DIGITS.format(value)} ${unit}`;
  }
}

const WEEK_MS = 7 * 86_400_000;

/** Sources with figures of a period. */
const IN_PERIODS: readonly ReportFigure["source"][] = ["Prometheus", "cAdvisor"];

function isCompared({ figures }: ReportView): boolean {
  return figures.some(({ before }) => before !== undefined);
}

function figureTable(view: ReportView): PageTable {
  const { figures, currency } = view;
  const compared = isCompared(view);
  return {
    heads: ["Figure", "Value", ...(compared ? ["Before"] : []), "From"],
    rows: figures.map(({ title, value, before, unit, source }) => {
      const text = (value: number | undefined): string =>
        value === undefined ? "" : valueText({ value, unit }, currency);
      return [title, text(value), ...(compared ? [text(before)] : []), source];
    }),
  };
}

function savingTable({ workloads, currency }: ReportView): PageTable {
  const row = (title: string, ...all: readonly WorkloadSaving[]): readonly string[] => {
    const sum = (value: (one: WorkloadSaving) => number): number =>
      all.reduce((total, one) => total + value(one), 0);
    return [
      title,
      TWO_DIGITS.format(sum(({ cores }) => cores)),
      TWO_DIGITS.format(sum(({ gib }) => gib)),
      ...(all[0]?.money === undefined
        ? []
        : [valueText({ value: sum(({ money = 0 }) => money), unit: "money" }, currency)]),
    ];
  };
  const others = workloads.slice(MAX_WORKLOADS);
  return {
    heads: ["Workload", "Cores", "GiB", ...(workloads[0]?.money === undefined ? [] : ["Money"])],
    rows: [
      ...workloads.slice(0, MAX_WORKLOADS).map((one) =>
        row(`${one.namespace}/${one.kind.toLowerCase()}/${one.name}`, one)
      ),
      // The largest savings are first, so that costs are among the others.
      ...(others.length === 0 ? [] : [row(`${others.length} others`, ...others)]),
    ],
  };
}

/** `2026-01-01 00:00` of ISO 8601. */
function minuteText(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

function titleOf({ from, to, place }: ReportView): string {
  return `CoAllocator in ${place}, ${minuteText(from)} to ${minuteText(to)} UTC`;
}

/** Lines of titles and sentence; titles with the same sentence share a line. */
function listOf(
  entries: readonly { readonly title: string; readonly sentence: string }[],
): readonly string[] {
  return [...Map.groupBy(entries, ({ sentence }) => sentence)].map(([sentence, same]) =>
    `${[...new Set(same.map(({ title }) => title))].join("; ")}: ${sentence}`
  );
}

/** The non-empty lists below the tables, by title. */
function listsOf(view: ReportView): readonly (readonly [string, readonly string[]])[] {
  const { figures, missing, to, comparedTo } = view;
  const sameDays = (Date.parse(to) - Date.parse(comparedTo)) % WEEK_MS === 0;
  const notes = [
    ...(figures.some(({ before, source }) => before !== undefined && IN_PERIODS.includes(source))
      ? [{
        title: "Before",
        sentence: `as long a period that ended at ${minuteText(comparedTo)} UTC` +
          (sameDays ? "" : ", on other days of the week") + "; load and pods may have differed",
      }]
      : []),
    ...figures.flatMap(({ title, note: sentence }) =>
      sentence === undefined ? [] : [{ title, sentence }]
    ),
  ];
  const all = [
    ["Notes", listOf(notes)],
    ["Missing", listOf(missing.map(({ figure, why }) => ({ title: figure, sentence: why })))],
  ] as const;
  return all.filter(([, rows]) => rows.length > 0);
}

const SAVED = "Saved by rightsizing";

function columnsOf(heads: readonly string[]): readonly Column[] {
  return heads.map((head, index) => ({
    head,
    align: index === 0 || head === "From" ? "left" : "right",
  }));
}

/** The report for a terminal. */
export function reportText(view: ReportView, style: TerminalStyle): string {
  const table = ({ heads, rows }: PageTable): string =>
    textTable({
      columns: columnsOf(heads).map(({ head, ...rest }) => ({ ...rest, head: head.toUpperCase() })),
      rows,
    }, style);
  const part = (title: string, body: string): string =>
    body === "" ? "" : `\n${textLines([paint(title, "bold", style)])}${body}`;
  return textLines([paint(titleOf(view), "bold", style), ""]) + table(figureTable(view)) +
    part(SAVED, view.workloads.length === 0 ? "" : table(savingTable(view))) +
    listsOf(view).map(([title, rows]) => part(title, textLines(rows.map((row) => `- ${row}`))))
      .join("");
}

/** The report for a wiki or a chat. */
export function reportMarkdown(view: ReportView): string {
  const table = ({ heads, rows }: PageTable): readonly string[] =>
    markdownLines(columnsOf(heads), rows);
  const part = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
  return textLines([
    `# ${markdownText(titleOf(view))}`,
    "",
    ...table(figureTable(view)),
    ...part(SAVED, view.workloads.length === 0 ? [] : table(savingTable(view))),
    ...listsOf(view).flatMap(([title, rows]) =>
      part(title, rows.map((row) => `- ${markdownText(row)}`))
    ),
  ]);
}

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid #8884; padding: .4rem .8rem; text-align: left; vertical-align: top; }
td:nth-child(n + 2), th:nth-child(n + 2) { text-align: right; white-space: nowrap; }
`;

/** The report for a browser or a mail: one file without scripts, in light and dark. */
export async function reportPage(view: ReportView): Promise<string> {
  const table = ({ heads, rows }: PageTable) =>
    html`
      <div class="wide">
        <table>
          <thead>
            <tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr>
          </thead>
          <tbody>${rows.map((cells) =>
            html`
              <tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
            `
          )}</tbody>
        </table>
      </div>
    `;
  const page = await html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${titleOf(view)}</title>
        <style>${STYLE}</style>
      </head>
      <body>
        <h1>${titleOf(view)}</h1>
        ${table(figureTable(view))}
        ${view.workloads.length === 0 ? "" : html`<h2>${SAVED}</h2>${table(savingTable(view))}`}
        ${listsOf(view).map(([title, rows]) =>
          html`
            <h2>${title}</h2>
            <ul>${rows.map((row) => html`<li>${row}</li>`)}</ul>
          `
        )}
      </body>
    </html>
  `;
  return page.toString().trimStart();
}
