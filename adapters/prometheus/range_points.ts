/**
 * Points of a long answer, read from its text without an object for each.
 *
 * @module
 */

/** The points of one series, in their order; those without a number are left out. */
export interface RangePoints {
  /** Ms since 1970. */
  readonly timesMs: Float64Array;
  /** Finite. */
  readonly values: Float64Array;
}

const KEY = '"values":[';

/**
 * What the text's JSON says, but that each `"values":[[1700000000.5,"12"],…]` is a `RangePoints`. As
 * arrays and texts 3,600 points take half a megabyte; ten workers have twenty such answers at a time,
 * which outlive a small young generation, and V8 would keep some 150 MB of them.
 *
 * Where points are written in another way, with blanks for instance, all is left as JSON has it. Throws
 * a `SyntaxError` for what is no JSON; of the points themselves it sees less than `JSON.parse` would.
 */
export function parseRangeText(text: string): unknown {
  const found: RangePoints[] = [];
  const rest: string[] = [];
  let from = 0;
  for (let at = text.indexOf(KEY); at >= 0; at = text.indexOf(KEY, from)) {
    const begin = at + KEY.length;
    // A quote behind a backslash is part of a text, which may say anything.
    const read = text[at - 1] === "\\" ? undefined : readPoints(text, begin);
    if (read === undefined) return JSON.parse(text);
    rest.push(text.slice(from, begin - 1), String(found.length));
    found.push(read.points);
    from = read.end;
  }
  rest.push(text.slice(from));
  return JSON.parse(
    rest.join(""),
    (key, value: unknown) =>
      key === "values" && typeof value === "number" ? found[value] ?? value : value,
  );
}

/** Whether these are points that were read from the text. */
export function isRangePoints(values: unknown): values is RangePoints {
  return typeof values === "object" && values !== null && "timesMs" in values &&
    values.timesMs instanceof Float64Array;
}

/** The points that begin here, and the place behind the bracket that ends them. */
function readPoints(
  text: string,
  begin: number,
): { readonly points: RangePoints; readonly end: number } | undefined {
  const timesMs: number[] = [];
  const values: number[] = [];
  for (let at = begin;; at++) {
    const comma = text.indexOf(",", at);
    const end = text.indexOf('"]', comma);
    if (text[at] !== "[" || text[comma + 1] !== '"' || end < 0) return undefined;
    const second = text.slice(at + 1, comma);
    const amount = text.slice(comma + 2, end);
    const timeMs = Math.round(1000 * Number(second));
    if (second === "" || Number.isNaN(timeMs)) return undefined;
    const value = amount === "" ? NaN : Number(amount);
    if (Number.isFinite(value)) {
      timesMs.push(timeMs);
      values.push(value);
    } else if (/["\\]/.test(amount)) return undefined;
    at = end + 2;
    if (text[at] === "]") {
      const points = { timesMs: Float64Array.from(timesMs), values: Float64Array.from(values) };
      return { points, end: at + 1 };
    }
    if (text[at] !== ",") return undefined;
  }
}
