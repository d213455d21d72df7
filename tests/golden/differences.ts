/**
 * Shows how an output differs from what is stored: how much, and the first place.
 *
 * @module
 */

/** Lines for people; empty where the texts are equal. A stored text is undefined where there is none. */
export function differencesOf(stored: string | undefined, fresh: string): readonly string[] {
  if (stored === fresh) return [];
  if (stored === undefined) return ["nothing is stored yet"];
  const [before, after] = [documentOf(stored), documentOf(fresh)];
  if (before !== undefined && after !== undefined) return documentDifferences(before, after);
  return rowDifferences(linesOf(stored), linesOf(fresh));
}

/** A whole JSON text; undefined for one that has a document on each line. */
function documentOf(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}

function documentDifferences(
  before: { readonly value: unknown },
  after: { readonly value: unknown },
): readonly string[] {
  const all = valueDifferences(before.value, after.value);
  const [first] = all;
  if (first === undefined) return ["the values are equal, the text is not: order or white space"];
  return [
    `${all.length} ${
      all.length === 1 ? "value differs" : "values differ"
    }, the first is ${first.path}`,
    `  was  ${first.before}`,
    `  is   ${first.after}`,
  ];
}

/** Rows are matched by their input. */
function rowDifferences(before: readonly string[], after: readonly string[]): readonly string[] {
  const [old, fresh] = [rowsByInput(before), rowsByInput(after)];
  const gone = [...old].filter(([input]) => !fresh.has(input));
  const added = [...fresh].filter(([input]) => !old.has(input));
  const differing = [...fresh].filter(([input, { result }]) => {
    const was = old.get(input);
    return was !== undefined && was.result !== result;
  });
  const counts = [
    `${differing.length} of ${after.length} rows ${differing.length === 1 ? "differs" : "differ"}`,
    ...(gone.length + added.length === 0
      ? []
      : [`${added.length} ${verb(added.length)} new, ${gone.length} ${verb(gone.length)} gone`]),
  ];
  const [[input, row] = []] = [...differing, ...added, ...gone];
  if (input === undefined || row === undefined) return ["the rows are in another order"];
  return [
    `${counts.join(", ")}; the first is row ${row.number}`,
    `  in   ${shortened(row.input)}`,
    ...resultDifference(old.get(input)?.result, fresh.get(input)?.result),
    ...reasonChanges(differing.map(([key, { result }]) => [old.get(key)?.result ?? "", result])),
  ];
}

function verb(count: number): "is" | "are" {
  return count === 1 ? "is" : "are";
}

/** How many rows changed per pair of reasons, the most frequent pair first. */
function reasonChanges(
  results: readonly (readonly [before: string, after: string])[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const [before, after] of results) {
    const [was, is] = [reasonOf(before), reasonOf(after)];
    if (was === undefined || is === undefined) continue;
    const change = `${was} → ${is}`;
    counts.set(change, (counts.get(change) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one)
    .map(([change, count]) => `  ${count} × ${change}`);
}

/** The reason of a result; undefined where results have none. */
function reasonOf(result: string): string | undefined {
  const value = documentOf(result)?.value;
  if (!isParent(value) || !("reason" in value)) return undefined;
  return typeof value["reason"] === "string" ? value["reason"] : "none";
}

function resultDifference(was = "not there", is = "not there"): readonly string[] {
  const [before, after] = [documentOf(was), documentOf(is)];
  const isShort = was.length <= MOST_CHARACTERS && is.length <= MOST_CHARACTERS;
  if (isShort || before === undefined || after === undefined) {
    return [`  was  ${shortened(was)}`, `  is   ${shortened(is)}`];
  }
  return documentDifferences(before, after).map((line) => `  ${line}`);
}

interface Row {
  /** From 1. */
  readonly number: number;
  readonly input: string;
  readonly result: string;
}

/** An input that is drawn twice has its count behind it. */
function rowsByInput(lines: readonly string[]): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const [index, line] of lines.entries()) {
    const row = documentOf(line)?.value;
    const hasInput = isParent(row) && "in" in row;
    const { in: input, ...result } = hasInput ? row : { in: index, line };
    const text = JSON.stringify(input);
    let key = text;
    for (let count = 2; rows.has(key); count++) key = `${text} ${count}`;
    rows.set(key, { number: index + 1, input: text, result: JSON.stringify(result) });
  }
  return rows;
}

interface ValueDifference {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

function valueDifferences(before: unknown, after: unknown, path = ""): readonly ValueDifference[] {
  if (!isParent(before) || !isParent(after) || Array.isArray(before) !== Array.isArray(after)) {
    return before === after ? [] : [{
      path: path === "" ? "the document" : path,
      before: textOf(before),
      after: textOf(after),
    }];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    valueDifferences(before[name], after[name], joined(path, { name, list: Array.isArray(after) }))
  );
}

function joined(
  path: string,
  { name, list }: { readonly name: string; readonly list: boolean },
): string {
  if (list) return `${path}[${name}]`;
  return path === "" ? name : `${path}.${name}`;
}

function isParent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

const MOST_CHARACTERS = 600;

function textOf(value: unknown): string {
  return shortened(value === undefined ? "not there" : JSON.stringify(value));
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}
