/**
 * The output of the back-test.
 *
 * @module
 */
import { columns } from "../bench.ts";
import type { DayQuantiles, PlayedRules } from "../../simulation/rightsizing/play_rules.ts";
import { formatFigure } from "../../simulation/report/figure.ts";

/** A scene, played. */
export interface PlayedScene {
  readonly title: string;
  readonly resource: "cpu" | "memory";
  readonly result: PlayedRules;
}

const LEGEND = [
  "covered: share of minutes with usage of at most what was set; short: the others",
  "waste: mean of max(0, set - usage) by mean usage; both are means over series",
  "days: P50, P90 and P99 over the days of all series; changes: per day, after the first value",
];

/** The tables of all scenes, with a legend. */
export function backTestTable(scenes: readonly PlayedScene[]): string {
  return [
    ...scenes.flatMap(({ title, resource, result }) => [
      title,
      columns(overall(result, resource)),
      "",
      "covered % / waste by series",
      columns(bySeries(result)),
      "",
    ]),
    ...LEGEND,
  ].join("\n");
}

function overall({ rules }: PlayedRules, resource: "cpu" | "memory"): string[][] {
  const last = resource === "cpu" ? "min over limit" : "kills";
  return [
    ["rule", "covered %", "short days %", "waste", "waste days", "changes", last],
    ...rules.map((rule) => [
      rule.label,
      percent(rule.coverage),
      quantiles(rule.shortDays, (share) => (share * 100).toFixed(1)),
      formatFigure(rule.waste),
      quantiles(rule.wasteDays, formatFigure),
      rule.changesPerDay.toFixed(2),
      String(resource === "cpu" ? rule.overLimitMinutes : rule.kills),
    ]),
  ];
}

function bySeries({ series, rules }: PlayedRules): string[][] {
  return [
    ["rule", ...series.map(({ name }) => name)],
    ...rules.map(({ label }) => [
      label,
      ...series.map((one) => {
        const found = one.rules.find((rule) => rule.label === label)?.judgement;
        if (found === undefined) return "";
        const kills = found.kills > 0 ? ` ${found.kills}k` : "";
        return `${percent(found.coverage)}/${formatFigure(found.waste)}${kills}`;
      }),
    ]),
  ];
}

function quantiles(
  { p50, p90, p99 }: DayQuantiles,
  text: (value: number) => string,
): string {
  return [p50, p90, p99].map(text).join(" ");
}

function percent(share: number): string {
  return (share * 100).toFixed(2);
}
