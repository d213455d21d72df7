/**
 * The tables of docs/metrics.md.
 *
 * @module
 */
import { AGENT_METRICS, NODE_METRICS, POD_METRICS } from "../shared/metrics/agent_metrics.ts";
import { CONTROLLER_METRICS, MARKET_METRICS } from "../shared/metrics/market_metrics.ts";
import type { MetricTable } from "../shared/metrics/metric.ts";
import {
  PLACEMENT_METRICS,
  WEBHOOK_METRICS,
  WORKLOAD_METRICS,
} from "../shared/metrics/placement_metrics.ts";
import { PROGRAM_METRICS } from "../shared/metrics/program_metrics.ts";
import { POLICY_METRICS, RIGHTSIZING_METRICS } from "../shared/metrics/rightsizing_metrics.ts";

/** All metrics, by the name that their table has in the page. */
export const METRIC_TABLES = {
  pods: POD_METRICS,
  node: NODE_METRICS,
  agent: AGENT_METRICS,
  controllers: CONTROLLER_METRICS,
  market: MARKET_METRICS,
  policies: POLICY_METRICS,
  rightsizing: RIGHTSIZING_METRICS,
  workloads: WORKLOAD_METRICS,
  placement: PLACEMENT_METRICS,
  webhook: WEBHOOK_METRICS,
  programs: PROGRAM_METRICS,
} as const satisfies Readonly<Record<string, MetricTable>>;

/** An alert as its rule has it. */
export interface Alert {
  readonly alert: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
}

/**
 * The page with each table anew: what stands between `<!-- table: NAME -->` and `<!-- end -->`. Throws an
 * `Error` that names a table without a place.
 */
export function metricsPage(page: string, alerts: readonly Alert[]): string {
  const tables: Record<string, string> = { aliases: aliasTable(), alerts: alertTable(alerts) };
  for (const [name, metrics] of Object.entries(METRIC_TABLES)) tables[name] = metricTable(metrics);
  return Object.entries(tables).reduce((text, [name, table]) => {
    const start = `<!-- table: ${name} -->`;
    const [before, after] = text.split(start);
    const [, ...rest] = after?.split("<!-- end -->") ?? [];
    if (before === undefined || rest.length === 0) {
      throw new Error(`Cannot write docs/metrics.md: it lacks ${start} and an end after it`);
    }
    return `${before}${start}\n\n${table}\n<!-- end -->${rest.join("<!-- end -->")}`;
  }, page);
}

function metricTable(table: MetricTable): string {
  const rows = Object.values(table).map(({ type, name, help, labels = [] }) => [
    ...[`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(", ")],
    help.replaceAll(/[<>*_]/g, "\\$&"),
  ]);
  return markdownTable(["metric", "type", "labels", "meaning"], rows);
}

function aliasTable(): string {
  const rows = Object.values<MetricTable>(METRIC_TABLES).flatMap((table) =>
    Object.values(table).flatMap(({ name, alias }) =>
      alias === undefined ? [] : [[`\`${alias}\``, `\`${name}\``]]
    )
  );
  return markdownTable(["also served as", "metric"], rows);
}

function alertTable(alerts: readonly Alert[]): string {
  const rows = alerts.map(({ alert, labels, for: pending }) => [
    `[\`${alert}\`](alerts.md#${alert.toLowerCase()})`,
    labels.severity,
    pending?.replace("m", " min") ?? "at once",
  ]);
  return markdownTable(["alert", "severity", "after"], rows);
}

/** Cells are padded as the formatter of the documents does. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0))
  );
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(" | ")} |\n`;
  return line(head) + line(head.map(() => ""), "-") + rows.map((row) => line(row)).join("");
}
