/**
 * Small parts of pages: tiles, cells, bars, notes and links.
 *
 * @module
 */
import { html } from "hono/html";
import type { Tone } from "../../../shared/view/figures.ts";

/** Markup with all values escaped. */
export type Html = ReturnType<typeof html>;

/** A figure with its name. */
export interface Tile {
  readonly label: string;
  readonly value: string;
  readonly beside?: string;
}

/** Figures beside each other. */
export function tiles(list: readonly Tile[]): Html {
  return html`<dl class="tiles">${
    list.map(({ label, value, beside }) =>
      html`<div><dt>${label}</dt><dd class="value">${value}</dd>${
        beside === undefined ? "" : html`<dd class="beside">${beside}</dd>`
      }</div>`
    )
  }</dl>`;
}

/** Text in a tone. */
export function toned(text: string, tone: Tone | undefined): Html | string {
  return tone === undefined ? text : html`<span class="${tone}">${text}</span>`;
}

/** A part of a whole as a bar, marked as full from 97 % on. */
export function shareBar(share: number, label: string): Html {
  const width = Math.max(0, Math.min(100, share * 100)).toFixed(1);
  return html`
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"
      aria-label="${label}">
      <rect class="room" width="100" height="10" />
      <rect class="${share >= 0.97 ? "full" : "used"}" width="${width}" height="10" />
    </svg>
  `;
}

/** Usage, demand beyond it, and the limit as a mark; nothing where they are not known. */
export function demandBar(
  { usage = 0, demand, limit }: {
    readonly usage?: number | undefined;
    readonly demand?: number | undefined;
    readonly limit?: number | undefined;
  },
): Html | string {
  const top = Math.max(demand ?? 0, limit ?? 0);
  if (demand === undefined || limit === undefined || top === 0) return "";
  const at = (value: number): string => Math.max(0, Math.min(100, value / top * 100)).toFixed(1);
  const mark = Math.min(98, Number(at(limit))).toFixed(1);
  return html`
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="room" width="100" height="10" />
      <rect class="wanted" width="${at(demand)}" height="10" />
      <rect class="used" width="${at(usage)}" height="10" />
      <rect class="limit" x="${mark}" width="2" height="10" />
    </svg>
  `;
}

/** Notes on problems. */
export function notes(list: readonly string[]): Html | string {
  return list.length === 0
    ? ""
    : html`<div class="notes" role="note">${list.map((note) => html`<p>${note}</p>`)}</div>`;
}

/** A link to a pod's page. */
export function podLink(
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
): Html {
  const path = `/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
  return html`<a href="${path}">${namespace}/<wbr>${pod}</a>`;
}

/** The address of a node's page. */
export function nodePath(node: string): string {
  return `/nodes/${encodeURIComponent(node)}`;
}
