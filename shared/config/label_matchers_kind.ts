/**
 * Label matchers of PromQL that go with every question about usage.
 *
 * @module
 */
import type { SettingKind } from "./setting.ts";

/** One of them, `cluster="prod"`. */
const MATCHER = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*")\s*(,|$)/y;
/** What the questions say themselves. */
const OWN = ["namespace", "pod", "container", "__name__"];

/**
 * Matchers as they stand in a selector, each written anew from what was read: nothing else can come into
 * a query. None where there is no text.
 */
export const labelMatchersKind: SettingKind<readonly string[]> = {
  expects:
    'matchers of labels as in PromQL, for instance cluster="prod",stage!~"dev|test", of other ' +
    `labels than ${OWN.join(", ")}`,
  parse(text) {
    const found: string[] = [];
    const pattern = new RegExp(MATCHER);
    for (let next = text === "" ? "" : ","; next === ",";) {
      const [, label = "", operator = "", quoted = "", separator = ""] = pattern.exec(text) ?? [];
      const value = stringOf(quoted);
      if (value === undefined || OWN.includes(label)) return undefined;
      found.push(`${label}${operator}${JSON.stringify(value)}`);
      next = separator;
    }
    return found;
  },
};

/** Of the escapes of Go's strings, those that JSON has, too. */
function stringOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}
