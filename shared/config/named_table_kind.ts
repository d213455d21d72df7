/**
 * Settings that are maps of people's own names.
 *
 * @module
 */
import type { SettingKind } from "./setting.ts";

/** Which names may be given. */
export interface TableNames {
  readonly pattern: RegExp;
  /** A clause. */
  readonly expected: string;
}

const USUAL: TableNames = {
  pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  expected: "expected a name of at most 63 of a-z, 0-9 and -",
};

/** What the names stand for. */
export interface NamedTableOptions<T> {
  readonly expects: string;
  /** What a name is the name of, with its article: `a query`. */
  readonly of: string;
  /** @default those of Kubernetes's objects, without dots */
  readonly names?: TableNames;
  /** What a text says, or what is wrong with it or its name, as what follows that. */
  readonly read: (text: string, name: string) => { readonly value: T } | { readonly fault: string };
}

/** A map of names to texts; without any, the map is empty. */
export function namedTableKind<T>(
  { expects, of, names = USUAL, read }: NamedTableOptions<T>,
): SettingKind<ReadonlyMap<string, T>> {
  /** The table, or what is wrong with it. What may be a secret is not shown. */
  function readTable(text: string): ReadonlyMap<string, T> | string {
    const table = new Map<string, T>();
    const faults: string[] = [];
    const texts: Readonly<Record<string, string>> = text === "" ? {} : JSON.parse(text);
    for (const [name, text] of Object.entries(texts)) {
      if (!names.pattern.test(name)) {
        faults.push(`${JSON.stringify(name)} is no name of ${of}, ${names.expected}`);
        continue;
      }
      const found = read(text, name);
      if ("fault" in found) faults.push(`${name}${found.fault}`);
      else table.set(name, found.value);
    }
    return faults.length === 0 ? table : faults.join("; ");
  }
  return {
    expects,
    map: true,
    parse(text) {
      const table = readTable(text);
      return typeof table === "string" ? undefined : table;
    },
    explain(text) {
      const table = readTable(text);
      return typeof table === "string" ? table : undefined;
    },
  };
}
