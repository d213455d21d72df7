/**
 * Markup in which every value is escaped unless it is markup already: names of pods and traces
 * are user input.
 *
 * @module
 */

/** Markup that is safe to put into a page as it is. */
export interface Html {
  readonly markup: string;
}

/** A value in a template: text and numbers are escaped, markup and lists of it are not. */
export type HtmlValue = string | number | Html | readonly Html[];

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/**
 * The text with what means something in markup replaced, fit for element content and for quoted
 * attributes. Control characters and lone surrogates, which no page may hold, become U+FFFD.
 */
export function escapeText(text: string): string {
  return printable(text).replace(/[&<>"']/g, (found) => ENTITIES.get(found) ?? found);
}

/** The text with control characters (line ends and tabs too) and lone surrogates as U+FFFD. */
function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd");
}

/** The text cut to at most `length` characters, with an ellipsis where something is missing. */
export function shorten(text: string, length: number): string {
  const characters = [...printable(text)];
  return characters.length <= length
    ? characters.join("")
    : `${characters.slice(0, Math.max(0, length - 1)).join("")}…`;
}

/** Markup as it is; only for text that this project wrote. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Template tag: ``html`<b>${name}</b>` `` escapes `name`. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = unindent(strings[0] ?? "");
  for (const [index, value] of values.entries()) {
    markup += render(value) + unindent(strings[index + 1] ?? "");
  }
  return { markup };
}

/** Space around line ends means one space to a browser; thousands of rows need no more. */
function unindent(literal: string): string {
  return literal.replace(/\s*\n\s*/g, "\n");
}

function render(value: HtmlValue): string {
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number") return String(value);
  return "markup" in value ? value.markup : value.map((part) => part.markup).join("");
}
