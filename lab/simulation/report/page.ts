/**
 * The shell of the page, one file that loads no other, and its style sheet: light and dark, from a
 * phone's width to paper.
 *
 * @module
 */
import { type Html, html, trusted } from "./html.ts";

/** Nothing may be loaded and no script may run, whatever a name in the data contains. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** The document with the given title around the given content. */
export function page(title: string, content: Html): string {
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="${trusted(POLICY)}">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="referrer" content="no-referrer">
        <link rel="icon" href="data:,">
        <title>${title}</title>
        <style>${trusted(STYLE)}</style>
      </head>
      <body>
    ${content}
      </body>
    </html>
  `.markup.trimStart();
}

/** Algorithms, each with a sentence about it. */
export function algorithmNotes(
  notes: readonly (readonly [algorithm: string, sentence: string])[],
): Html {
  const items = notes.map(([algorithm, sentence]) =>
    html`
      <div>
        <dt>${algorithm}</dt>
        <dd>${sentence}</dd>
      </div>
    `
  );
  return html`<dl class="algorithms">${items}</dl>`;
}

const DARK = `
  color-scheme: dark;
  --surface: #17181b; --raised: #1f2125; --ink: #f2f2ef; --soft: #b6b8bc; --faint: #8b8f96;
  --line: #303339; --axis: #5d626b;
  --limit: #5b9df5; --own: #f08a4b; --usage: #2b8f74; --usage-peak: #1d4a40; --demand: #a9adb5;
  --algorithm-0: #5b9df5; --algorithm-1: #f08a4b; --algorithm-2: #b18cf0; --algorithm-3: #35b08c; --algorithm-4: #e3b341;
  --algorithm-5: #9aa0a8;`;

/** Colours of the plots are its variables. */
const STYLE = `
:root {
  color-scheme: light;
  --surface: #ffffff; --raised: #f6f7f8; --ink: #15171a; --soft: #4c5158; --faint: #767c85;
  --line: #e3e5e8; --axis: #a6abb3;
  --limit: #1f6fd6; --own: #d9601a; --usage: #7cc4ae; --usage-peak: #d7eee7; --demand: #6d747e;
  --algorithm-0: #1f6fd6; --algorithm-1: #d9601a; --algorithm-2: #7a4fd0; --algorithm-3: #178a69; --algorithm-4: #a87800;
  --algorithm-5: #6d747e;
}
@media (prefers-color-scheme: dark) { :root {${DARK}
} }
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 40px 24px 64px; max-width: 1160px;
  background: var(--surface); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif;
  -webkit-text-size-adjust: 100%;
}
h1 { font-size: clamp(1.45rem, 1rem + 1.9vw, 2.15rem); line-height: 1.22; letter-spacing: -.012em;
  margin: 6px 0 10px; max-width: 30em; text-wrap: balance; }
h2 { font-size: 1.22rem; line-height: 1.3; margin: 0 0 10px; }
h3 { font-size: .86rem; margin: 0; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
section, figure { margin: 52px 0 0; }
.scale, .caption, figcaption, .nothing { color: var(--soft); }
.scale { margin: 0; font-size: .92rem; }
.tally { margin: 0 0 10px; }
.caption, figcaption { font-size: .86rem; margin: 10px 0 0; max-width: 52rem; }
.nothing { background: var(--raised); border-radius: 8px; padding: 14px 16px; margin: 0; }
code { font: .86em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  background: var(--raised); padding: 2px 5px; border-radius: 4px; overflow-wrap: anywhere; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 14px;
  margin: 28px 0 0; padding: 0; }
.tiles div { background: var(--raised); border-radius: 10px; padding: 14px 16px; }
.tiles dt { font-size: .82rem; color: var(--soft); }
.tiles dd { margin: 0; }
.tiles .value { font-size: 1.6rem; font-weight: 650; line-height: 1.3; letter-spacing: -.01em; }
.tiles .beside { font-size: .82rem; color: var(--soft); }

.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: 6px 12px; text-align: right; vertical-align: baseline;
  border-bottom: 1px solid var(--line); }
thead th { font-weight: 600; color: var(--soft); font-size: .8rem; vertical-align: bottom;
  border-bottom-color: var(--axis); }
tr > :first-child { padding-left: 0; text-align: left; }
tr > :last-child { padding-right: 0; }
tbody th { font-weight: 500; text-align: left; }
td.text { text-align: left; }
td.best { font-weight: 700; }
.scores { width: 100%; }
.scores thead th { font-size: .86rem; color: var(--ink); }
.scores td { white-space: nowrap; }
.scores small { display: block; color: var(--faint); font-size: .78rem; font-weight: 400;
  line-height: 1.35; }
.unit { color: var(--faint); font-weight: 400; font-size: .82rem; }
.algorithms { margin: 14px 0 0; font-size: .86rem; color: var(--soft); }
.algorithms dt { display: inline; font-weight: 600; color: var(--ink); }
.algorithms dd { display: inline; margin: 0; }
.algorithms dd::before { content: " "; }

.changes { font-size: .82rem; }
.reasons td:first-child { text-align: right; padding-right: 16px; }
.reasons thead th { text-align: left; }
.changes td:nth-child(2), .changes td:nth-child(5), .changes th:nth-child(2),
.changes th:nth-child(5) { text-align: left; }
.changes td:first-child { text-align: left; }
.changes td { padding-block: 3px; }
details { margin: 18px 0 0; }
summary { cursor: pointer; font-weight: 600; padding: 6px 0; }
details .scroll { max-height: 32rem; overflow-y: auto; border-top: 1px solid var(--line); }

.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 20px; margin: 0 0 8px;
  padding: 0; font-size: .86rem; color: var(--soft); }
.legend li { display: flex; align-items: center; gap: 8px; }
.legend i { width: 20px; height: 0; border-top: 2.5px solid var(--swatch); flex: none; }
.legend i.dash { border-top-style: dashed; border-top-width: 2px; }
.legend i.area { height: 12px; border: 0; background: var(--swatch); border-radius: 2px; }
.plot { display: block; width: 100%; height: auto; overflow: visible; color: var(--soft);
  --plot-background: var(--surface); font-family: inherit; font-variant-numeric: tabular-nums; }
.plot text { white-space: pre; }
.narrow { display: none; }
.grid { display: grid; gap: 22px 20px; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr));
  margin-top: 14px; }
.pod { min-width: 0; }
.pod p { margin: 0; font-size: .76rem; color: var(--faint); white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
.method { font-size: .92rem; color: var(--soft); border-top: 1px solid var(--line);
  padding-top: 28px; }
.method p, .method ul { max-width: 52rem; }
.method b { color: var(--ink); }

@media (max-width: 899px) {
  .wide { display: none; }
  .narrow { display: block; max-width: 520px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 10px; }
}
@media (max-width: 699px) {
  body { padding: 24px 16px 48px; }
  section, figure { margin-top: 40px; }
  .tiles div { padding: 11px 12px; }
  .tiles .value { font-size: 1.25rem; }
  .scores small { display: none; }
  .scores th, .scores td { padding: 6px 7px; }
  .scores td { white-space: normal; }
  .scores tr > :first-child { padding-left: 0; }
  .scores tr > :last-child { padding-right: 0; }
}
@media print {
  :root { color-scheme: light; }
  body { padding: 0; max-width: none; font-size: 11pt; }
  figure, .pod, .tiles div, tr { break-inside: avoid; }
  h2, .legend { break-after: avoid; }
  section, figure { margin-top: 26px; }
  .scroll, details .scroll { overflow: visible; max-height: none; }
  .grid { grid-template-columns: repeat(3, 1fr); }
}
`;
