/**
 * A legend with swatches that are shapes.
 *
 * @module
 */
import { type Html, html } from "../../simulation/report/html.ts";
import { type Glyph, glyphPoints } from "./glyph.ts";

/** One entry. */
export interface GlyphEntry {
  readonly label: string;
  /** A CSS colour of ours. */
  readonly color: string;
  readonly glyph: Glyph;
  /** Drawn as an outline. @default {false} */
  readonly hollow?: boolean;
}

/** The shapes with their labels, in the form of the other legends. */
export function glyphLegend(entries: readonly GlyphEntry[]): Html {
  const items = entries.map(({ label, color, glyph, hollow = false }) =>
    html`<li><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><polygon points="${
      glyphPoints(glyph, 4.5)
    }" fill="${hollow ? "var(--surface)" : color}" stroke="${color}"/></svg>${label}</li>`
  );
  return html`<ul class="legend">${items}</ul>`;
}
