/**
 * Texts in files, of which those that end in `.gz` are gzipped.
 *
 * @module
 */
import { gunzipSync, gzipSync } from "node:zlib";

/** Stored texts by file name. */
export interface StoredOutputs {
  /** The text; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, text: string): Promise<void>;
  remove(file: string): Promise<void>;
  /** Bytes of all files as they are stored. */
  sizes(): Promise<ReadonlyMap<string, number>>;
}

/** The text of a file. */
export async function read(file: URL): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new TextDecoder().decode(file.pathname.endsWith(".gz") ? gunzipSync(bytes) : bytes);
}

/** Files of this folder. */
export function storedOutputs(folder: URL): StoredOutputs {
  const pathOf = (file: string): URL => new URL(file, folder);
  return {
    async read(file) {
      try {
        return await read(pathOf(file));
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return undefined;
        throw error;
      }
    },
    async write(file, text) {
      const bytes = new TextEncoder().encode(text);
      await Deno.writeFile(pathOf(file), file.endsWith(".gz") ? gzipSync(bytes) : bytes);
    },
    remove: (file) => Deno.remove(pathOf(file)),
    async sizes() {
      const sizes = new Map<string, number>();
      for await (const { name } of Deno.readDir(folder)) {
        sizes.set(name, (await Deno.stat(pathOf(name))).size);
      }
      return sizes;
    },
  };
}

/** Lines for people; empty where the texts are equal. A stored text is undefined where there is none. */
export function differencesOf(stored: string | undefined, fresh: string): readonly string[] {
  if (stored === fresh) return [];
  if (stored === undefined) return ["nothing is stored yet"];
  const [before, after] = [parsed(stored), parsed(fresh)];
  return before !== undefined && after !== undefined
    ? documentDifferences(before, after)
    : rowDifferences(rowsByInput(stored), rowsByInput(fresh));
}

/** A whole JSON text; undefined for one that has a document on each line. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function documentDifferences(before: unknown, after: unknown): readonly string[] {
  const all = valueDifferences(before, after);
  const [first] = all;
  if (first === undefined) return ["the values are equal, the text is not: order or white space"];
  const differ = all.length === 1 ? "value differs" : "values differ";
  return [
    `${all.length} ${differ}, the first is ${first.path}`,
    `  was  ${shortened(first.before)}`,
    `  is   ${shortened(first.after)}`,
  ];
}

interface Row {
  /** From 1. */
  readonly number: number;
  readonly input: unknown;
  readonly result: Readonly<Record<string, unknown>>;
}

/** Rows by their input. One that is there twice has its count behind it. */
function rowsByInput(text: string): ReadonlyMap<string, Row> {
  const rows = new Map<string, Row>();
  for (const [index, line] of text.trimEnd().split("\n").entries()) {
    const row = parsed(line);
    const { in: input = index, ...result } = isParent(row) ? row : { line };
    let key = JSON.stringify(input);
    for (let count = 2; rows.has(key); count++) key = `${JSON.stringify(input)} ${count}`;
    rows.set(key, { number: index + 1, input, result });
  }
  return rows;
}

function rowDifferences(
  old: ReadonlyMap<string, Row>,
  fresh: ReadonlyMap<string, Row>,
): readonly string[] {
  const differing = [...fresh.keys()].filter((key) =>
    old.has(key) && JSON.stringify(old.get(key)?.result) !== JSON.stringify(fresh.get(key)?.result)
  );
  const added = [...fresh.keys()].filter((key) => !old.has(key));
  const gone = [...old.keys()].filter((key) => !fresh.has(key));
  const [first] = [...differing, ...added, ...gone];
  const row = fresh.get(first ?? "") ?? old.get(first ?? "");
  if (first === undefined || row === undefined) return ["the rows are in another order"];
  return [
    `rows: ${differing.length} of ${fresh.size} differ, ${added.length} new, ${gone.length} gone; ` +
    `the first is row ${row.number}`,
    `  in   ${shortened(row.input)}`,
    ...documentDifferences(old.get(first)?.result, fresh.get(first)?.result)
      .map((line) => `  ${line}`),
    ...reasonChanges(differing.map((key) => [old.get(key)?.result, fresh.get(key)?.result])),
  ];
}

/** How many rows changed per pair of reasons, the most frequent pair first. */
function reasonChanges(
  results: readonly (readonly (Row["result"] | undefined)[])[],
): readonly string[] {
  const changes = results.filter(([was]) => was !== undefined && "reason" in was)
    .map(([was, is]) => `${was?.["reason"] ?? "none"} → ${is?.["reason"] ?? "none"}`);
  return [...Map.groupBy(changes, (change) => change)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([change, { length }]) => `  ${length} × ${change}`);
}

interface ValueDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

function valueDifferences(before: unknown, after: unknown, path = ""): readonly ValueDifference[] {
  if (!isParent(before) || !isParent(after) || Array.isArray(before) !== Array.isArray(after)) {
    return before === after ? [] : [{ path: path || "the whole", before, after }];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    valueDifferences(before[name], after[name], path === "" ? name : `${path}.${name}`)
  );
}

function isParent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

const MOST_CHARACTERS = 600;

function shortened(value: unknown): string {
  const text = value === undefined ? "not there" : JSON.stringify(value);
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}
