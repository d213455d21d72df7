/**
 * Long lists: the rows that a user filters by, a page at a time.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";

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

/** By which rows are chosen. */
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
