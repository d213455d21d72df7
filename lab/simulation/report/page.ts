/**
 * The shell of the page: one file that asks nothing of anybody.
 *
 * @module
 */
import { type Html, html, trusted } from "./html.ts";
import { STYLE } from "./style.ts";

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
