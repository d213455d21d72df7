/**
 * The setting that names queries.
 *
 * @module
 */
import { namedTableKind } from "../../shared/config/map_kinds.ts";
import type { Kind } from "../../shared/config/kinds.ts";
import { type QueryTemplate, readQueryTemplate } from "./query_template.ts";

/** Queries by the name that annotations say. */
export type QueryTable = ReadonlyMap<string, QueryTemplate>;

/** A map of names to PromQL texts; without any, the map is empty. */
export const queryTableKind: Kind<QueryTable> = namedTableKind({
  expects:
    "a map of names to PromQL texts, which may use $namespace, $workload and $pod in strings",
  of: "a query",
  read(query) {
    const template = readQueryTemplate(query);
    return "fault" in template ? { fault: ` ${template.fault}` } : { value: template };
  },
});
