/**
 * PromQL texts with variables, and their setting.
 *
 * @module
 */
import { namedTableKind } from "../../shared/config/map_kinds.ts";
import type { Kind } from "../../shared/config/kinds.ts";

/** The variables of a query, written `$namespace`, `$workload` and `$pod`. */
const QUERY_VARIABLES = ["namespace", "workload", "pod"] as const;

/** One of {@linkcode QUERY_VARIABLES}. */
export type QueryVariable = typeof QUERY_VARIABLES[number];

/** A variable in a query, and the string literal around it. */
export interface QueryPlace {
  readonly variable: QueryVariable;
  readonly quote: string;
  /** True where the literal is matched as a regular expression. */
  readonly regex: boolean;
}

/** A query as literal parts with places between them. */
export interface QueryTemplate {
  readonly parts: readonly (string | QueryPlace)[];
}

/** The template, or the fault of the text. */
export type ReadQuery = QueryTemplate | { readonly fault: string };

/** With their values, longer texts would not fit into a URL. */
const MOST_CHARACTERS = 4096;

/**
 * Reads a text. Variables must be in string literals, so that a value can't change the query's
 * structure. Strings are those of PromQL, in double, single and back quotes, with backslash escapes in
 * the first two.
 */
export function readQueryTemplate(text: string): ReadQuery {
  if (text.trim() === "") return { fault: "is empty" };
  if (text.length > MOST_CHARACTERS) {
    return { fault: `has ${text.length} characters, at most ${MOST_CHARACTERS} are allowed` };
  }
  const parts: (string | QueryPlace)[] = [];
  let quote = "";
  let regex = false;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === "\\" && (quote === '"' || quote === "'")) at++;
    else if (char === quote) quote = "";
    else if (quote === "" && char === "#") at = endOfLine(text, at);
    else if (quote === "" && `"'\``.includes(char)) {
      quote = char;
      regex = /[=!]~\s*$/.test(text.slice(from, at));
    }
    if (char !== "$") continue;
    const [miswritten] = MISWRITTEN.exec(text.slice(at)) ?? [];
    if (miswritten !== undefined) return { fault: `has ${miswritten}, ${remedyFor(miswritten)}` };
    const [whole, name] = /^\$([A-Za-z_]\w*)/.exec(text.slice(at)) ?? [];
    if (whole === undefined) continue;
    const variable = QUERY_VARIABLES.find((one) => one === name);
    if (variable === undefined) return { fault: `has the unknown variable ${whole}; ${KNOWN}` };
    if (quote === "") return { fault: `has ${whole} outside of quotes` };
    parts.push(text.slice(from, at), { variable, quote, regex });
    from = at + whole.length;
    at = from - 1;
  }
  if (quote !== "") return { fault: `has no end of the string that ${quote} begins` };
  parts.push(text.slice(from));
  return { parts };
}

/**
 * A variable as other languages write it: `${name}`, `$(name)`, `$$name`. Does not match a group of
 * label_replace, `$1` or `${1}`, or a `$` at the end of a pattern.
 */
const MISWRITTEN = /^\$(?:\{(?!\d+\})\w*\}?|\(\w+\)|\$+(?:[A-Za-z_]\w*|\{\w*\}?))/;

/** The end of the message: the variable to write instead. */
function remedyFor(miswritten: string): string {
  const name = miswritten.replaceAll(/\W/g, "");
  const variable = QUERY_VARIABLES.find((one) => one === name);
  return variable === undefined ? `which is not a variable; ${KNOWN}` : `expected $${variable}`;
}

const KNOWN = `known are ${QUERY_VARIABLES.map((name) => `$${name}`).join(", ")}`;

/** The index of the line's end. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/**
 * The text with these values as parts of its strings, whatever characters they have. Undefined where
 * a value can't stand in its string: nothing escapes a back quote between back quotes.
 */
export function fillQuery(
  { parts }: QueryTemplate,
  values: Readonly<Record<QueryVariable, string>>,
): string | undefined {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const { variable, quote, regex } = part;
    const value = regex ? asPattern(values[variable]) : values[variable];
    if (quote !== "`") text += asString(value, quote);
    else if (!value.includes("`")) text += value;
    else return undefined;
  }
  return text;
}

/** A regular expression that matches just this text (RE2, as in Go's regexp.QuoteMeta). */
function asPattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, "\\$&");
}

function asString(text: string, quote: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`)
    .replaceAll("\n", "\\n");
}

/** Queries by the name that annotations use. */
export type QueryTable = ReadonlyMap<string, QueryTemplate>;

/** A map of names to PromQL texts; without any, the map is empty. */
export const queryTableKind: Kind<QueryTable> = namedTableKind({
  expects:
    "a map of names to PromQL texts, which may use $namespace, $workload and $pod in strings",
  noun: "a query",
  read(query) {
    const template = readQueryTemplate(query);
    return "fault" in template ? { fault: ` ${template.fault}` } : { value: template };
  },
});
