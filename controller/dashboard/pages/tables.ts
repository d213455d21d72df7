/**
 * Long lists: the rows that a user filters by as tables, a page at a time, and the form that filters them.
 * Links and the form are relative to the page's address, and keep the user's choices.
 *
 * @module
 */
import { html } from "hono/html";
import { defined } from "../../../shared/defined.ts";
import { shareText, throttledText, throttledTone } from "../../../shared/view/figures.ts";
import { type Html, nodePath, toned } from "./parts.ts";

/** Rows on a page of any table. */
const PAGE_SIZE = 100;

/** The part of a list that a user wants to see. */
export interface ListChoice {
  /** From 1; beyond the last page, that one. */
  readonly page: number;
  readonly namespace?: string;
  /** Part of the name. */
  readonly search?: string;
}

/** Where a page is in its list. */
export interface Paging {
  /** Rows on all pages. */
  readonly count: number;
  /** From 1. */
  readonly page: number;
  /** At least 1. */
  readonly pages: number;
}

/** The rows of a page. */
export function pageOf<Row>(
  rows: readonly Row[],
  { page: chosen }: Pick<ListChoice, "page">,
): { readonly rows: readonly Row[]; readonly paging: Paging } {
  const pages = Math.max(1, Math.ceil(rows.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, chosen));
  return {
    rows: rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    paging: { count: rows.length, page, pages },
  };
}

/** The choice of rows, and the namespaces to choose from. */
export interface Filter extends Omit<ListChoice, "page"> {
  /** Namespaces of all rows, to choose from. */
  readonly namespaces: readonly string[];
}

/** The rows of the chosen namespace with names that match. */
export function filtered<Row extends { readonly namespace: string }>(
  rows: readonly Row[],
  { choice: { namespace, search }, nameOf }: {
    readonly choice: ListChoice;
    readonly nameOf: (row: Row) => string;
  },
): { readonly rows: readonly Row[]; readonly filter: Filter } {
  return {
    rows: rows.filter((row) =>
      (namespace === undefined || row.namespace === namespace) &&
      (search === undefined || nameOf(row).includes(search))
    ),
    filter: defined({
      namespace,
      search,
      namespaces: [...new Set(rows.map((row) => row.namespace))].toSorted(),
    }),
  };
}

/** A column of a table. */
export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Html | string;
  readonly number?: true;
  /** Left out on screens that are narrower: `wide` below 820 px, `medium` below 560 px. */
  readonly only?: "wide" | "medium";
}

/** The node of a row, with a link to its page. */
export const NODE: Column<{ readonly node: string }> = {
  head: "Node",
  cell: ({ node }) => html`<a href="${nodePath(node)}">${node}</a>`,
};

/** Throttled time of a row. */
export const THROTTLED: Column<{ readonly throttledMsPerSecond?: number | undefined }> = {
  head: "Throttled, ms/s",
  cell: ({ throttledMsPerSecond: ms }) => toned(throttledText(ms), throttledTone(ms)),
  number: true,
};

/** CPU pressure of a row. */
export const PRESSURE: Column<{ readonly cpuPressure?: { readonly share: number } | undefined }> = {
  head: "Pressure",
  cell: ({ cpuPressure }) => shareText(cpuPressure?.share),
  number: true,
  only: "wide",
};

/** A choice in the address of the page, by its name. */
export type Query = Readonly<Record<string, string | undefined>>;

/** A table with its heading. */
export interface TableSection<Row> {
  /** Anchor of the heading, to which the links of the pages lead. */
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column<Row>[];
  /** The text without rows. */
  readonly empty: string;
  readonly caption?: string;
  readonly paging: Paging;
  /** The query that the links keep. @default {{}} */
  readonly query?: Query;
}

/** The rows of a page as a table, of which the first column names the row, with links to the other pages. */
export function tableSection<Row>(
  rows: readonly Row[],
  { id, title, columns, empty, caption, paging, query = {} }: TableSection<Row>,
): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${
    rows.length === 0
      ? html`<p class="nothing">${empty}</p>`
      : html`${table(rows, { title, columns })}${pageLinks(paging, { id, query })}`
  }
${caption === undefined ? "" : html`<p class="caption">${caption}</p>`}</section>`;
}

function table<Row>(
  rows: readonly Row[],
  { title, columns }: Pick<TableSection<Row>, "title" | "columns">,
): Html {
  const classOf = ({ number, only }: Column<Row>): string =>
    [number ? "number" : "", only ?? ""].filter(Boolean).join(" ");
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table>
        <thead>
          <tr>${columns.map((column) =>
            html`<th scope="col" class="${classOf(column)}">${column.head}</th>`
          )}</tr>
        </thead>
        <tbody>${rows.map((row) =>
          html`
            <tr>${columns.map((column, index) =>
              index === 0
                ? html`<th scope="row">${column.cell(row)}</th>`
                : html`<td class="${classOf(column)}">${column.cell(row)}</td>`
            )}</tr>
          `
        )}</tbody>
      </table>
    </div>
  `;
}

function pageLinks(
  { page, pages }: Paging,
  { id, query }: { readonly id: string; readonly query: Query },
): Html | string {
  if (pages === 1) return "";
  const link = (to: number, text: string): Html | string => {
    if (to < 1 || to > pages) return "";
    const filters = Object.entries(query).flatMap(([name, value]) => value ? [[name, value]] : []);
    const choice = new URLSearchParams([...filters, ["page", String(to)]]);
    return html`<a href="?${choice.toString()}#${id}">${text}</a>`;
  };
  return html`
    <nav class="pages"
      aria-label="Pages">${link(page - 1, "Previous")}<span>Page ${page} of ${pages}</span>${link(
        page + 1,
        "Next",
      )}</nav>
  `;
}

/** A choice of the form. */
export interface Select {
  readonly label: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly chosen: string;
}

/** The form that chooses rows by namespace, by name, and by the given selects. */
export function filterForm(
  { namespace = "", namespaces, search = "" }: Filter,
  more: readonly Select[] = [],
): Html {
  // A chosen namespace without rows must be an option, or the form would show "all".
  const names = [...new Set([...namespaces, namespace])].filter(Boolean).toSorted();
  const options = [["", "all"] as const, ...names.map((name) => [name, name] as const)];
  const ofNamespace = { label: "Namespace", name: "namespace", options, chosen: namespace };
  return html`
    <form class="filter" method="get">
      ${[ofNamespace, ...more].map(select)}
      <div><label for="search">Name contains</label><input id="search" name="search" value="${search}"></div>
      <button>Show</button>
    </form>
  `;
}

function select({ label, name, options, chosen }: Select): Html {
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${
    options.map(([value, text]) =>
      html`<option value="${value}" ${value === chosen ? "selected" : ""}>${text}</option>`
    )
  }</select></div>`;
}
