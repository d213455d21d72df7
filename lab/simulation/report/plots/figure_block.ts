/**
 * The frame of a plot in the page: heading, legend, the drawing for wide and narrow screens, and
 * the caption, or why there is nothing to draw.
 *
 * @module
 */
import { type Html, html } from "../html.ts";

/** One entry of a legend. `color` is a CSS colour of ours. */
export interface LegendEntry {
  readonly label: string;
  readonly color: string;
  /** How the mark looks. @default {"line"} */
  readonly mark?: "line" | "dash" | "area";
}

/** A plot with its caption. */
export interface FigureBlock {
  readonly title: string;
  readonly legend?: readonly LegendEntry[];
  /** Drawn for screens from 900 px on; or, in its place, the reason why there is no plot. */
  readonly wide: Html | string;
  /** Drawn for narrow screens; `wide` serves both where it is left out. */
  readonly narrow?: Html;
  readonly caption: string;
}

/** The swatches of a legend. */
export function legend(entries: readonly LegendEntry[]): Html {
  const items = entries.map(({ label, color, mark = "line" }) =>
    html`<li><i class="${mark}" style="--swatch:${color}"></i>${label}</li>`
  );
  return html`<ul class="legend">${items}</ul>`;
}

/** The figure as markup. */
export function figureBlock(block: FigureBlock): Html {
  const { title, wide, narrow, caption } = block;
  if (typeof wide === "string") {
    return html`
      <figure>
        <h2>${title}</h2>
        <p class="nothing">${wide}</p>
      </figure>
    `;
  }
  const swatches = block.legend === undefined ? html`` : legend(block.legend);
  const drawing = narrow === undefined ? wide : html`
    <div class="wide">${wide}</div>
    <div class="narrow">${narrow}</div>
  `;
  return html`<figure><h2>${title}</h2>${swatches}${drawing}<figcaption>${caption}</figcaption></figure>`;
}
