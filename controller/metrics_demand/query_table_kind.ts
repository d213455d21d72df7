/**
 * The setting that names queries.
 *
 * @module
 */
import type { SettingKind } from "../../shared/config/setting.ts";
import { type QueryTemplate, readQueryTemplate } from "./query_template.ts";

/** Queries by the name that annotations say. */
export type QueryTable = ReadonlyMap<string, QueryTemplate>;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const NAMES = "expected a name of at most 63 of a-z, 0-9 and -";

/** A map of names to PromQL texts; without any, the map is empty. */
export const queryTableKind: SettingKind<QueryTable> = {
  expects:
    "a map of names to PromQL texts, which may use $namespace, $workload and $pod in strings",
  map: true,
  parse(text) {
    const table = readTable(text);
    return table instanceof Map ? table : undefined;
  },
  explain(text) {
    const table = readTable(text);
    return typeof table === "string" ? table : undefined;
  },
};

/** The table, or what is wrong with it. */
function readTable(text: string): QueryTable | string {
  const table = new Map<string, QueryTemplate>();
  const faults: string[] = [];
  const texts: Readonly<Record<string, string>> = text === "" ? {} : JSON.parse(text);
  for (const [name, query] of Object.entries(texts)) {
    const template = readQueryTemplate(query);
    if (!NAME.test(name)) faults.push(`${JSON.stringify(name)} is no name of a query, ${NAMES}`);
    else if ("fault" in template) faults.push(`${name} ${template.fault}`);
    else table.set(name, template);
  }
  return faults.length === 0 ? table : faults.join("; ");
}
